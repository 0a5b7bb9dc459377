// The command line of the runs that `oprun watch` starts.

import Diagnostics
import Plans

extension Watcher {
  /// The command line of a run.
  func words(for part: WatchedPart) -> [String] {
    var file = invocation.operands[0]
    if !file.contains("/"), !file.hasSuffix(".yml"), !file.hasSuffix(".yaml") { file = "./" + file }
    var words = ["oprun", "run"]
    for option in Subcommand.run.options
    where invocation.isGiven(option) && option.name != Options.stateDirectory.name {
      let values = invocation.words(of: option)
      words += option.value == nil ? [option.flag] : values.map { "\(option.flag)=\($0)" }
    }
    if invocation.hasValue(for: Options.stateDirectory) {
      words.append("\(Options.stateDirectory.flag)=\(tool.stateDirectory(invocation))")
    }
    words += [operandWord(file)] + ids(of: part)
    return words + (invocation.arguments.isEmpty ? [] : ["--"] + invocation.arguments)
  }

  private func ids(of part: WatchedPart) -> [String] {
    let all = Array(invocation.operands.dropFirst())
    guard case .steps(let ids) = part else { return all }
    let known = watched.plan.steps.lazy.map(\.id).filter(ids.contains)
    // Linux allows about 2 MB of words.
    let isShort = known.reduce(0) { $0 + $1.utf8.count + 9 } < 1 << 20
    return isShort && !known.isEmpty ? Array(known) : all
  }
}

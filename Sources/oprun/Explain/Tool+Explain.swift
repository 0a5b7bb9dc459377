// `oprun explain`: the meanings of a word, without the documentation.

import Diagnostics
import Glibc
import Reporting

extension Tool {
  func explain(_ invocation: Invocation) throws(UsageFailure) -> Int32 {
    let word = invocation.operands[0]
    let meanings = Explanation.all(of: word)
    if meanings.isEmpty { throw .nothingToExplain(word, among: Explanation.words) }
    let columns = Terminal.width(of: STDOUT_FILENO) ?? 100
    for (index, meaning) in meanings.enumerated() {
      if index > 0 { output.writeNewline() }
      output.write("\(printable(word)): \(meaning.kind)\n")
      write(meaning.wholeSentence, behind: "", columns: columns)
      let widest = meaning.facts.map(\.0.count).max() ?? 0
      for (name, value) in meaning.facts {
        let gap = String(repeating: " ", count: widest - name.count + 2)
        write(value, behind: name + gap, columns: columns)
      }
    }
    return ExitStatus.success
  }

  /// Writes a text in as many lines as it takes, the first of which begins with the heading.
  private func write(_ text: String, behind heading: String, columns: Int) {
    let width = heading.count + 2
    for (index, line) in wrapped(text, columns: max(20, columns - width)).enumerated() {
      let start = index == 0 ? "  \(heading)" : String(repeating: " ", count: width)
      output.write("\(start)\(line)\n")
    }
  }
}

extension UsageFailure {
  fileprivate static func nothingToExplain(_ word: String, among words: [String]) -> UsageFailure {
    let close = suggestion(for: word, among: words)
    return UsageFailure(
      "no explanation for \(quoted(word))",
      help: didYouMean(close)
        ?? "name a key of pipeline files, a function, a built-in step, an outcome, an exit status, a command, an option or a variable",
      command: Subcommand.explain.name)
  }
}

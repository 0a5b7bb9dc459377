// The request of a command line.

import BuiltinSteps
import Diagnostics
import Glibc

enum Request {
  case version
  /// Help for a step; nil means the program's own.
  case help(BuiltinStep?)
  case perform(Inputs)

  /// `oprun-steps cache stat|clear`, which is not a step of a pipeline but has the same kind of
  /// table.
  static let cache = BuiltinStep(
    "cache", "Shows what the cache holds, or empties it.",
    keys: [
      [
        BuiltinKey(
          "cache_dir", .text,
          "Where the cache is; by default OPRUN_DOWNLOAD_CACHE, or the user's cache directory."
        ),
        BuiltinKey("json", .boolean, default: "false", "Writes JSON."),
      ]
    ])

  static let confinement = BuiltinStep(
    "confinement", "Shows what the processes that decode images cannot do on this machine.",
    keys: [])

  static let steps = BuiltinStep.all + [cache, confinement]
  static let names = steps.map(\.name) + ["help"]

  /// Parses a command line. `words` does not include the program's name.
  init(_ words: [String], environment: (String) -> String? = environmentValue) throws(UsageFailure)
  {
    guard let first = words.first else { throw .nothingToDo }
    guard ByteText.isWhole(first) else { throw .undecodable(first) }
    switch first {
    case "--version": self = .version
    case "--help", "-h": self = .help(nil)
    case "help": self = .help(try words.dropFirst().first.map(Self.step))
    default:
      let step = try Self.step(named: first)
      let inputs = try InputParser.parse(words.dropFirst(), of: step, environment: environment)
      self = inputs.wantsHelp ? .help(step) : .perform(inputs)
      if !inputs.wantsHelp { try Self.checkOperands(of: inputs) }
    }
  }

  private static func step(named name: String) throws(UsageFailure) -> BuiltinStep {
    guard let step = steps.first(where: { $0.name == name }) else { throw .unknownStep(name) }
    return step
  }

  private static func checkOperands(of inputs: Inputs) throws(UsageFailure) {
    if inputs.step.name == cache.name {
      guard inputs.operands == ["stat"] || inputs.operands == ["clear"] else {
        throw .wrongCacheAction(inputs.operands)
      }
    } else if let word = inputs.operands.first {
      throw .unwantedOperand(word, inputs.step)
    }
  }
}

// The messages about command lines. All wording of this phase is here.

import BuiltinSteps
import Diagnostics

/// A mistake on the command line, which gives exit status 2.
struct UsageFailure: Error, Hashable {
  let message: String
  var help: String?
  /// The step whose help has more information; nil for the program's own.
  var step: String?

  init(_ message: String, help: String? = nil, step: String? = nil) {
    self.message = message
    self.help = help
    self.step = step
  }

  init(_ fault: StepInputFailure, _ step: BuiltinStep) {
    self.init(fault.message, help: fault.help, step: step.name)
  }

  /// The whole message.
  var text: String {
    let program = BuiltinStep.program
    let advice = help.map { "  help: \($0)\n" } ?? ""
    return
      "\(program): \(message)\n\(advice)try '\(program)\(step.map { " \($0)" } ?? "") --help'\n"
  }

  static func undecodable(_ word: String) -> UsageFailure {
    let option = word.prefix { $0 != "=" }
    let name = option.dropFirst(2).map { $0 == "-" ? "_" : $0 }
    // The step may be unknown as well, so a key of any step counts.
    let mayBeShown = BuiltinStep.all.allSatisfy { step in
      (step.key(String(name))?.disclosure ?? .everything) == .everything
    }
    let shown = mayBeShown ? word : "\(option)=\(maskedValue)"
    return UsageFailure("the argument \(quoted(ByteText.shown(shown))) is not UTF-8")
  }

  static let nothingToDo = UsageFailure(
    "needs the name of a step, as in '\(BuiltinStep.program) download'")

  static func unknownStep(_ name: String) -> UsageFailure {
    UsageFailure(
      "unknown step \(quoted(name))",
      help: didYouMean(suggestion(for: name, among: Request.names)))
  }

  static func unknownOption(_ flag: String, of step: BuiltinStep) -> UsageFailure {
    UsageFailure(
      "unknown option \(quoted("--" + flag))",
      help: didYouMean(suggestion(for: flag, among: step.keys.map(\.option)).map { "--\($0)" }),
      step: step.name)
  }

  static func missingValue(of key: BuiltinKey, _ step: BuiltinStep) -> UsageFailure {
    UsageFailure("'--\(key.option)' needs a value: \(key.type.wanted)", step: step.name)
  }

  static func wrongValue(_ text: String, for key: BuiltinKey, _ step: BuiltinStep) -> UsageFailure {
    var help: String?
    if case .choice(let words) = key.type {
      help = didYouMean(suggestion(for: text, among: words))
    }
    return UsageFailure(
      "'--\(key.option)' wants \(key.type.wanted), found \(quoted(key.disclosure.shown(text)))",
      help: help ?? key.type.limitExceeded(by: text), step: step.name)
  }

  static func givenTwice(_ key: BuiltinKey, _ step: BuiltinStep) -> UsageFailure {
    UsageFailure(
      "'--\(key.option)' is given twice",
      help: step.key("\(key.name)s").map { "'--\($0.option)' takes several" }, step: step.name)
  }

  static func missingKey(_ key: BuiltinKey, _ step: BuiltinStep) -> UsageFailure {
    UsageFailure("'--\(key.option)' is required: \(key.type.wanted)", step: step.name)
  }

  static func wrongVariable(_ text: String, _ step: BuiltinStep) -> UsageFailure {
    UsageFailure(
      "'\(InputParser.fromEnvironment)' wants 'option=VARIABLE', found \(quoted(withoutCredentials(text)))",
      step: step.name)
  }

  static func unsetVariable(
    _ variable: String, of key: BuiltinKey, _ step: BuiltinStep
  ) -> UsageFailure {
    // A user who writes the value in place of the variable should not find it in a log.
    let isName = variable.utf8.allSatisfy { $0 == 0x5f || isLetterOrDigit($0) }
    let shown = isName ? variable : key.disclosure.shown(variable)
    return UsageFailure(
      "the variable \(quoted(shown)) for '--\(key.option)' is not set", step: step.name)
  }

  static func unwantedOperand(_ word: String, _ step: BuiltinStep) -> UsageFailure {
    UsageFailure(
      "'\(step.name)' takes only options, found \(quoted(withoutCredentials(word)))",
      step: step.name)
  }

  static func oneFileForMany(_ path: String, _ count: Int, _ step: String) -> UsageFailure {
    UsageFailure(
      "'--to' is one file for \(count) items, found \(quoted(path))",
      help: "name a directory, as 'out/', or a pattern, as 'out/{index}.{ext}'", step: step)
  }

  static func sameTarget(_ path: String, _ step: String) -> UsageFailure {
    UsageFailure(
      "two items would be written to \(quoted(path))",
      help: "tell them apart in '--to', for instance by '{index}'", step: step)
  }

  static func partIsTarget(_ path: String, _ part: String, _ step: String) -> UsageFailure {
    UsageFailure(
      "\(quoted(path)) is written to \(quoted(part)) first, which is another item's name",
      help: "tell them apart in '--to', for instance by '{index}'", step: step)
  }

  static func manifestReplaces(
    _ path: String, _ other: String, _ step: BuiltinStep
  ) -> UsageFailure {
    UsageFailure(
      "the manifest \(quoted(path)) would be written in the place of \(quoted(other))",
      help: "give 'manifest' another name", step: step.name)
  }

  static func wrongCacheAction(_ words: [String]) -> UsageFailure {
    UsageFailure(
      "'cache' wants 'stat' or 'clear', found "
        + (words.isEmpty ? "nothing" : words.map(quoted).joined(separator: " ")),
      help: words.count > 1
        ? nil
        : didYouMean(words.first.flatMap { suggestion(for: $0, among: ["stat", "clear"]) }),
      step: "cache")
  }
}

private func isLetterOrDigit(_ byte: UInt8) -> Bool {
  (0x30...0x39).contains(byte) || (0x61...0x7a).contains(byte | 0x20)
}

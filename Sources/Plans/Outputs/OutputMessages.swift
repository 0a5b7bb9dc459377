// The messages about faults in the outputs of a step. They show only whole names from the file,
// because half a secret would not be masked.

import Diagnostics
import Expressions

enum OutputMessage {
  package static func tooLarge() -> OutputFailure {
    OutputFailure(message: "OPRUN_OUTPUT is larger than 1 MiB, which is the limit")
  }

  private static func fault(_ words: String, _ line: Int, help: String? = nil) -> OutputFailure {
    OutputFailure(message: "line \(line) of OPRUN_OUTPUT\(words)", help: help)
  }

  package static func notUTF8(_ line: Int) -> OutputFailure {
    fault(" is not UTF-8", line, help: "encode such a value, as base64 does")
  }

  package static func nul(_ line: Int) -> OutputFailure {
    fault(": an output cannot contain the character '\\u{0}'", line)
  }

  static func noEntry(_ line: Int) -> OutputFailure {
    fault(" has neither '=' nor '<<'", line, help: "write name=value, name<<END or name:json=value")
  }

  package static func badName(_ name: String, _ line: Int) -> OutputFailure {
    if name.isEmpty { return fault(": the name of the output is missing", line) }
    let hasBlanks = name.utf8.first == UInt8(ascii: " ") || name.utf8.last == UInt8(ascii: " ")
    if hasBlanks { return fault(": a name has no spaces before or after it", line) }
    return fault(
      ": the name of an output is a letter or '_', then letters, digits, '_' and '-', at most 128 "
        + "in all", line)
  }

  static func duplicate(_ name: String, first: Int, _ line: Int) -> OutputFailure {
    fault(": '\(name)' is given twice, first on line \(first)", line)
  }

  static func undeclared(_ name: String, suggestion: String?, _ line: Int) -> OutputFailure {
    fault(
      ": '\(name)' is not declared in 'outputs' of the step\(didYouMeanClause(suggestion))", line)
  }

  static func noWord(_ name: String, _ line: Int) -> OutputFailure {
    fault(": the word that ends '\(name)' is missing after '<<'", line)
  }

  static func noEnd(_ name: String, _ line: Int) -> OutputFailure {
    fault(
      ": '\(name)' begins here and does not end", line,
      help: "a line with nothing but the word after '<<' ends it")
  }

  static func noJSON(
    _ name: String, _ type: OutputType?, _ fault: JSONFailure, _ line: Int
  ) -> OutputFailure {
    if let type, type.isScalar, fault.isAtStart {
      return self.fault(": '\(name)' must be \(type.words)", line)
    }
    let wanted = type.map { "must be \($0.words), but its text is not JSON" } ?? "is not JSON"
    return self.fault(
      ": '\(name)' \(wanted): \(fault.reason) at byte \(fault.offset + 1)", line)
  }

  package static func wrongType(
    _ name: String, _ type: OutputType, found: String, _ line: Int
  ) -> OutputFailure {
    fault(": '\(name)' must be \(type.words), not \(found)", line)
  }
}

extension OutputType {
  /// True if values are written as words, not as JSON.
  fileprivate var isScalar: Bool {
    switch self {
    case .int, .number, .bool: true
    case .string, .list, .map, .json: false
    }
  }

  /// The words for "must be …" in a message.
  package var words: String {
    switch self {
    case .string: ParamModel.Kind.string.words
    case .int: ParamModel.Kind.int.words
    case .number: ParamModel.Kind.number.words
    case .bool: ParamModel.Kind.bool.words
    case .list: ParamModel.Kind.list.words
    case .map: "a map"
    case .json: "any value"
    }
  }
}

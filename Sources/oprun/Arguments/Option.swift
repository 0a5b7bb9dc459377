// An option of the command line. The table of all of them (`Options`) drives parsing, help, the
// environment, suggestions and the reference.

import Diagnostics
import Scheduling

/// An option of the command line, which is also an environment variable.
final class Option: Sendable {
  /// The name without the dashes.
  let name: String
  let letter: Character?
  /// The kind of value; nil for a switch.
  let value: ValueKind?
  /// The meaning of the flag alone, if its value may be left out.
  let usualValue: String?
  let summary: String
  /// The variable if it is not the usual one; empty if there is none.
  private let ownVariable: String?
  /// True if all occurrences count, in order, instead of only the last one.
  let isRepeatable: Bool
  /// The flag of a switch without which it has no effect.
  let neededFlag: String?
  /// The flag of an option with the same purpose, which excludes this one.
  let excludedFlag: String?

  init(
    _ name: String, _ letter: Character? = nil, _ value: ValueKind? = nil,
    usually usualValue: String? = nil, variable: String? = nil,
    isRepeatable: Bool = false, needs neededFlag: String? = nil,
    excludes excludedFlag: String? = nil, summary: String
  ) {
    self.usualValue = usualValue
    self.name = name
    self.letter = letter
    self.value = value
    self.summary = summary
    self.isRepeatable = isRepeatable
    self.neededFlag = neededFlag
    self.excludedFlag = excludedFlag
    ownVariable = variable
  }

  var flag: String { "--" + name }

  /// True if the word is the option's flag, which is not made for this: all options of a command are asked.
  func isFlag(_ word: String) -> Bool {
    word.utf8.count == name.utf8.count + 2 && word.hasPrefix("--") && word.hasSuffix(name)
  }

  /// True if `--jobs` or `-j` is this option.
  func isWritten(_ word: String) -> Bool { flag == word || letter.map { "-\($0)" } == word }

  /// The variable, `OPRUN_JOBS` for `--jobs`. `OPRUN_PARAM_<NAME>` stands for many, which are read
  /// elsewhere. Empty if there is none.
  var variable: String { ownVariable ?? usualVariable }

  /// True if a single variable gives the value, or one of the values.
  var hasOneVariable: Bool { !variable.isEmpty && !variable.hasSuffix(">") }

  /// The variable that an option with such a name has by default.
  var usualVariable: String {
    // The name consists of lower-case letters and hyphens.
    let letters = name.utf8.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "_") : $0 - 32 }
    return "OPRUN_" + String(decoding: letters, as: UTF8.self)
  }

  func excludes(_ other: Option) -> Bool {
    excludedFlag.map(other.isFlag) == true || other.excludedFlag.map(isFlag) == true
  }
}

/// The kind of value that an option wants.
enum ValueKind: Sendable {
  /// A whole number that is at least this.
  case count(atLeast: Int)
  case duration
  /// One of the words.
  case choice([String])
  /// A name and a value, which may be empty: `name=value`.
  case assignment
  /// Any string except the empty one; the placeholder and the words describe it.
  case text(String, wanted: String)

  var placeholder: String {
    switch self {
    case .count: "N"
    case .duration: "TIME"
    case .assignment: "NAME=VALUE"
    case .choice(let words): words.joined(separator: "|")
    case .text(let placeholder, _): placeholder
    }
  }
}

/// A checked value.
enum OptionValue: Hashable, Sendable {
  case isOn(Bool)
  case count(Int)
  case duration(Nanoseconds)
  case assignment(name: String, value: String)
  case text(String)
}

// A parsed command line: a command, checked values of its options, operands.

import Diagnostics
import Plans
import Scheduling

/// A command with its options and operands. Values are checked; defaults are not filled in.
struct Invocation {
  let command: Subcommand
  var operands: [String] = []
  /// The words after `--`, if they are not operands.
  var rest: [String] = []
  var wantsHelp = false
  /// True if the command's name was written.
  var isCommandNamed = true
  /// True if the first operand is a file that was searched for.
  var isFileFound = false
  /// The directory of that file, in which the command works, as a path from here; nil means here.
  var directory: String?
  /// The absolute path of the directory where oprun was started, if it is another one.
  var startDirectory: String?
  /// The values of options, by their names; more than one only for repeatable ones. Few options are
  /// given, so comparing names takes less time than hashing one.
  private var values: [(name: String, values: [OptionValue])] = []

  /// The options that are given on the command line, not in the environment.
  var given: Set<String> = []

  init(_ command: Subcommand) { self.command = command }

  /// The words after `--`, if they are for the commands of the pipeline.
  var arguments: [String] { command.rest == Subcommand.arguments ? rest : [] }

  /// A word after `--` that would be an option of the command before it.
  var optionBehindDashes: String? {
    arguments.first { word in
      let flag = String(word.prefix { $0 != "=" })
      return command.options.contains { $0.isWritten(flag) }
    }
  }

  func isGiven(_ option: Option) -> Bool { given.contains(option.name) }

  func hasValue(for option: Option) -> Bool { place(of: option) != nil }

  mutating func set(_ option: Option, _ value: OptionValue) {
    guard let place = place(of: option) else {
      values.append((option.name, [value]))
      return
    }
    if option.isRepeatable {
      values[place].values.append(value)
    } else {
      values[place].values = [value]
    }
  }

  private func place(of option: Option) -> Int? {
    values.firstIndex { $0.name == option.name }
  }

  private func values(of option: Option) -> [OptionValue] {
    place(of: option).map { values[$0].values } ?? []
  }

  private func value(of option: Option) -> OptionValue? { values(of: option).last }

  /// The options whose values are paths.
  private static let paths = [
    Options.stateDirectory, Options.events, Options.junit, Options.report, Options.summary,
    Options.trace, Options.outputs,
  ]

  /// True if the value of an option is a path from where oprun was started.
  var hasRelativePath: Bool {
    Self.paths.contains { option in text(option).map { isRelative($0, option) } ?? false }
  }

  /// Makes all relative paths absolute, because their directory is about to be left.
  mutating func anchorPaths(in directory: String) {
    for option in Self.paths {
      if let path = text(option), isRelative(path, option) {
        set(option, .text("\(directory)/\(path)"))
      }
    }
  }

  private func isRelative(_ path: String, _ option: Option) -> Bool {
    if path.hasPrefix("/") { return false }
    return option.name != Options.events.name || EventTarget.isPath(path)
  }

  func isOn(_ option: Option) -> Bool { value(of: option) == .isOn(true) }

  func count(_ option: Option) -> Int? {
    if case .count(let count)? = value(of: option) { count } else { nil }
  }

  func duration(_ option: Option) -> Nanoseconds? {
    if case .duration(let duration)? = value(of: option) { duration } else { nil }
  }

  func text(_ option: Option) -> String? {
    if case .text(let text)? = value(of: option) { text } else { nil }
  }

  /// The assignments in the order in which they were given.
  func assignments(_ option: Option) -> [(name: String, value: String)] {
    values(of: option).compactMap {
      if case .assignment(let name, let value) = $0 { (name, value) } else { nil }
    }
  }

  /// The values of an option that may be repeated, in the order in which they were given.
  func texts(_ option: Option) -> [String] {
    values(of: option).compactMap { if case .text(let text) = $0 { text } else { nil } }
  }

  /// The values of an option as they may be written.
  func words(of option: Option) -> [String] {
    values(of: option).map { value in
      switch value {
      case .isOn(let isOn): isOn ? "1" : "0"
      case .count(let count): "\(count)"
      case .duration(let duration): exactDuration(duration)
      case .assignment(let name, let value): "\(name)=\(value)"
      case .text(let text): text
      }
    }
  }

  /// True if a word that may be a run or a step is a run: ids of steps do not begin with a digit,
  /// as those of runs do.
  static func canOnlyBeRun(_ word: String) -> Bool {
    word == "last" || word.utf8.first.map { (0x30...0x39).contains($0) } == true
  }

  /// The chosen word as the type whose raw values are the words.
  func choice<Choice: RawRepresentable<String>>(_ option: Option, default choice: Choice) -> Choice
  {
    text(option).flatMap(Choice.init(rawValue:)) ?? choice
  }
}

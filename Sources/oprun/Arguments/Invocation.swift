// A command line, understood: a command, checked values of its options, operands.

import Scheduling

/// Values are checked; defaults are not filled in.
struct Invocation {
  let command: Command
  var operands: [String] = []
  var wantsHelp = false
  private var values: [String: OptionValue] = [:]

  init(_ command: Command) { self.command = command }

  func hasValue(for option: Option) -> Bool { values[option.name] != nil }

  mutating func set(_ option: Option, _ value: OptionValue) { values[option.name] = value }

  func isOn(_ option: Option) -> Bool { values[option.name] == .isOn(true) }

  func count(_ option: Option) -> Int? {
    if case .count(let count)? = values[option.name] { count } else { nil }
  }

  func duration(_ option: Option) -> Nanoseconds? {
    if case .duration(let duration)? = values[option.name] { duration } else { nil }
  }

  func text(_ option: Option) -> String? {
    if case .text(let text)? = values[option.name] { text } else { nil }
  }

  /// The chosen word as the type that its words are the raw values of.
  func choice<Choice: RawRepresentable<String>>(_ option: Option, default choice: Choice) -> Choice
  {
    text(option).flatMap(Choice.init(rawValue:)) ?? choice
  }
}

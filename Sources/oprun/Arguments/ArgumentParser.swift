// Parses the words of a command line into an invocation, by the table of options.

import Diagnostics

/// Reads the words after the command's name. The last of several equal flags wins, unless it is
/// repeatable, and any flag overrides the environment.
struct ArgumentParser {
  private let command: Subcommand
  private let options: [Option]
  private var rest: ArraySlice<String>
  private var invocation: Invocation
  private var mistakes: [UsageFailure] = []
  /// The option whose value was expected after the last word.
  private var pending: Option?
  private var isAfterDashes = false

  /// Parses the words. `environment` is nil if it has no variable that may stand for an option.
  static func parse(
    _ words: ArraySlice<String>, of command: Subcommand,
    environment: ((String) throws(UsageFailure) -> String?)?
  ) throws(UsageFailure) -> Invocation {
    var parser = ArgumentParser(words, of: command)
    parser.readWords()
    if parser.invocation.wantsHelp, parser.mistakes.isEmpty { return parser.invocation }
    let given = command.options.filter(parser.invocation.hasValue)
    if let environment { try parser.readEnvironment(environment, given) }
    // After a wrong option, the rest may not mean what was intended.
    if parser.mistakes.isEmpty {
      parser.check(given)
      parser.checkVariables(given)
      parser.checkOperands()
    }
    if var mistake = UsageFailure.all(parser.mistakes) {
      if command.takesParameters { mistake.file = parser.invocation.operands.first }
      throw mistake
    }
    return parser.invocation
  }

  /// Reads the words before one that is still being typed. Mistakes are ignored.
  static func readUnfinished(
    _ words: ArraySlice<String>, of command: Subcommand
  ) -> (invocation: Invocation, pending: Option?, isAfterDashes: Bool) {
    var parser = ArgumentParser(words, of: command)
    parser.readWords()
    return (parser.invocation, parser.pending, parser.isAfterDashes)
  }

  private init(_ words: ArraySlice<String>, of command: Subcommand) {
    self.command = command
    options = command.options + [Options.help]
    rest = words
    invocation = Invocation(command)
  }

  private mutating func readWords() {
    while let word = rest.popFirst() {
      if word == "--" {
        isAfterDashes = true
        if command.rest == nil { invocation.operands += rest } else { invocation.rest += rest }
        return
      }
      do throws(UsageFailure) {
        try read(word)
      } catch  where !invocation.wantsHelp {
        mistakes.append(error)
      } catch {}
    }
  }

  private mutating func read(_ word: String) throws(UsageFailure) {
    if command.explainsOptions, !isOption(word), Subcommand.haveOption(word) {
      invocation.operands.append(word)
    } else if word.hasPrefix("--") {
      try readLong(word)
    } else if word.hasPrefix("-"), word != "-" {
      try readLetters(word)
    } else {
      invocation.operands.append(word)
    }
  }

  /// Reads `--jobs 4`, `--jobs=4`, `--dry-run`.
  private mutating func readLong(_ word: String) throws(UsageFailure) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let flag = String(parts[0])
    let attached = parts.count > 1 ? String(parts[1]) : nil
    guard let option = options.first(where: { $0.isFlag(flag) }) else {
      throw .unknownOption(flag, value: attached ?? following, of: command)
    }
    guard let kind = option.value else {
      if let attached { throw .unwantedValue(of: option, found: attached, command) }
      return turnOn(option)
    }
    try take(attached ?? option.usualValue, for: option, kind)
  }

  /// The next word, if it may be a value; before the file it is more likely the file.
  private var following: String? {
    invocation.operands.isEmpty ? nil : rest.first.flatMap { $0.hasPrefix("-") ? nil : $0 }
  }

  /// Reads `-n`, `-nv`, `-j4`, `-j=4`, `-j 4`, `-nj4`.
  private mutating func readLetters(_ word: String) throws(UsageFailure) {
    if word.utf8.count > 2, isFlag("-" + word) { throw .missingDash(word, of: command) }
    var letters = word.dropFirst()
    while let letter = letters.popFirst() {
      guard let option = options.first(where: { $0.letter == letter }) else {
        throw .unknownOption("-\(letter)", of: command)
      }
      if let kind = option.value {
        if letters.count > 1, letters.first == "=" { letters.removeFirst() }
        return try take(letters.isEmpty ? nil : String(letters), for: option, kind)
      }
      turnOn(option)
    }
  }

  private func isFlag(_ word: String) -> Bool {
    let flag = String(word.prefix { $0 != "=" })
    return options.contains { $0.isFlag(flag) }
  }

  /// True if a word is an option of the command, and so hardly the value of another.
  private func isOption(_ word: String) -> Bool {
    if word == "--" || isFlag(word) { return true }
    guard word.hasPrefix("-"), !word.hasPrefix("--"), let letter = word.dropFirst().first else {
      return false
    }
    return options.contains { $0.letter == letter }
  }

  private mutating func turnOn(_ option: Option) {
    if option.name == Options.help.name {
      invocation.wantsHelp = true
    } else {
      invocation.set(option, .isOn(true))
    }
  }

  private mutating func take(
    _ attached: String?, for option: Option, _ kind: ValueKind
  ) throws(UsageFailure) {
    let next = rest.first.flatMap { isOption($0) ? $0 : nil }
    guard let text = attached ?? (next == nil ? rest.popFirst() : nil) else {
      if rest.isEmpty { pending = option }
      throw .missingValue(of: option, kind, before: next, command)
    }
    guard let value = kind.value(of: text) else {
      throw .wrongValue(text, for: kind, from: option.flag, command)
    }
    invocation.set(option, value)
  }

  /// Reads the environment. An empty variable counts as unset. The command line wins, in whatever
  /// words.
  private mutating func readEnvironment(
    _ environment: (String) throws(UsageFailure) -> String?, _ given: [Option]
  ) throws(UsageFailure) {
    for option in command.options
    where option.hasOneVariable && !invocation.hasValue(for: option)
      && !given.contains(where: option.excludes)
    {
      do throws(UsageFailure) {
        guard let text = try environment(option.variable), !text.isEmpty else { continue }
        try take(text, for: option)
      } catch {
        mistakes.append(error)
      }
    }
  }

  /// Takes the value of an option's variable.
  private mutating func take(_ text: String, for option: Option) throws(UsageFailure) {
    if let kind = option.value {
      guard let value = kind.value(of: text) else {
        throw .wrongValue(text, for: kind, from: option.variable, command)
      }
      invocation.set(option, value)
    } else {
      guard text == "1" || text == "0" else {
        throw .wrongSwitch(text, from: option.variable, command)
      }
      invocation.set(option, .isOn(text == "1"))
    }
  }

  /// Checks combinations of options. Environment variables are for many command lines, and may have
  /// no effect in some.
  private mutating func check(_ given: [Option]) {
    invocation.given = Set(given.map(\.name))
    for option in given {
      if let flag = option.excludedFlag, given.contains(where: { $0.isFlag(flag) }) {
        mistakes.append(.excludes(flag, option, command))
      }
      guard let flag = option.neededFlag else { continue }
      let isThere = options.contains { $0.isFlag(flag) && invocation.isOn($0) }
      if !isThere { mistakes.append(.needs(flag, option, command)) }
    }
  }

  /// Checks variables against each other. A variable that switches its option off is left out.
  private mutating func checkVariables(_ given: [Option]) {
    let set = command.options.filter { option in
      invocation.hasValue(for: option) && !given.contains { $0.name == option.name }
        && (option.value != nil || invocation.isOn(option))
    }
    for option in set {
      if let flag = option.excludedFlag, let other = set.first(where: { $0.isFlag(flag) }) {
        mistakes.append(.excludesVariable(other, option, command))
      }
    }
  }

  private mutating func checkOperands() {
    let count = invocation.operands.count
    if invocation.operands.contains(where: \.isEmpty) {
      mistakes.append(.emptyOperand(of: command))
      return
    }
    if count < command.operandCount.lowerBound {
      mistakes.append(.missingOperand(of: command))
      return
    }
    let misplaced =
      command.takesParameters
      ? invocation.operands.dropFirst().filter(UsageFailure.isAssignment) : []
    mistakes += misplaced.map { .parameterAsOperand($0, of: command) }
    if misplaced.isEmpty, count > command.operandCount.upperBound {
      mistakes.append(
        .extraOperand(invocation.operands[command.operandCount.upperBound], of: command))
    }
  }
}

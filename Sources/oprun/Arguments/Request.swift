// Finds the command that a command line means.

import Glibc

enum Request {
  case version
  /// Help for a command; nil means oprun's own. If there is a file, the parameters of its pipeline
  /// are included.
  case help(Command?, file: String?)
  case perform(Invocation)

  /// Parses a command line. `words` does not include the program's name.
  init(
    _ words: [String], environment: (String) throws(UsageFailure) -> String?,
    fileExists: (String) -> Bool
  ) throws(UsageFailure) {
    guard let first = words.first else { throw .nothingToDo }
    switch first {
    case Options.version.flag: self = .version
    case Options.help.flag, "-h": self = .help(nil, file: nil)
    case Command.help.name: self = .help(try Self.topic(words.dropFirst()), file: nil)
    default:
      let command = Command.named(first)
      if command == nil {
        if Command.later.contains(first) { throw .notBuilt(first) }
        if Self.looksLikeCommand(first), !fileExists(first) { throw .unknownCommand(first) }
      }
      let invocation = try ArgumentParser.parse(
        words.dropFirst(command == nil ? 0 : 1), of: command ?? .run, environment: environment)
      self = invocation.wantsHelp ? Self.help(invocation, fileExists) : .perform(invocation)
    }
  }

  /// Whether a word looks like a command: a name without a dot and a slash is hardly a pipeline
  /// file.
  private static func looksLikeCommand(_ word: String) -> Bool {
    !word.hasPrefix("-") && !word.contains("/") && !word.contains(".")
  }

  /// A request for help, which ignores a file that does not exist, and does not wait for standard
  /// input.
  private static func help(_ invocation: Invocation, _ fileExists: (String) -> Bool) -> Request {
    guard invocation.command.takesParameters, let file = invocation.operands.first, file != "-",
      fileExists(file)
    else { return .help(invocation.command, file: nil) }
    return .help(invocation.command, file: file)
  }

  private static func topic(_ words: ArraySlice<String>) throws(UsageFailure) -> Command? {
    guard let name = words.first, !name.hasPrefix("-") else { return nil }
    if words.count > 1 { throw .extraOperand(words[words.startIndex + 1], of: .help) }
    guard let command = Command.named(name) else {
      if Command.later.contains(name) { throw .notBuilt(name) }
      throw .unknownTopic(name)
    }
    return command
  }
}

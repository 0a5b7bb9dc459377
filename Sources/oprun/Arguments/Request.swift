// Finds the command that a command line means.

import Diagnostics
import Glibc

enum Request {
  /// The version; if `isVerbose`, with everything that the program was built from.
  case version(isVerbose: Bool)
  /// Help for a command; nil means oprun's own. With a file, the parameters of its pipeline are
  /// included.
  case help(Subcommand?, of: Invocation?)
  case perform(Invocation)
  /// The words of a command line that is still being typed.
  case complete([String])

  /// Parses a command line. `words` does not include the program's name; `environment` is nil if it has no variable
  /// that may stand for an option.
  init(
    _ words: [String], environment: ((String) throws(UsageFailure) -> String?)?,
    search: PipelineSearch
  ) throws(UsageFailure) {
    let first = words.first ?? ""
    switch first {
    case Options.version.flag:
      let wish = [Options.verbose.flag, "-v"]
      self = .version(isVerbose: words.dropFirst().contains(where: wish.contains))
    case Options.help.flag where words.count == 1, "-h" where words.count == 1:
      self = .help(nil, of: nil)
    case Options.help.flag where Subcommand.named(words[1]) != nil,
      "-h" where Subcommand.named(words[1]) != nil:
      self = .help(Subcommand.named(words[1]), of: nil)
    case Tool.completionCommand: self = .complete(Array(words.dropFirst()))
    case Subcommand.help.name: self = .help(try Self.topic(words.dropFirst()), of: nil)
    default:
      let isName = Self.looksLikeCommand(first)
      let command = isName ? Subcommand.named(first) : nil
      if isName, command == nil, !search.fileExists(first), try search.usualFile() == nil {
        throw Invocation.refusal(of: first, before: words.dropFirst(), search)
      }
      var invocation = try ArgumentParser.parse(
        words.dropFirst(command == nil ? 0 : 1), of: command ?? .run, environment: environment)
      invocation.isCommandNamed = command != nil
      self =
        invocation.wantsHelp
        ? Self.help(invocation, search) : .perform(try invocation.located(search))
    }
  }

  /// True if a word looks like a command: a name without a dot and a slash is hardly a pipeline file.
  private static func looksLikeCommand(_ word: String) -> Bool {
    !word.isEmpty && !word.hasPrefix("-") && !word.contains("/") && !word.contains(".")
  }

  /// A request for help, which ignores a file that does not exist, and does not wait for standard
  /// input.
  private static func help(_ invocation: Invocation, _ search: PipelineSearch) -> Request {
    guard invocation.command.takesParameters, !invocation.operands.isEmpty,
      let located = try? invocation.located(search), let file = located.operands.first,
      file != "-", located.isFileFound || search.fileExists(file)
    else { return .help(invocation.command, of: nil) }
    return .help(invocation.command, of: located)
  }

  private static func topic(_ words: ArraySlice<String>) throws(UsageFailure) -> Subcommand? {
    guard let name = words.first, !name.hasPrefix("-") else { return nil }
    if words.count > 1 { throw .extraOperand(words[words.startIndex + 1], of: .help) }
    guard let command = Subcommand.named(name) else {
      throw .unknownTopic(name)
    }
    return command
  }
}

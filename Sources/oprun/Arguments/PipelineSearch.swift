// Finds the pipeline file for a command line that names none.

import Diagnostics

/// The questions about files that parsing a command line may ask, to distinguish files from steps.
/// Tests provide their own answers.
struct PipelineSearch: Sendable {
  let fileExists: @Sendable (String) -> Bool
  /// The nearest file with one of the usual names, here or above, as a path from here.
  let usualFile: @Sendable () throws(UsageFailure) -> String?
  /// A pipeline here that has another name, as a word of a command line: if possible, one with a
  /// step of that id.
  var otherFile: @Sendable (_ step: String?) -> String? = { _ in nil }

  static let names = ["oprun.yml", "pipeline.yml"]
}

extension Invocation {
  /// The invocation with a file as its first operand, which is searched for unless it is already there.
  func located(_ search: PipelineSearch) throws(UsageFailure) -> Invocation {
    try checkFilesToWrite()
    guard command.takesFile, !operands.contains(where: \.isEmpty) else { return self }
    if let first = operands.first,
      !command.takesSteps || Self.isFileName(first) && !Self.mayBeMember(first, search)
    {
      return self
    }
    guard let path = try search.usualFile() else {
      guard let first = operands.first else {
        throw .noFile(command, besides: search.otherFile(nil))
      }
      if Self.isFileName(first) {
        guard let file = fileBehindSteps(search.fileExists) else { return self }
        throw .fileComesFirst(first, file, command)
      }
      guard search.fileExists(first) else { throw refusal(of: first, search) }
      return self
    }
    // A word in place of a file, such as `mode=debug`, is a step until a file is found.
    if command.takesParameters, let first = operands.first, UsageFailure.isAssignment(first),
      !search.fileExists(first)
    {
      throw .parameterAsOperand(first, of: command)
    }
    var result = self
    let slash = path.lastIndex(of: "/")
    result.directory = slash.map { String(path[..<$0]) }
    result.operands.insert(slash.map { String(path[path.index(after: $0)...]) } ?? path, at: 0)
    result.isFileFound = true
    return result
  }

  /// Refuses to overwrite a pipeline: if a file name is forgotten, an option takes the next
  /// argument for it, which is the pipeline.
  private func checkFilesToWrite() throws(UsageFailure) {
    for option in RunRecorders.options {
      guard let path = text(option), isPipelineName(path) else { continue }
      throw .overwritesPipeline(path, option, command)
    }
  }

  /// True if a word is a file name; a step can have any other name.
  static func isFileName(_ word: String) -> Bool {
    word == "-" || word.contains("/") || isPipelineName(word)
  }

  /// True if a word with a slash may name a step in a group, such as `test/unit`: there is no such file.
  private static func mayBeMember(_ word: String, _ search: PipelineSearch) -> Bool {
    word != "-" && !word.hasPrefix(".") && !word.hasPrefix("/") && !isPipelineName(word)
      && (!search.fileExists(word) || search.fileExists(word + "/."))
  }

  /// The file in `build ci.yml`, where a step is named before it.
  func fileBehindSteps(_ fileExists: (String) -> Bool) -> String? {
    operands.dropFirst().first { Self.isFileName($0) && $0 != "-" && fileExists($0) }
  }

  /// The failure for a word that is neither a command nor a file.
  static func refusal(
    of word: String, before words: ArraySlice<String>, _ search: PipelineSearch
  ) -> UsageFailure {
    var invocation = Invocation(.run)
    invocation.isCommandNamed = false
    invocation.operands = [word] + words
    return invocation.refusal(of: word, search)
  }

  private func refusal(of word: String, _ search: PipelineSearch) -> UsageFailure {
    if isCommandNamed || UsageFailure.closestCommand(to: word) == nil,
      let file = fileBehindSteps(search.fileExists)
    {
      return .fileComesFirst(word, file, command)
    }
    let other = search.otherFile(word)
    return isCommandNamed
      ? .neitherFileNorStep(word, command, besides: other) : .unknownCommand(word, besides: other)
  }
}

/// The path of a file as a word of a command line that cannot be taken for an option.
func operandWord(_ path: String) -> String {
  path.hasPrefix("-") && path != "-" ? "./" + path : path
}

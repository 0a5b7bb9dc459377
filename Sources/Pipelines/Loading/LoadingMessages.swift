// The messages about files that a pipeline names.

import Diagnostics
import Plans

enum LoadingMessage {
  static func outside(_ name: String, at span: Span) -> Diagnostic {
    Diagnostic(
      "\(quoted(name)) is outside the directory of this file", at: span,
      help: "a file can refer only to files in its own directory and below")
  }

  static func cycle(_ paths: [String], at span: Span) -> Diagnostic {
    let names = paths.map { printable($0) }.joined(separator: " -> ")
    return Diagnostic("files refer to each other in a cycle: \(names)", at: span)
  }

  static func sectionCycle(_ names: [String], at span: Span) -> Diagnostic {
    let path = names.map { "#" + printable($0) }.joined(separator: " -> ")
    return Diagnostic("pipelines use each other in a cycle: \(path)", at: span)
  }

  static func unknownSection(
    _ name: String, _ known: [String], suggestion: String?, at span: Span
  ) -> Diagnostic {
    let help =
      known.isEmpty
      ? "this file has no 'pipelines'; the name of a built-in step or of a file has no '#'"
      : didYouMean(suggestion.map { "#\($0)" })
        ?? "this file has " + firstNames(of: known.map { "#" + printable($0) }, most: 5)
    return Diagnostic("unknown pipeline \(quoted("#" + name))", at: span, help: help)
  }

  static func missing(
    _ what: String, _ path: String, at span: Span, help: String
  ) -> Diagnostic {
    Diagnostic("\(what) \(quoted(path)) does not exist", at: span, help: help)
  }

  /// The help for a missing file. `directory` is that of the file that names it.
  static func lookedFor(from directory: String) -> String {
    "it is looked for from the directory of this file"
      + (directory == "." ? "" : ", " + quoted(directory))
  }

  static func noSteps(at span: Span) -> Diagnostic {
    Diagnostic("neither this file nor what it includes has 'steps'", at: span)
  }

  static func missingVariables(
    _ path: String, suggestion: String?, at span: Span
  ) -> Diagnostic {
    Diagnostic(
      ".env file \(quoted(path)) does not exist", at: span,
      help: didYouMean(suggestion) ?? "a file whose name ends in '?' may be missing")
  }

  static func badVariables(
    _ message: String, first: Span?, at span: Span
  ) -> Diagnostic {
    Diagnostic(message, at: span, secondary: first.map { [.init($0, "first here")] } ?? [])
  }

  static func ofRun(_ key: String, at span: Span) -> Diagnostic {
    Diagnostic(
      "\(quoted(key)) applies to a whole run, but another file includes this one", at: span,
      help: "set it in the file that is run")
  }

  static func withoutSteps(_ key: String, at span: Span) -> Diagnostic {
    Diagnostic(
      "\(quoted(key)) applies to the steps of this file, but the file has none", at: span,
      help: "set it in the files that have the steps")
  }

  static func tooMuch(at span: Span) -> Diagnostic {
    Diagnostic(
      "more than \(PipelineLoader.maxFileCount) files, 64 MiB of them or "
        + "\(PipelineLoader.maxDepth) levels, which is the limit", at: span)
  }

  static func tooManyUses(at span: Span) -> Diagnostic {
    Diagnostic("more than 10,000 groups and uses of pipelines, which is the limit", at: span)
  }

  static func tooManyLevels(at span: Span) -> Diagnostic {
    Diagnostic(
      "more than \(PipelineLoader.maxLevelCount) levels of pipelines and groups in each other, "
        + "which is the limit", at: span)
  }

  /// The message about text in a script that other tools would replace.
  static func foreignBraces(_ text: String, meaning expression: String, at span: Span) -> Diagnostic
  {
    Diagnostic(
      "\(quoted(text)) is no expression: the command gets it as it is written", at: span,
      help: "write ${{ \(printable(expression)) }}", severity: .notice)
  }

  /// The message about a file of a runner. `written` is the variable as it is in the script.
  static func runnerFile(_ written: String, _ name: String, at span: Span) -> Diagnostic {
    Diagnostic(
      "what is appended to \(quoted(written)) is for the job of GitHub around the run: no step here sees it",
      at: span, help: KeysElsewhere.words[name], severity: .notice)
  }

  static func hookVariable(
    _ written: String, _ variable: OprunVariable, at span: Span
  ) -> Diagnostic {
    Diagnostic(
      "\(quoted(written)) is set only for \(variable.audience.words): in a step it is empty",
      at: span,
      help: "use it in a hook, such as 'on_failure'", severity: .notice)
  }

  static func definedTwice(
    _ what: String, _ name: String, first: Span, at span: Span
  ) -> Diagnostic {
    Diagnostic(
      "\(what) \(quoted(name)) is defined in two files", at: span,
      secondary: [.init(first, "also here")])
  }
}

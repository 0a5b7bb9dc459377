// The wording of everything that can be wrong with files that a pipeline names.

import Diagnostics

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

  static func missing(_ what: String, _ path: String, at span: Span) -> Diagnostic {
    Diagnostic("\(what) \(quoted(path)) does not exist", at: span)
  }

  static func noSteps(at span: Span) -> Diagnostic {
    Diagnostic("neither this file nor what it includes has 'steps'", at: span)
  }

  static func missingVariables(_ path: String, at span: Span) -> Diagnostic {
    Diagnostic(
      ".env file \(quoted(path)) does not exist", at: span,
      help: "a file whose name ends in '?' may be missing")
  }

  static func badVariables(
    _ message: String, first: Span?, at span: Span
  ) -> Diagnostic {
    Diagnostic(message, at: span, secondary: first.map { [.init($0, "first here")] } ?? [])
  }

  static func ofRun(_ key: String, at span: Span) -> Diagnostic {
    Diagnostic(
      "\(quoted(key)) is about a whole run, and another file includes this one", at: span,
      help: "set it in the file that is run")
  }

  static func withoutSteps(_ key: String, at span: Span) -> Diagnostic {
    Diagnostic(
      "\(quoted(key)) is for the steps of this file, and it has none", at: span,
      help: "set it in the files that have the steps")
  }

  static func tooMuch(at span: Span) -> Diagnostic {
    Diagnostic(
      "more than \(PipelineLoader.maxFileCount) files, 64 MiB of them or "
        + "\(PipelineLoader.maxDepth) levels, which is the limit", at: span)
  }

  static func tooManyUses(at span: Span) -> Diagnostic {
    Diagnostic("more than 10,000 uses of pipeline files, which is the limit", at: span)
  }

  static func definedTwice(
    _ what: String, _ name: String, first: Span, at span: Span
  ) -> Diagnostic {
    Diagnostic(
      "\(what) \(quoted(name)) is defined in two files", at: span,
      secondary: [.init(first, "also here")])
  }
}

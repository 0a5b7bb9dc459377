// The messages about the keys of a pipeline file.

import Diagnostics

extension DecodingMessage {
  static func unknownKey(
    _ name: String, _ owner: String, help: String?, at span: Span
  ) -> Diagnostic {
    Diagnostic("unknown key \(quoted(name)) \(owner)", at: span, help: help)
  }

  static func beside(_ key: String, _ name: String, at span: Span) -> Diagnostic {
    Diagnostic(
      "\(quoted(name)) stands beside \(quoted(key)), not in it", at: span,
      help: "indent it by 2 more")
  }

  static func foreign(_ file: ForeignFile, at span: Span) -> Diagnostic {
    Diagnostic(
      "this looks like \(file.words), not like a pipeline of oprun", at: span, help: file.help)
  }

  /// The message about `{run: echo hello, world}`; `text` is the whole text that the comma has split.
  static func splitAtComma(
    _ name: String, _ owner: String, _ text: String, at span: Span
  ) -> Diagnostic {
    Diagnostic("unknown key \(quoted(name)) \(owner)", at: span, help: afterComma(text))
  }

  static func afterComma(_ text: String) -> String {
    "between braces a ',' ends a value; put the whole text in quotes: \(quoted(text))"
  }

  static func duplicateKey(
    _ name: String, _ owner: String, first: Span, at span: Span
  ) -> Diagnostic {
    Diagnostic(
      "key \(quoted(name)) is written twice \(owner)", at: span,
      secondary: [.init(first, "first here")])
  }

  static func missing(
    _ keys: [String], _ owner: String, at span: Span, help: String? = nil
  ) -> Diagnostic {
    let names = inWords(keys.map(quoted), last: "and")
    return Diagnostic(
      "\(names) \(keys.count == 1 ? "is" : "are") missing \(owner)", at: span, help: help)
  }

  static let idBesideName = "'name' is only shown; add 'id', by which other steps refer to this one"
  static let actions = "add 'run', 'uses' or 'steps'"
  static let noCommand = "if the step only waits for others, write 'run: \":\"'"
}

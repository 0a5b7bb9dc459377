// The messages about a file as YAML, before any key has a meaning.

import Diagnostics

enum YAMLMessage {
  static func fileTooLarge(at base: Int) -> Diagnostic {
    Diagnostic(
      "the file is larger than 64 MiB, which is the limit", at: Span(start: base, end: base))
  }

  static func emptyFile(at base: Int) -> Diagnostic {
    Diagnostic(
      "the file is empty: a pipeline needs 'steps'", at: Span(start: base, end: base),
      help: "write 'steps:' and below it '- id: hello' with 'run: echo hello'")
  }

  static func notUTF8(at base: Int) -> Diagnostic {
    Diagnostic(
      "the file is UTF-16 or UTF-32, but it must be UTF-8", at: Span(start: base, end: base),
      help: "convert it: iconv -f UTF-16 -t UTF-8")
  }

  static func badCharacter(_ fault: TextCheck.Fault, base: Int) -> Diagnostic {
    let start = base + fault.offset
    let span = Span(start: start, end: start + fault.byteCount)
    switch fault.reason {
    case .invalidUTF8(let byte):
      let hex = String(byte, radix: 16, uppercase: true)
      return Diagnostic("byte 0x\(hex) is not valid UTF-8: the file must be UTF-8", at: span)
    case .character(let scalar, let kind):
      let digits = hexadecimal(UInt64(scalar.value), digits: 4, uppercase: true)
      return Diagnostic(
        "the \(kind) U+\(digits) is not allowed in the file", at: span,
        help: "in a double-quoted string, write \"\\u\(digits.lowercased())\"")
    }
  }

  /// The message about a file with a NUL. `byte` is the first one that no text contains.
  static func notText(_ byte: UInt8, at place: Int) -> Diagnostic {
    let digits = hexadecimal(UInt64(byte), digits: 2, uppercase: true)
    return Diagnostic(
      "byte 0x\(digits): this is not a text file", at: Span(start: place, end: place + 1))
  }

  static func secondDocument(at span: Span) -> Diagnostic {
    Diagnostic("a second document begins here, but a pipeline file contains only one", at: span)
  }

  static func scalarTooLong(at span: Span) -> Diagnostic {
    Diagnostic("this string is longer than 1 MiB, which is the limit", at: span)
  }

  static func tooDeep(at span: Span) -> Diagnostic {
    Diagnostic("values are nested more than 64 levels deep, which is the limit", at: span)
  }

  static func tooManyNodes(at span: Span) -> Diagnostic {
    Diagnostic(
      "more than 4,000,000 values in one step or outside the steps, which is the limit", at: span)
  }

  static func tooManyAnchors(at span: Span) -> Diagnostic {
    Diagnostic("more than 200,000 anchors, which is the limit", at: span)
  }

  static func complexKey(at span: Span) -> Diagnostic {
    Diagnostic(
      "a key must be a string, not a list, a map or an alias", at: span,
      help: "put a string that begins with '{' or '[' in quotes")
  }

  static func tag(_ name: String, at span: Span) -> Diagnostic {
    let standard = "tag:yaml.org,2002:"
    let short = name.hasPrefix(standard) ? "!!" + name.dropFirst(standard.count) : name
    return Diagnostic(
      "the tag \(quoted(short)) is not allowed: types follow from the keys", at: span,
      help: short.hasPrefix("!!")
        ? "remove it" : "put a string that begins with '!' in quotes, or remove the tag")
  }

  static func unknownAnchor(_ name: String, suggestion: String?, at span: Span) -> Diagnostic {
    Diagnostic(
      "no anchor \(quoted(name)) is defined before this alias", at: span,
      help: didYouMean(suggestion.map { "*" + $0 }))
  }

  static func aliasInItself(_ name: String, at span: Span) -> Diagnostic {
    Diagnostic("the alias \(quoted(name)) is inside the value it refers to", at: span)
  }

  static func aliasBudget(at span: Span) -> Diagnostic {
    Diagnostic(
      "aliases expand to more than 1,000,000 values and to ten times what is written, "
        + "which is the limit", at: span)
  }
}

// Converts libyaml's messages about a text that it cannot parse into helpful ones. The messages are
// those of libyaml 0.2; an unknown one is passed on unchanged.

import Diagnostics

extension YAMLMessage {
  static func syntax(
    _ fault: EventStream.Failure, text: UnsafeBufferPointer<UInt8>, base: Int
  ) -> Diagnostic {
    SyntaxFault(fault, text: text, base: base).diagnostic
  }
}

struct SyntaxFault {
  let fault: EventStream.Failure
  let text: UnsafeBufferPointer<UInt8>
  let base: Int
  let place: Span
  /// The location where the faulty list, map or quotation begins.
  let opening: Span
  let character: UInt8?

  init(_ fault: EventStream.Failure, text: UnsafeBufferPointer<UInt8>, base: Int) {
    var offsets = CharacterOffsets(text, isASCII: fault.isByteOffset)
    let offset = min(offsets.byteOffset(of: fault.mark), text.count)
    let opening = min(offsets.byteOffset(of: fault.contextMark), text.count)
    self.fault = fault
    self.text = text
    self.base = base
    place = Span(start: base + offset, end: base + min(offset + 1, text.count))
    self.opening = Span(start: base + opening, end: base + min(opening + 1, text.count))
    character = offset < text.count ? text[offset] : nil
  }

  var diagnostic: Diagnostic {
    if let known = textBehindQuote ?? textBehindBracket ?? slipOfLine { return known }
    return switch fault.problem {
    case let problem where problem.containsText("tab character"): tab
    case "found character that cannot start any token": badStart
    case "found unexpected end of stream": unclosedQuote
    case "found unexpected document indicator": unclosedQuote
    case "did not find expected ',' or ']'": unclosed("list", with: "]")
    case "did not find expected ',' or '}'": unclosed("map", with: "}")
    case "did not find expected key": badIndentation("map", expected: "a key")
    case "did not find expected '-' indicator": badIndentation("list", expected: "'- '")
    case "mapping values are not allowed in this context": strayColon
    case "block sequence entries are not allowed in this context": strayDash
    case "could not find expected ':'": missingColon
    case let problem where problem.containsText("alphabetic or numeric character"): badAlias
    case "found unknown escape character", "did not find expected hexdecimal number": badEscape
    case "did not find expected comment or line break": textBehindBlockSign
    case "did not find expected node content" where character == nil: unclosedBracket
    case "did not find expected <document start>":
      Diagnostic("unexpected content: the pipeline above this is complete", at: place)
    case "found undefined tag handle": Diagnostic("tags are not allowed here", at: place)
    default: Diagnostic("this is not valid YAML: \(printable(fault.problem))", at: place)
    }
  }

  /// Explains text after a closing quote, as in `'a' == 'b'`: libyaml expects a key, or takes `&&`
  /// for an anchor.
  private var textBehindQuote: Diagnostic? {
    let problems = ["did not find expected key", "alphabetic or numeric character"]
    guard problems.contains(where: { fault.problem.containsText($0) }) else { return nil }
    let start = Int(place.start) - base
    let signs = [UInt8](" \t&*".utf8)
    guard let last = text[..<min(start, text.count)].last(where: { !signs.contains($0) }),
      last == UInt8(ascii: "'") || last == UInt8(ascii: "\"")
    else { return nil }
    return Diagnostic(
      "unexpected text after a quoted string", at: place,
      help: "put the whole string in quotes, and double the single quotes in it: 'it''s'")
  }

  /// Explains text after a bracket, as in `[ -f x ] && y`: libyaml takes `&&` for an anchor.
  private var textBehindBracket: Diagnostic? {
    let problems = ["did not find expected key", "alphabetic or numeric character"]
    guard problems.contains(where: { fault.problem.containsText($0) }) else { return nil }
    let start = min(Int(place.start) - base, text.count)
    let signs = [UInt8](" \t&*".utf8)
    guard let last = text[..<start].last(where: { !signs.contains($0) }),
      last == UInt8(ascii: "]") || last == UInt8(ascii: "}")
    else { return nil }
    return Diagnostic(
      "unexpected text after \(last == UInt8(ascii: "]") ? "a list" : "a map")",
      at: place, help: "put the whole string in quotes, or below '|'")
  }

  private var textBehindBlockSign: Diagnostic {
    Diagnostic(
      "the text of '|' or '>' begins on the next line", at: place,
      help: "move it there, and indent it further than the key")
  }

  /// Explains a bracket that is never closed: the innermost one.
  private var unclosedBracket: Diagnostic {
    let open = text.lastIndex { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "{") }
    guard let open else { return Diagnostic("a value is missing at the end", at: place) }
    let isList = text[open] == UInt8(ascii: "[")
    return Diagnostic(
      "this \(isList ? "list" : "map") is never closed with '\(isList ? "]" : "}")'",
      at: Span(start: base + open, end: base + open + 1))
  }

  private var tab: Diagnostic {
    Diagnostic(
      "a tab cannot be used for indentation", at: place, help: "use spaces")
  }

  private var badStart: Diagnostic {
    if character == UInt8(ascii: "\t") { return tab }
    let name = character.map { String(UnicodeScalar($0)) } ?? ""
    return Diagnostic(
      "an unquoted string cannot start with \(quoted(name))", at: place,
      help: "put the string in quotes")
  }

  /// Explains `*` or `&` before text that is not a name, as in `run: *.sh`.
  private var badAlias: Diagnostic {
    let start = Int(opening.start) - base
    let sign = start < text.count && text[start] == UInt8(ascii: "&") ? "&" : "*"
    return Diagnostic(
      "an unquoted string cannot start with '\(sign)'", at: opening,
      help: "put the string in quotes")
  }

  private var unclosedQuote: Diagnostic {
    Diagnostic("this quote is never closed", at: opening)
  }

  private func unclosed(_ what: String, with bracket: String) -> Diagnostic {
    if character == nil {
      return Diagnostic("this \(what) is never closed with '\(bracket)'", at: opening)
    }
    return Diagnostic(
      "expected ',' or '\(bracket)' in the \(what)", at: place,
      secondary: [.init(opening, "the \(what) begins here")],
      help: isExpression
        ? "put the string with '${{' in quotes: between brackets, '{' begins a map"
        : isNameOfInstance ? "put a name with brackets in quotes: \"test[os=linux]\"" : nil)
  }

  /// True if the location is the bracket after a name, as in `[test[os=linux]]`.
  private var isNameOfInstance: Bool {
    let start = Int(place.start) - base
    return character == UInt8(ascii: "[") && start > 0 && !" ,[{".utf8.contains(text[start - 1])
  }

  /// True if the location is the brace of `${{`.
  private var isExpression: Bool {
    let start = Int(place.start) - base
    return character == UInt8(ascii: "{") && start > 0 && text[start - 1] == UInt8(ascii: "$")
  }

  private func badIndentation(_ what: String, expected: String) -> Diagnostic {
    if distanceToItem == nil, let known = oddIndentation { return known }
    return Diagnostic(
      "expected \(expected) at the indentation of the \(what) around it", at: place,
      secondary: [.init(opening, "the \(what) begins here")],
      help: distanceToItem.map {
        "to belong to the item above, this line must be indented by \($0) more"
      }
        ?? columnOfItems ?? "indent this line like the lines around it")
  }

  private var strayColon: Diagnostic {
    Diagnostic(
      "a ':' is not allowed here", at: place,
      help: "put a string that contains ': ' in quotes, or correct the indentation")
  }

  private var strayDash: Diagnostic {
    Diagnostic(
      "a list item is not allowed here", at: place,
      help: "begin the list on a line of its own, indented")
  }

  private var missingColon: Diagnostic {
    Diagnostic(
      "expected ':' after this key", at: restOfLine(from: opening),
      help: "a key is followed by ': ', a list item begins with '- '")
  }

  /// Explains a bad escape; libyaml's mark is at the backslash, or after the letter that follows it.
  private var badEscape: Diagnostic {
    let end = min(Int(place.start) - base + 1, text.count)
    let start = text[..<end].lastIndex(of: UInt8(ascii: "\\")) ?? end
    let rest = String(decoding: text[start...].prefix(5), as: UTF8.self)
    let escape = String(String.UnicodeScalarView(rest.unicodeScalars.prefix(2)))
    let isIncomplete = fault.problem.containsText("number")
    return Diagnostic(
      isIncomplete
        ? "the escape \(quoted(escape)) in a double-quoted string lacks its hexadecimal digits"
        : "unknown escape \(quoted(escape)) in a double-quoted string",
      at: Span(start: base + start, end: base + start + escape.utf8.count),
      help: "write '\\\\' for a backslash, or use single quotes")
  }

  private func restOfLine(from span: Span) -> Span {
    let start = Int(span.start) - base
    var end = start
    while end < text.count, text[end] != UInt8(ascii: "\n"), text[end] != UInt8(ascii: "\r") {
      end += 1
    }
    return Span(start: base + start, end: base + max(end, start + 1))
  }
}

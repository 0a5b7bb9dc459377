// Wraps libyaml's scanner and parser for formatting. This is the only file of the module that
// imports it; it knows nothing about rules.

import CYAML
import Diagnostics
import Glibc

/// One token of a YAML text, with its bytes.
struct YAMLToken {
  enum Kind {
    case directive, documentStart, documentEnd
    /// The start of a block map or list, which has no text of its own.
    case mapStart, listStart
    /// The end of a block map or list, which has no text of its own.
    case blockEnd
    /// A bracket or brace.
    case flowStart, flowEnd
    case dash, comma, colon
    /// The start of a key: `?`, or nothing.
    case key
    case anchor, alias
    case plain, quoted, block
    case end
  }

  let kind: Kind
  let start: Int
  let end: Int

  /// True if the token has a text of its own.
  var isVisible: Bool { end > start && kind != .blockEnd && kind != .end }
}

/// The tokens of a YAML text, one at a time.
struct TokenStream: ~Copyable {
  // libyaml keeps pointers into the parser, so it must not move.
  private let parser: UnsafeMutablePointer<yaml_parser_t>
  private var offsets: CharacterOffsets

  /// Starts with the first token. `text` must be UTF-8 without a byte order mark, and must outlive the
  /// stream.
  init(_ text: UnsafeBufferPointer<UInt8>) {
    offsets = CharacterOffsets(text, isASCII: false)
    parser = makeParser(text)
  }

  deinit { release(parser) }

  /// The next token; nil if the text is not YAML. Must not be called after the end.
  mutating func next() -> YAMLToken? {
    while true {
      var token = yaml_token_t()
      guard yaml_parser_scan(parser, &token) == 1 else { return nil }
      defer { yaml_token_delete(&token) }
      guard let kind = Self.kind(of: token) else { continue }
      let start = offsets.byteOffset(of: token.start_mark.index)
      return YAMLToken(kind: kind, start: start, end: offsets.byteOffset(of: token.end_mark.index))
    }
  }

  /// The kind of a token; nil for the start of the stream. Tags are treated like anchors: both stand
  /// before a value.
  private static func kind(of token: yaml_token_t) -> YAMLToken.Kind? {
    switch token.type {
    case YAML_STREAM_START_TOKEN: nil
    case YAML_VERSION_DIRECTIVE_TOKEN, YAML_TAG_DIRECTIVE_TOKEN: .directive
    case YAML_DOCUMENT_START_TOKEN: .documentStart
    case YAML_DOCUMENT_END_TOKEN: .documentEnd
    case YAML_BLOCK_SEQUENCE_START_TOKEN: .listStart
    case YAML_BLOCK_MAPPING_START_TOKEN: .mapStart
    case YAML_BLOCK_END_TOKEN: .blockEnd
    case YAML_FLOW_SEQUENCE_START_TOKEN, YAML_FLOW_MAPPING_START_TOKEN: .flowStart
    case YAML_FLOW_SEQUENCE_END_TOKEN, YAML_FLOW_MAPPING_END_TOKEN: .flowEnd
    case YAML_BLOCK_ENTRY_TOKEN: .dash
    case YAML_FLOW_ENTRY_TOKEN: .comma
    case YAML_KEY_TOKEN: .key
    case YAML_VALUE_TOKEN: .colon
    case YAML_ALIAS_TOKEN: .alias
    case YAML_ANCHOR_TOKEN, YAML_TAG_TOKEN: .anchor
    case YAML_SCALAR_TOKEN: scalarKind(token.data.scalar.style)
    default: .end
    }
  }

  private static func scalarKind(_ style: yaml_scalar_style_t) -> YAMLToken.Kind {
    switch style {
    case YAML_PLAIN_SCALAR_STYLE: .plain
    case YAML_LITERAL_SCALAR_STYLE, YAML_FOLDED_SCALAR_STYLE: .block
    default: .quoted
    }
  }
}

/// True if two texts have the same meaning in YAML: the same values, in the same styles, with the
/// same anchors and aliases. False if one is not YAML.
func haveSameMeaning(_ first: [UInt8], _ second: [UInt8]) -> Bool {
  first.withUnsafeBufferPointer { first in
    second.withUnsafeBufferPointer { second in
      let (left, right) = (makeParser(first), makeParser(second))
      defer {
        release(left)
        release(right)
      }
      while true {
        var (one, other) = (yaml_event_t(), yaml_event_t())
        defer {
          yaml_event_delete(&one)
          yaml_event_delete(&other)
        }
        guard yaml_parser_parse(left, &one) == 1, yaml_parser_parse(right, &other) == 1,
          areEqual(one, other)
        else { return false }
        if one.type == YAML_STREAM_END_EVENT { return true }
      }
    }
  }
}

private func areEqual(_ one: yaml_event_t, _ other: yaml_event_t) -> Bool {
  guard one.type == other.type else { return false }
  switch one.type {
  case YAML_SCALAR_EVENT:
    let (a, b) = (one.data.scalar, other.data.scalar)
    return a.length == b.length && memcmp(a.value, b.value, a.length) == 0 && a.style == b.style
      && areEqual(a.anchor, b.anchor) && areEqual(a.tag, b.tag)
      && a.plain_implicit == b.plain_implicit
  case YAML_ALIAS_EVENT: return areEqual(one.data.alias.anchor, other.data.alias.anchor)
  case YAML_SEQUENCE_START_EVENT:
    let (a, b) = (one.data.sequence_start, other.data.sequence_start)
    return areEqual(a.anchor, b.anchor) && areEqual(a.tag, b.tag) && a.style == b.style
  case YAML_MAPPING_START_EVENT:
    let (a, b) = (one.data.mapping_start, other.data.mapping_start)
    return areEqual(a.anchor, b.anchor) && areEqual(a.tag, b.tag) && a.style == b.style
  default: return true
  }
}

private func areEqual(
  _ one: UnsafeMutablePointer<yaml_char_t>?, _ other: UnsafeMutablePointer<yaml_char_t>?
) -> Bool {
  guard let one, let other else { return one == other }
  return strcmp(one, other) == 0
}

private func makeParser(_ text: UnsafeBufferPointer<UInt8>) -> UnsafeMutablePointer<yaml_parser_t> {
  let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
  precondition(yaml_parser_initialize(parser) == 1, "out of memory")
  yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
  yaml_parser_set_input_string(parser, text.baseAddress, text.count)
  return parser
}

private func release(_ parser: UnsafeMutablePointer<yaml_parser_t>) {
  yaml_parser_delete(parser)
  parser.deallocate()
}

// Wraps libyaml's event parser in one owner. This is the only file that imports it; it knows
// nothing about nodes.

import CYAML
import Glibc

/// The events of a YAML text, one at a time. Data that an event points to is valid until the next
/// one.
struct EventStream: ~Copyable {
  enum Kind {
    case streamStart, streamEnd, documentStart, documentEnd
    case alias, scalar, listStart, listEnd, mapStart, mapEnd
  }

  /// The message of libyaml about a text that it cannot parse. Marks count characters from the start.
  struct Failure: Error {
    let problem: String
    let context: String
    let mark: Int
    let contextMark: Int
    /// True if the mark counts bytes.
    let isByteOffset: Bool
  }

  // libyaml keeps pointers into the parser, so it must not move.
  private let parser: UnsafeMutablePointer<yaml_parser_t>
  private let event: UnsafeMutablePointer<yaml_event_t>

  /// True if the text may be handed over without being decoded.
  private let isASCII: Bool

  /// The number of characters left below which more are handed over before an event.
  private static let lowWater = 4096

  /// Starts parsing. `text` must be UTF-8 without a byte order mark, and must outlive the stream.
  init(_ text: UnsafeBufferPointer<UInt8>, isASCII: Bool) {
    self.isASCII = isASCII
    parser = .allocate(capacity: 1)
    event = .allocate(capacity: 1)
    precondition(yaml_parser_initialize(parser) == 1, "out of memory")
    event.initialize(to: yaml_event_t())
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
    yaml_parser_set_input_string(parser, text.baseAddress, text.count)
  }

  deinit {
    yaml_event_delete(event)
    yaml_parser_delete(parser)
    event.deallocate()
    parser.deallocate()
  }

  /// Advances to the next event. Must not be called after `streamEnd` or a failure.
  mutating func advance() throws(Failure) -> Kind {
    yaml_event_delete(event)
    if isASCII, parser.pointee.unread < Self.lowWater { handOver() }
    guard yaml_parser_parse(parser, event) == 1 else { throw fault() }
    switch event.pointee.type {
    case YAML_SCALAR_EVENT: return .scalar
    case YAML_MAPPING_START_EVENT: return .mapStart
    case YAML_MAPPING_END_EVENT: return .mapEnd
    case YAML_SEQUENCE_START_EVENT: return .listStart
    case YAML_SEQUENCE_END_EVENT: return .listEnd
    case YAML_ALIAS_EVENT: return .alias
    case YAML_DOCUMENT_START_EVENT: return .documentStart
    case YAML_DOCUMENT_END_EVENT: return .documentEnd
    case YAML_STREAM_START_EVENT: return .streamStart
    default: return .streamEnd
    }
  }

  /// Fills libyaml's buffer with the next part of the text, as libyaml would, but at once: it
  /// decodes and checks one character after another, which `TextCheck` has done. libyaml itself
  /// fetches text that an event needs beyond this part, and the end; between events it keeps only
  /// decoded text.
  private func handOver() {
    let input = parser.pointee.input.string
    guard let next = input.current, let end = input.end, next < end,
      let start = parser.pointee.buffer.start, let old = parser.pointee.buffer.pointer
    else { return }
    let kept = parser.pointee.buffer.last - old
    memmove(start, old, kept)
    let count = min(parser.pointee.buffer.end - start - kept, end - next)
    memcpy(start + kept, next, count)
    parser.pointee.buffer.pointer = start
    parser.pointee.buffer.last = start + kept + count
    parser.pointee.unread += count
    parser.pointee.input.string.current = next + count
  }

  /// The number of characters before the event.
  var start: Int { event.pointee.start_mark.index }
  var end: Int { event.pointee.end_mark.index }

  /// The value of a scalar event.
  var scalar: UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(
      start: event.pointee.data.scalar.value, count: event.pointee.data.scalar.length)
  }

  /// The style in which a scalar event is written.
  var style: Node.Kind {
    switch event.pointee.data.scalar.style {
    case YAML_PLAIN_SCALAR_STYLE: .plain
    case YAML_LITERAL_SCALAR_STYLE, YAML_FOLDED_SCALAR_STYLE: .block
    default: .quoted
    }
  }

  /// The name that an alias event refers to.
  var aliasName: String { Self.text(event.pointee.data.alias.anchor) ?? "" }

  var scalarTraits: Traits {
    let data = event.pointee.data.scalar
    return Traits(anchor: data.anchor, tag: data.tag)
  }

  var listTraits: Traits {
    let data = event.pointee.data.sequence_start
    return Traits(anchor: data.anchor, tag: data.tag)
  }

  var mapTraits: Traits {
    let data = event.pointee.data.mapping_start
    return Traits(anchor: data.anchor, tag: data.tag)
  }

  /// The anchor and the tag that may precede a value.
  struct Traits {
    fileprivate let anchor: UnsafeMutablePointer<yaml_char_t>?
    fileprivate let tag: UnsafeMutablePointer<yaml_char_t>?

    var isPlain: Bool { anchor == nil && tag == nil }
    var anchorName: String? { EventStream.text(anchor) }
    var tagName: String? { EventStream.text(tag) }
  }

  private func fault() -> Failure {
    let state = parser.pointee
    let isReaderError = state.error == YAML_READER_ERROR
    return Failure(
      problem: state.problem.map { String(cString: $0) } ?? "out of memory",
      context: state.context.map { String(cString: $0) } ?? "",
      mark: isReaderError ? state.problem_offset : state.problem_mark.index,
      contextMark: state.context_mark.index, isByteOffset: isReaderError)
  }

  private static func text(_ pointer: UnsafeMutablePointer<yaml_char_t>?) -> String? {
    pointer.map { String(decodingCString: $0, as: UTF8.self) }
  }
}

/// The version of libyaml.
package var parserVersion: String { String(cString: yaml_get_version_string()) }

// ASCII text is handed over to libyaml in parts; the events are those of text that it decodes itself.

import Testing

@testable import Pipelines

/// The events of a YAML text, however the text reaches libyaml.
struct HandedOverTextTests {
  private static func events(_ yaml: String, isASCII: Bool) -> [String] {
    Array(yaml.utf8).withUnsafeBufferPointer { text in
      var stream = EventStream(text, isASCII: isASCII)
      var events: [String] = []
      while true {
        do throws(EventStream.Failure) {
          let kind = try stream.advance()
          let value = kind == .scalar ? String(decoding: stream.scalar, as: UTF8.self) : ""
          events.append("\(kind) \(stream.start) \(stream.end) \(value)")
          if kind == .streamEnd { return events }
        } catch {
          return events + ["\(error.problem) \(error.context) \(error.mark) \(error.contextMark)"]
        }
      }
    }
  }

  /// The first event that differs if the text is handed over; nil if none does.
  private static func difference(_ yaml: String) -> String? {
    let decoded = events(yaml, isASCII: false)
    let handedOver = events(yaml, isASCII: true)
    if decoded == handedOver { return nil }
    return zip(decoded, handedOver).first { $0 != $1 }.map { "\($0), \($1)" }
      ?? "the number of events"
  }

  /// What is around the boundary between two parts: it lies 48 KiB after the start, and somewhere in the
  /// text for one of the lengths before it.
  @Test(arguments: [
    "- {id: a, run: 'it''s', depends_on: [b, c]}\n", "- \"a\\n\\x41 b\"\r\n",
    "- plain text\n  goes on\n",
    "- |\n  block\n\n  text\n", "# comment\n- &a x\n- *a\n", "---\n", "- ]\n", "- 'open",
  ])
  func boundaries(end: String) {
    let line = "- some text of a list, which is long enough to have many lines\n"
    let start = String(repeating: line, count: 49_152 / line.utf8.count)
    for length in 49_152 - start.utf8.count - end.utf8.count...49_152 - start.utf8.count + 2 {
      let yaml = start + "#" + String(repeating: "c", count: max(0, length - 2)) + "\n" + end + end
      #expect(Self.difference(yaml) == nil)
    }
  }

  /// An event that needs more than libyaml's buffer holds, at several places of it.
  @Test(arguments: [0, 100, 40_000, 49_000, 49_151, 49_152, 60_000])
  func longValue(start: Int) {
    let value = String(repeating: "word ", count: 40_000)
    let comment = start == 0 ? "" : "#" + String(repeating: "c", count: start - 1) + "\n"
    for yaml in [
      "a: \(value)\nb: c\n", "a: '\(value)'\nb: [c]", "a: \"\(value)\"\n\nb: |\n \(value)",
    ] {
      #expect(Self.difference(comment + yaml + "\n") == nil)
      #expect(Self.events(comment + yaml + "\n", isASCII: true).count > 8)
    }
  }

  @Test(arguments: ["", "\n", "a", "a:", "- ", "#"])
  func shortText(yaml: String) {
    #expect(Self.difference(yaml) == nil)
  }
}

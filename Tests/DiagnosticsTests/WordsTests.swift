// Suggestions, names in messages, places in large files, and the log of diagnostics.

import Diagnostics
import Foundation
import Testing

struct SuggestionTests {
  private let keys = ["depends_on", "env", "run", "retry", "timeout"]

  @Test(arguments: [
    ("dependson", "depends_on"), ("depend_on", "depends_on"), ("depnds_no", "depends_on"),
    ("dpnds_no", nil),
    ("timeuot", "timeout"), ("tiemuot", "timeout"), ("rnu", "run"), ("rum", "run"), ("rx", nil),
    ("evn", "env"), ("vne", nil), ("Timeout", "timeout"), ("", nil),
    ("TIMEOUT", "timeout"), ("run", nil),
  ])
  func `a name within two edits is suggested, within one if it is short`(
    _ name: String, _ expected: String?
  ) {
    #expect(suggestion(for: name, among: keys) == expected)
  }

  @Test func `the closest wins, of equals one with the same letters, or else the first`() {
    #expect(suggestion(for: "build", among: ["guilds", "builds", "built"]) == "builds")
    #expect(suggestion(for: "test-1", among: ["test-2", "test-3"]) == "test-2")
    #expect(suggestion(for: "c", among: ["a", "b"]) == nil)
    #expect(suggestion(for: "c", among: ["a", "cc"]) == "cc")
    #expect(suggestion(for: "ab", among: ["cd", "ba"]) == "ba")
    #expect(suggestion(for: "a.yml", among: ["b.yml", "b.yaml"]) == nil)
    #expect(suggestion(for: "a.yml", among: ["b.yml", "ab.yml", ".a.yml"]) == "ab.yml")
    #expect(suggestion(for: "env", among: ["bin", ".env"]) == ".env")
    #expect(suggestion(for: "tset", among: ["set", "test", "tste"]) == "test")
    #expect(suggestion(for: "tset", among: ["tent", "test", "set", "TSET"]) == "TSET")
  }

  @Test func `the work over a whole file is bounded`() {
    let suggester = Suggester(budget: 3)
    #expect(suggester.closest(to: "aaaa", among: ["bbbb", "aaab"]) == "aaab")
    #expect(suggester.closest(to: "aaaa", among: ["cccc", "aaab"]) == nil)
  }
}

struct NearbyPathTests {
  @Test(arguments: [
    ("pipelines/build.yml", "piplines/build.yml"), ("pipelines/build.yml", "pipelines/biuld.yml"),
    ("e\u{301}te\u{301}/build.yml", "e\u{301}te\u{301}/biuld.yml"),
    ("cafe\u{301}/build.yml", "caffe\u{301}/build.yml"),
  ])
  func `a name in a path is suggested, whatever accents are beside it`(
    _ existing: String, _ mistyped: String
  ) throws {
    let folder = FileManager.default.temporaryDirectory.path + "/nearby-\(UUID().uuidString)"
    let place = URL(fileURLWithPath: "\(folder)/\(existing)").deletingLastPathComponent()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    try "".write(toFile: "\(folder)/\(existing)", atomically: false, encoding: .utf8)
    let found = Suggester().path(closestTo: "\(folder)/\(mistyped)") { $0.hasSuffix(".yml") }
    #expect(found.map { Array($0.utf8) } == Array("\(folder)/\(existing)".utf8))
  }
}

struct PrintableTests {
  @Test func `a name is cut at 80 characters and shows what cannot be printed`() {
    #expect(
      quoted("a\u{1b}\n\u{7f}\u{2028}\u{feff}b") == "'a\\u{1b}\\n\\u{7f}\\u{2028}\\u{feff}b'")
    #expect(printable(String(repeating: "é", count: 81)) == String(repeating: "é", count: 80) + "…")
    #expect(printable("👩‍👩‍👧") == "👩‍👩‍👧")
  }

  @Test func `wide characters take two columns, combining ones none`() {
    #expect(displayWidth(of: "aé日e\u{301}한ｱ🚀") == 1 + 1 + 2 + 1 + 2 + 1 + 2)
  }
}

struct PositionTests {
  @Test func `places have the line and column that counting gives`() {
    let pieces = ["a\n", "\r\n", "é", "日本", "\n", "🚀x", "\u{feff}"]
    for pad in [0, 16380, 16384, 32766] {
      var sources = SourceMap()
      let text = String(repeating: "-", count: pad) + pieces.joined() + pieces.joined()
      sources.add(path: "a", bytes: Array(text.utf8))
      var (line, column, offset) = (1, 1, 0)
      for scalar in text.unicodeScalars {
        if offset > pad - 10 {
          let place = sources.position(of: Span(start: offset, end: offset))
          #expect((place.line, place.column) == (line, column))
        }
        (line, column) = scalar == "\n" ? (line + 1, 1) : (line, column + 1)
        offset += String(scalar).utf8.count
      }
    }
  }
}

struct DiagnosticLogTests {
  @Test func `diagnostics are sorted by place, and the first at a place counts`() {
    var log = DiagnosticLog()
    for (message, start) in [("b", 5), ("a", 1), ("again", 5), ("c", 7)] {
      log.report(at: Span(start: start, end: start + 1)) { Diagnostic(message, at: $0) }
    }
    #expect(log.sorted().map(\.message) == ["a", "b", "c"])
    #expect(!log.isFull)
  }

  @Test func `of very many those nearest to the start are kept`() {
    var log = DiagnosticLog()
    var made = 0
    for index in 0..<10_000 {
      let start = index % 2 == 0 ? index : 20_000 - index
      log.report(at: Span(start: start, end: start)) { span in
        made += 1
        return Diagnostic("wrong", at: span)
      }
    }
    #expect(log.isFull)
    #expect(log.sorted().map(\.primary.span.start) == (0..<1000).map { UInt32($0 * 2) })
    #expect(made < 4000)
  }
}

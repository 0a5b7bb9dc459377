// Tables in the documentation that the tests write, between two comments.

import Foundation
import TestSupport
import Testing

/// A part of a document that is made of what the code says.
struct GeneratedTable {
  let document: String
  let name: String

  private var url: URL { repository.appending(path: document) }
  private var start: String {
    "<!-- \(name): written by the tests, OPRUN_BLESS=1 rewrites them -->\n"
  }
  private var end: String { "<!-- \(name): end -->" }

  /// Whether the document has this text there; with OPRUN_BLESS=1 it is written.
  func holds(_ text: String) throws -> Bool {
    let whole = try String(contentsOf: url, encoding: .utf8)
    let before = try #require(whole.range(of: start))
    let after = try #require(whole.range(of: end))
    if ProcessInfo.processInfo.environment["OPRUN_BLESS"] == "1" {
      let blessed = whole[..<before.upperBound] + text + whole[after.lowerBound...]
      try blessed.write(to: url, atomically: false, encoding: .utf8)
      return true
    }
    return whole[before.upperBound..<after.lowerBound] == text
  }
}

/// A table in Markdown.
func table(_ heads: [String], _ rows: [[String]]) -> String {
  let lines = [heads, heads.map { _ in "---" }] + rows
  return "\n" + lines.map { "| \($0.joined(separator: " | ")) |\n" }.joined() + "\n"
}

@Suite(.blocking) struct `The tables in outcomes.md` {
  /// One after the other: each writes the file.
  @Test func `are what the code says`() throws {
    let tables: [(name: String, text: String)] = [
      ("steps", stepTable()), ("runs", runTable()), ("variables", variableTable()),
      ("flags", flagTable()),
    ]
    for table in tables {
      let isCurrent = try GeneratedTable(document: "docs/outcomes.md", name: table.name)
        .holds(table.text)
      #expect(isCurrent, "\(table.name)")
    }
  }
}

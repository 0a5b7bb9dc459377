// docs/expressions.md against the code: its tables are the rows of operators and functions.

import Expressions
import Foundation
import Testing

struct ExpressionReferenceTests {
  private let file = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "docs/expressions.md")

  @Test func `the tables of the reference are those of the code`() throws {
    let written = try String(contentsOf: file, encoding: .utf8)
    let text = try replacing(
      "functions", in: replacing("operators", in: written, with: operators), with: functions)
    if ProcessInfo.processInfo.environment["OPRUN_BLESS"] != nil {
      try text.write(to: file, atomically: false, encoding: .utf8)
    } else {
      #expect(text == written)
    }
  }

  @Test func `every context has a row`() throws {
    let written = try String(contentsOf: file, encoding: .utf8)
    for root in ContextRoot.allCases { #expect(written.contains("\n| `\(root.name).")) }
  }

  private var operators: String {
    table("operator", OperatorRow.all.map { ($0.form, $0.sentence, $0.examples) })
  }

  private var functions: String {
    table(
      "function", Function.allCases.map { ($0.row.signature, $0.row.sentence, $0.row.examples) })
  }

  private func table(
    _ title: String, _ rows: [(form: String, sentence: String, examples: [(String, String)])]
  ) -> String {
    rows.reduce("\n| \(title) | meaning | examples |\n|---|---|---|\n") { text, row in
      let examples = row.examples.map { "`\(cell($0)) → \(cell($1))`" }.joined(separator: "<br>")
      return text + "| `\(cell(row.form))` | \(row.sentence) | \(examples) |\n"
    } + "\n"
  }

  private func cell(_ text: String) -> String { text.replacing("|", with: "\\|") }

  /// What stands between a comment that names the table and the one that ends it.
  private func replacing(_ name: String, in text: String, with table: String) throws -> String {
    let start = try #require(text.firstRange(of: "<!-- \(name):"))
    let head = try #require(text[start.upperBound...].firstRange(of: "-->\n")).upperBound
    let end = try #require(text[head...].firstRange(of: "<!-- end -->")).lowerBound
    return text[..<head] + table + text[end...]
  }
}

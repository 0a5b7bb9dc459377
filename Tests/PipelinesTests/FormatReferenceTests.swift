// docs/pipeline-format.md against the code: its examples are planned, its tables are complete.

import Foundation
import Pipelines
import Testing

struct FormatReferenceTests {
  private let text: String

  init() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    text = try String(
      contentsOf: root.appending(path: "docs/pipeline-format.md"), encoding: .utf8)
  }

  @Test func `every example is a valid pipeline`() {
    let examples = text.split(separator: "```yaml\n").dropFirst().map { part in
      part.prefix(upTo: part.firstRange(of: "```")?.lowerBound ?? part.endIndex)
    }
    #expect(examples.count >= 9)
    for example in examples {
      #expect(errors(String(example)) == "no errors", "\(example)")
    }
  }

  @Test func `every key has a row, or is named among what is not supported yet`() throws {
    let later = try #require(text.split(separator: "## Not supported yet").last)
    let tables: [[KeyRow]] = [
      PipelineKey.allCases.map(\.row), StepKey.allCases.map(\.row), QueueKey.allCases.map(\.row),
      SecretKey.allCases.map(\.row), DependencyKey.allCases.map(\.row),
      RetryKey.allCases.map(\.row), StopKey.allCases.map(\.row),
    ]
    for row in tables.joined() {
      switch row.support {
      case .supported: #expect(text.contains("\n| `\(row.key)` |"), "\(row.key)")
      case .notYet: #expect(later.contains("`\(row.key)`"), "\(row.key)")
      }
    }
  }

  @Test func `the defaults of the tables are those of the code`() {
    let rows = [StepKey.allCases.map(\.row), RetryKey.allCases.map(\.row)].joined()
    for row in rows where row.support == .supported {
      guard let value = row.defaultValue else { continue }
      let lines = text.split(separator: "\n").filter { $0.hasPrefix("| `\(row.key)` |") }
      #expect(lines.contains { $0.contains("| `\(value)` |") }, "\(row.key): \(value)")
    }
  }
}

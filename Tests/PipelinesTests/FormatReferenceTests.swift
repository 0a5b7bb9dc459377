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

  @Test func `every example is a valid pipeline`() throws {
    let examples = text.split(separator: "```yaml\n").dropFirst().map { part in
      part.prefix(upTo: part.firstRange(of: "```")?.lowerBound ?? part.endIndex)
    }
    #expect(examples.count >= 9)
    var files: [String: [UInt8]] = [:]
    for example in examples {
      if let name = example.firstMatch(of: /^# ([a-z-]+\.yml)\n/) {
        files[String(name.output.1)] = Array(example.utf8)
      }
    }
    var options = PlanningOptions()
    options.files = PipelineFiles { [files] path, _ in .success(files[path]) }
    for example in examples { _ = try plan(String(example), options) }
  }

  @Test func `every key has a row`() {
    for row in ObjectKind.allCases.flatMap(\.rows) {
      #expect(text.contains("\n| `\(row.key)` |"), "\(row.key)")
    }
  }

  @Test func `what becomes of the keys of an included file is told of every key`() throws {
    let section = try #require(text.split(separator: "## Included files\n").last)
    let rows = section.split(separator: "\n").filter { $0.hasPrefix("| `") }
      .prefix(PipelineKey.Reach.allCases.count)
    let told = rows.map { row in
      Set(row.split(separator: "|")[0].matches(of: /`([^`]+)`/).map { String($0.output.1) })
    }
    for (keys, reach) in zip(told, PipelineKey.Reach.allCases) {
      let known = PipelineKey.allCases.filter {
        $0.reach == reach
      }
      #expect(keys == Set(known.map(\.row.key)), "\(reach)")
    }
    #expect(told.count == PipelineKey.Reach.allCases.count)
  }

  @Test func `the page has the defaults of the key tables`() {
    for row in ObjectKind.allCases.flatMap(\.rows) {
      guard let value = row.defaultValue else { continue }
      let lines = text.split(separator: "\n").filter { $0.hasPrefix("| `\(row.key)` |") }
      #expect(lines.contains { $0.contains("| `\(value)` |") }, "\(row.key): \(value)")
    }
  }
}

// Files with tests of pipelines: what is read from them, and their JSON schema.

import Foundation
import Pipelines
import Plans
import TestSupport
import Testing

@Suite(.blocking) struct `A file with tests` {
  private let file = repository.appending(path: "schema/tests.schema.json")

  @Test func `has a schema, which is what the tables say`() throws {
    if ProcessInfo.processInfo.environment["OPRUN_BLESS"] == "1" {
      try testSchema.write(to: file, atomically: false, encoding: .utf8)
    }
    let isCurrent = try String(contentsOf: file, encoding: .utf8) == testSchema
    #expect(isCurrent, "`oprun schema --tests >schema/tests.schema.json` writes it anew")
  }

  @Test func `is accepted by its schema if it is valid`() throws {
    let texts = accepted + refused
    let verdicts = try verdicts(on: texts)
    for (text, verdict) in zip(texts, verdicts) {
      let isValid = (try? readTests(path: "p.test.yml", bytes: Array(text.utf8))) != nil
      #expect(isValid == (verdict == nil), "\(text): \(verdict ?? "accepted")")
      #expect(isValid == accepted.contains(text), "\(text)")
    }
  }

  @Test func `is described in the documentation, key by key`() throws {
    let text = try String(
      contentsOf: repository.appending(path: "docs/testing-pipelines.md"), encoding: .utf8)
    for kind in ObjectKind.ofTests {
      for row in kind.rows {
        #expect(text.contains("`\(row.key)`") || row.key == "cases", "\(row.key)")
      }
    }
  }

  private let accepted = [
    "cases: [{name: a}]",
    "{pipeline: x.yml, x-mine: 1, cases: [{name: a, params: {n: 1}, env: {A: b}, select: [s], jobs: 2}]}",
    "cases: [{name: a, steps: {s: failed, t: {exit: 3, duration: 0s, failures: 2, outputs: {a: [1]}}}}]",
    "cases: [{name: a, steps: {s: {signal: KILL}}, expect: {exit: 1, error: x, hooks: []}}]",
    "cases: [{name: a, expect: {outcomes: {s: timed_out}, order: [a], blocked_by: {a: b}}}]",
    "cases: [{name: a, expect: {attempts: {s: 2}, commands: {s: x}, env: {s: {A: b}}, longest: 1m}}]",
    "cases: [{name: a, expect: {outputs: {a: 1, b: {c: [true]}}}}]",
  ]

  private let refused = [
    "", "[]", "x", "{}", "cases: []", "cases: {}", "cases: [x]", "cases: [{}]",
    "cases: [{name: ''}]",
    "case: [{name: a}]", "cases: [{name: a, step: {}}]", "cases: [{name: a, steps: {s: fine}}]",
    "cases: [{name: a, steps: {s: {exit: 256}}}]", "cases: [{name: a, steps: {s: {signal: NONE}}}]",
    "cases: [{name: a, steps: {s: {duration: 3}}}]",
    "cases: [{name: a, steps: {s: {failures: 0}}}]",
    "cases: [{name: a, expect: {exit: -1}}]", "cases: [{name: a, expect: {outcomes: {s: done}}}]",
    "cases: [{name: a, expect: {order: a}}]", "cases: [{name: a, expect: {longest: 0s}}]",
    "cases: [{name: a, jobs: many}]", "cases: [{name: a, env: {A: [b]}}]",
  ]

  private func verdicts(on texts: [String]) throws -> [String?] {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "tests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try JSONEncoder().encode(texts).write(to: folder.appending(path: "texts"))
    let script = repository.appending(path: "Tests/Schema/verdicts.py").path
    let status = try Child(
      script: """
        cd '\(folder.path)' && exec /usr/bin/python3 -W ignore '\(script)' '\(file.path)' \
          <texts >verdicts 2>errors
        """
    ).wait()
    #expect(status == 0)
    return try JSONDecoder().decode(
      [String?].self, from: Data(contentsOf: folder.appending(path: "verdicts")))
  }
}

// Runs every case of Tests/Cases and compares the whole of what a user would see. OPRUN_BLESS=1
// writes what was seen into expected.txt: review the difference before committing it.

import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct CaseTests {
  @Test(arguments: GoldenCase.all)
  func `what a user sees is as expected`(of golden: GoldenCase) throws {
    let seen = try golden.run()
    if ProcessInfo.processInfo.environment["OPRUN_BLESS"] == "1" {
      try seen.write(to: golden.expectedFile, atomically: false, encoding: .utf8)
    }
    let isAsExpected = golden.expected == seen
    #expect(isAsExpected, "\(difference(golden.expected ?? "", seen))")
  }

  @Test func `there are cases, and each has what it needs`() {
    #expect(GoldenCase.all.count >= 90)
    for golden in GoldenCase.all {
      #expect(golden.has("args") != golden.has("command"), "\(golden.name)")
      #expect(golden.has("expected.txt"), "\(golden.name)")
    }
  }

  @Test func `the programs under test are there`() {
    for name in ["oprun", "oprun-steps"] {
      #expect(builtProgram(name) == "\(programFolder.path)/\(name)")
    }
  }
}

/// The lines that differ, in order, `-` for expected and `+` for seen.
func difference(_ expected: String, _ seen: String) -> String {
  let old = expected.split(separator: "\n", omittingEmptySubsequences: false)
  let new = seen.split(separator: "\n", omittingEmptySubsequences: false)
  let changes = new.difference(from: old)
  let lines = changes.map { change in
    switch change {
    case .remove(let offset, let line, _): (offset, "- \(line)")
    case .insert(let offset, let line, _): (offset, "+ \(line)")
    }
  }
  return "\n" + lines.sorted { $0.0 < $1.0 }.map(\.1).joined(separator: "\n")
}

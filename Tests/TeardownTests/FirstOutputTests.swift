// What commands print in their first moments, when oprun is not woken for it because every processor has
// something to do.

import Foundation
import TestSupport
import Testing

struct `The first output of a command` {
  /// Steps that wait for a file keep every processor busy, as far as oprun knows.
  private static func pipeline(_ step: String) -> String {
    let width = ProcessInfo.processInfo.processorCount + 1
    let others = (1...width).map {
      "  - {id: w\($0), run: 'while [ ! -e over ]; do sleep 0.01; done'}\n"
    }
    return "max_parallel: \(width + 1)\ntimeout: 280s\nsteps:\n\(others.joined())\(step)\n"
  }

  @Test func `is read although it is more than a pipe holds`() throws {
    let oprun = try OprunProcess(
      Self.pipeline("  - {id: talker, run: 'seq 100000; touch over'}"))
    #expect(oprun.wait() == 0, "\(oprun.standardError)")
    #expect(oprun.standardOutput == (1...100_000).map { "\($0)\n" }.joined())
  }

  @Test func `is shown while all commands go on`() throws {
    let oprun = try OprunProcess(
      Self.pipeline(
        """
          - id: talker
            run: |
              echo first
              until grep -q first stdout.txt; do sleep 0.01; done
              touch over
        """))
    #expect(oprun.wait() == 0, "\(oprun.standardError)")
    #expect(oprun.standardOutput == "first\n")
  }
}

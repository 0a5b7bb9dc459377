// Each command has its own session, and so no terminal, even if oprun has one.

import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct `The terminal of a step` {
  @Test func `cannot be opened, and the run goes on`() throws {
    let oprun = try OprunProcess(
      """
      max_parallel: 1
      steps:
        - {id: asks, run: "head -c 1 /dev/tty", timeout: 10m, allow_failure: true}
        - {id: writes, run: "echo rude >/dev/tty", timeout: 10m, allow_failure: true}
        - id: after
          run: ps -o tty= -o pid= -o pgid= -o sid= -p $$ | tr -s ' ' >terminal; echo $$ >own
      """,
      prefix: #"""
        echo 'if : </dev/tty; then touch seen; fi; exec "$@" >all.txt 2>&1' >run.sh
        exec script -qec "sh run.sh
        """#, suffix: "\" typescript")
    #expect(oprun.wait() == 0, "\(oprun.content(of: "typescript"))")
    #expect(oprun.exists("seen"), "the probe must see the terminal of oprun")
    let own = oprun.content(of: "own").trimmingCharacters(in: .whitespacesAndNewlines)
    #expect(oprun.content(of: "terminal") == "? \(own) \(own) \(own)\n")
    let shown = oprun.content(of: "all.txt")
    #expect(shown.contains("head: cannot open '/dev/tty' for reading: No such device or address"))
    #expect(!oprun.content(of: "typescript").contains("rude"))
  }

  @Test func `or its lack leaves a step its niceness where sessions share the processors`() throws {
    let oprun = try OprunProcess(
      pipeline(
        script:
          "nice\nif [ -e /proc/self/autogroup ]; then sed 's/.* nice //' /proc/self/autogroup; "
          + "else nice; fi",
        keys: "nice: 7"), prefix: "exec nice -n 0")
    #expect(oprun.wait() == 0, "\(oprun.standardError)")
    let nice = min(19, getpriority(.init(PRIO_PROCESS.rawValue), 0) + 7)
    #expect(oprun.standardOutput == "\(nice)\n\(nice)\n")
  }
}

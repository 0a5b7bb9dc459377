// `hashFiles` during a run: the loop does not wait for it.

import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct `Files that are hashed while running` {
  /// Longer than any test: 1 TiB of nothing.
  private let endless = "truncate -s 1T endless"

  /// Those that have begun to read, once there are any.
  private func hashers(below oprun: OprunProcess) -> [Int32] {
    var found: [Int32] = []
    #expect(
      eventually {
        found = TeardownTests.hashers(of: "endless", below: oprun.processID)
        return !found.isEmpty
      }, "nobody reads")
    return found
  }

  @Test func `other steps run, and a signal ends the run at once`() throws {
    let oprun = try OprunProcess(
      """
      steps:
        - {id: make, run: \(endless)}
        - {id: late, depends_on: [make], if: "hashFiles('endless') != ''", run: touch late}
        - {id: other, depends_on: [make], run: "touch other"}
      on_cancel: touch hook
      """)
    #expect(eventually { oprun.exists("other") })
    let hashing = hashers(below: oprun)
    oprun.send(SIGTERM)
    #expect(oprun.wait() == 143)
    #expect(oprun.exists("hook") && !oprun.exists("late"))
    #expect(eventually { hashing.allSatisfy { kill($0, 0) != 0 } })
  }

  @Test func `a second signal does not wait for what hooks of the run hash`() throws {
    let oprun = try OprunProcess(
      """
      steps:
        - {id: make, run: \(endless)}
      on_complete:
          - [touch, first]
          - {run: [echo, "${{ hashFiles('endless') }}"]}
      """)
    _ = hashers(below: oprun)
    // Each of another kind: signals of one kind that wait together are one.
    oprun.send(SIGINT)
    oprun.send(SIGTERM)
    #expect(oprun.wait() == 130)
    #expect(oprun.exists("first"))
  }

  @Test func `the run's time limit ends it`() throws {
    let oprun = try OprunProcess(
      """
      timeout: 300ms
      steps:
        - {id: make, run: \(endless)}
        - {id: late, depends_on: [make], if: "hashFiles('endless') != ''", run: touch late}
      """)
    #expect(oprun.wait() == 124)
  }

  @Test func `its own death ends what hashes`() throws {
    let oprun = try OprunProcess(
      """
      steps:
        - {id: make, run: \(endless)}
        - {id: late, depends_on: [make], if: "hashFiles('endless') != ''", run: touch late}
      """)
    let hashing = hashers(below: oprun)
    oprun.send(SIGKILL)
    _ = oprun.wait()
    #expect(eventually { hashing.allSatisfy { kill($0, 0) != 0 } })
  }

  @Test func `digests are as before, a FIFO among the files changes nothing`() throws {
    let oprun = try OprunProcess(
      """
      steps:
        - id: make
          run: "mkfifo d.fifo; printf a >d.a; printf b >d.b"
        - id: late
          depends_on: [make]
          if: hashFiles('d.*') == hashFiles('d.a', 'd.b') && hashFiles('none*') == ''
          env: {H: "${{ hashFiles('d.a') }}"}
          run: "echo $H >hash"
        - id: each
          depends_on: [make]
          matrix: {n: [1, 2, 3, 4, 5, 6, 7, 8]}
          if: hashFiles('d.b') != ''
          run: ["touch", "each-${{ matrix.n }}"]
      """)
    #expect(oprun.wait() == 0, "\(oprun.standardError)")
    #expect(oprun.content(of: "hash").count == 65)
    #expect((1...8).allSatisfy { oprun.exists("each-\($0)") })
  }
}

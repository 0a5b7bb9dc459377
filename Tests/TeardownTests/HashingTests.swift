// `hashFiles` during a run: the loop does not wait for it.

import Foundation
import Testing

struct `Files that are hashed while running` {
  /// Longer than any test: 1 TiB of nothing.
  private let endless = "truncate -s 1T endless"

  private func children(of process: Int32) -> String {
    (try? String(
      contentsOfFile: "/proc/\(process)/task/\(process)/children", encoding: .utf8)) ?? ""
  }

  @Test func `other steps run, and a signal ends the run at once`() throws {
    let oprun = try OprunProcess(
      """
      steps:
        - {id: make, run: \(endless)}
        - {id: late, depends_on: [make], if: "hashFiles('endless') != ''", run: touch late}
        - {id: other, depends_on: [make], run: "sleep 0.2; touch other"}
      on_cancel: touch hook
      """)
    #expect(eventually { oprun.exists("other") })
    let hashing = children(of: oprun.processID).split(separator: " ").compactMap { Int32($0) }
    let asked = Date()
    oprun.send(SIGTERM)
    #expect(oprun.wait() == 143)
    #expect(Date().timeIntervalSince(asked) < 30)
    #expect(oprun.exists("hook") && !oprun.exists("late"))
    #expect(!hashing.isEmpty && eventually { hashing.allSatisfy { kill($0, 0) != 0 } })
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
    #expect(eventually { oprun.exists("endless") && !children(of: oprun.processID).isEmpty })
    usleep(200_000)
    oprun.send(SIGINT)
    usleep(50_000)
    oprun.send(SIGINT)
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
    #expect(oprun.elapsed < 30)
  }

  @Test func `its own death ends what hashes`() throws {
    let oprun = try OprunProcess(
      """
      steps:
        - {id: make, run: \(endless)}
        - {id: late, depends_on: [make], if: "hashFiles('endless') != ''", run: touch late}
      """)
    #expect(
      eventually { oprun.exists("endless") && children(of: oprun.processID).contains(" ") })
    usleep(200_000)
    let hashing = children(of: oprun.processID).split(separator: " ").compactMap { Int32($0) }
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

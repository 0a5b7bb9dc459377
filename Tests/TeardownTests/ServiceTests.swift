// Services and all that they start end with the run, however it ends.

import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct `A service with children of its own` {
  @Test func `is stopped with all it has started after its last dependent`() throws {
    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try OprunProcess(service(mark, client: "touch used"))
    #expect(oprun.wait() == 0, "\(oprun.standardError)")
    #expect(mark.processes == [])
    #expect(oprun.exists("used"))
  }

  @Test func `that ignores TERM has its grace`() throws {
    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try OprunProcess(service(mark, client: "touch used", first: "trap '' TERM"))
    #expect(oprun.wait() == 0, "\(oprun.standardError)")
    #expect(mark.processes == [])
  }

  @Test func `that closes its output serves all the same`() throws {
    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try OprunProcess(
      service(mark, client: "touch used", first: "exec >/dev/null 2>&1"))
    #expect(oprun.wait() == 0, "\(oprun.standardError)")
    #expect(mark.processes == [])
  }

  @Test func `ends when the run is interrupted, while it serves and while it starts`() throws {
    for isReady in [true, false] {
      let mark = Mark()
      defer { mark.endAll() }
      let oprun = try OprunProcess(service(mark, client: "sleep 60", isReady: isReady))
      #expect(eventually { oprun.exists("up") && mark.processes.count >= 2 })
      oprun.send(SIGINT)
      #expect(oprun.wait() == 130)
      #expect(mark.processes == [])
    }
  }

  @Test func `ends when a dependent fails and the rest is cancelled`() throws {
    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try OprunProcess(service(mark, client: "exit 3"), arguments: "--fail-fast")
    #expect(oprun.wait() == 1)
    #expect(mark.processes == [])
  }

  @Test func `ends when oprun is killed`() throws {
    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try OprunProcess(service(mark, client: "sleep 60"))
    #expect(eventually { oprun.exists("up") && mark.processes.count >= 2 })
    oprun.send(SIGKILL)
    #expect(oprun.wait() == 128 + SIGKILL)
    #expect(eventually { mark.processes == [] })
  }

  @Test func `that was named goes on until a signal`() throws {
    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try OprunProcess(service(mark, client: "touch used"), arguments: "server")
    #expect(eventually { oprun.exists("up") && mark.processes.count >= 2 })
    oprun.send(SIGTERM)
    #expect(oprun.wait() == 143)
    #expect(mark.processes == [])
    #expect(!oprun.exists("used"))
  }

  @Test func `is one of two hundred that need one slot`() throws {
    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try OprunProcess(
      """
      max_parallel: 1
      steps:
        - id: many
          matrix: {a: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], b: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], c: [0, 1]}
          run: [sleep, "\(mark)"]
          background: true
        - {id: client, run: touch used, depends_on: [many]}
      """)
    #expect(oprun.wait() == 0, "\(oprun.standardError)")
    #expect(mark.processes == [] && oprun.exists("used"))
  }

  /// A server that leaves a child, and a daemon that has left its session.
  private func service(
    _ mark: Mark, client: String, first: String = "true", isReady: Bool = true
  ) -> String {
    """
    max_parallel: 1
    steps:
      - id: server
        run: |
          \(first)
          sleep \(mark) & setsid -f sleep \(mark)
          touch up
          wait
        stop: {grace: 300ms}
        background: {ready: [{command: "\(isReady ? "test -e up" : "sleep 60")", every: 20ms}]}
      - {id: client, run: \(client), depends_on: [server]}
    """
  }
}

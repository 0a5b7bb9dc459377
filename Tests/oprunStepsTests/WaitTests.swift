// `wait`: what is ready ends it, what is not is named.

import Foundation
import Testing

@testable import oprun_steps

struct WaitTests {
  @Test func `all kinds of conditions are waited for`() throws {
    let workspace = try Workspace()
    let server = try LoopbackServer { request, connection in
      // Not ready yet when it is asked first.
      connection.answer(request.number < 2 ? "503 Starting" : "200 OK")
    }
    try workspace.write("", to: "ready")
    let end = try workspace.run(
      "wait", "--file=ready", "--tcp=127.0.0.1:\(server.port)", "--http=\(server.url)/health",
      "--command=test -e ready", "--every=20ms", "--timeout=20s")
    #expect(end.status == 0)
    #expect(
      end.output.split(separator: "\n").sorted() == [
        "command 'test -e ready' after TIME", "file 'ready' after TIME",
        "http 'http://SERVER/health' after TIME", "tcp 'SERVER' after TIME",
      ])
    #expect(server.requests.count == 3)
  }

  @Test func `a file that comes later ends the wait`() throws {
    let workspace = try Workspace()
    let program = try workspace.start(words: ["wait", "--file=late", "--every=10ms"])
    try workspace.write("", to: "late")
    #expect(program.wait().status == 0)
  }

  @Test func `what does not become ready is named with its obstacle`() throws {
    let workspace = try Workspace()
    let closed = try LoopbackServer { _, _ in }.port
    let end = try workspace.run(
      "wait", "--file=never", "--tcp=127.0.0.1:\(closed)", "--command=exit 3",
      "--command=sleep 60", "--every=20ms", "--timeout=300ms")
    #expect(end.status == 1)
    #expect(
      end.errors == """
        oprun-steps: not ready after TIME: file 'never': there is none
        oprun-steps: not ready after TIME: tcp 'SERVER': connection refused
        oprun-steps: not ready after TIME: command 'exit 3': exits with 3
        oprun-steps: not ready after TIME: command 'sleep 60': takes too long

        """)
  }

  @Test func `without time there is one look, and it is a whole one`() throws {
    let server = try LoopbackServer { _, connection in
      usleep(50_000)
      connection.answer()
    }
    let workspace = try Workspace()
    let ready = try workspace.run(
      "wait", "--http=\(server.url)/", "--tcp=127.0.0.1:\(server.port)", "--command=sleep 0.05",
      "--timeout=0s")
    #expect(ready.status == 0, "\(ready.errors)")
    let missing = try workspace.run("wait", "--file=never", "--timeout=0s")
    #expect(missing.errors == "oprun-steps: not ready after TIME: file 'never': there is none\n")
  }

  @Test func `what is no address is refused`() throws {
    let end = try Workspace().run("wait", "--tcp=localhost")
    #expect(end.status == 2)
    #expect(end.errors.hasPrefix("oprun-steps: '--tcp' wants 'host:port', found 'localhost'\n"))
  }
}

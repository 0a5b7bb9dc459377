// `wait`: it ends when everything is ready, and names what is not.

import Foundation
import TestSupport
import Testing

@testable import oprun_steps

@Suite(.blocking) struct WaitTests {
  @Test func `all kinds of conditions are waited for`() throws {
    let workspace = try Workspace()
    let server = try LoopbackServer { request, connection in
      // It is not ready at the first request.
      connection.answer(request.number < 2 ? "503 Starting" : "200 OK")
    }
    try workspace.write("", to: "ready")
    let end = try workspace.run(
      "wait", "--file=ready", "--tcp=127.0.0.1:\(server.port)", "--http=\(server.url)/health",
      "--command=test -e ready", "--every=20ms", "--timeout=5m")
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
    let closed = try ClosedPort()
    let isNamed = try once { limit in
      let end = try workspace.run(
        "wait", "--file=never", "--tcp=127.0.0.1:\(closed.number)", "--command=exit 3",
        "--command=sleep 6000", "--every=20ms", "--timeout=\(limit)")
      #expect(end.status == 1)
      // On a slow machine the limit can come before the first look is over.
      return end.errors == """
        oprun-steps: not ready after TIME: file 'never': it does not exist
        oprun-steps: not ready after TIME: tcp 'SERVER': connection refused
        oprun-steps: not ready after TIME: command 'exit 3': exits with 3
        oprun-steps: not ready after TIME: command 'sleep 6000': takes too long

        """
    }
    #expect(isNamed)
  }

  @Test func `a command finds signals as it should, and its status is not lost`() throws {
    let workspace = try Workspace()
    let pipe = try workspace.run(
      "wait", "--command=while :; do echo x; done | head -1", "--timeout=0s")
    #expect(pipe.errors == "")
    let program = quotedForShell(builtProgram("oprun-steps"))
    let child = try Child(
      script: """
        cd \(quotedForShell(workspace.folder.path)) && exec python3 -S -c '
        import os, signal, sys
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        os.execv(sys.argv[1], sys.argv[1:])
        ' \(program) wait '--command=exit 3' --timeout=0s >out 2>err
        """)
    #expect(child.wait() == 1)
    #expect(workspace.content("err").hasSuffix("command 'exit 3': exits with 3\n"))
  }

  @Test func `a signal that ends the wait ends its command`() throws {
    let workspace = try Workspace()
    let program = try workspace.start(words: ["wait", "--command=echo $$ >id; sleep 60; :"])
    while !workspace.content("id").hasSuffix("\n") { usleep(1000) }
    let command = try #require(Int32(workspace.content("id").dropLast()))
    kill(program.processID, SIGTERM)
    #expect(program.wait().status == 128 + SIGTERM)
    while kill(command, 0) == 0 { usleep(1000) }
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
    #expect(
      missing.errors == "oprun-steps: not ready after TIME: file 'never': it does not exist\n")
  }

  @Test func `looks at files and ports load no library that transfers or images need`() throws {
    let server = try LoopbackServer { _, connection in connection.answer() }
    let workspace = try Workspace()
    try workspace.write("", to: "ready")
    let mapped = "grep -E 'lib(vips|curl|crypto)' /proc/$PPID/maps"
    let end = try workspace.run(
      "wait", "--file=ready", "--tcp=127.0.0.1:\(server.port)",
      "--command=sleep 0.05; ! \(mapped)", "--timeout=0s")
    #expect(end.status == 0, "\(end.errors)")
    // The probe can see: HTTP needs libcurl.
    let other = try workspace.run(
      "wait", "--http=\(server.url)/", "--command=\(mapped)", "--every=20ms", "--timeout=5m")
    #expect(!other.errors.contains("command"), "\(other.errors)")
  }

  @Test(arguments: ["--version", "--help", "help", "resize --help"])
  func `what only prints loads no library that steps need`(words: String) throws {
    let end = try Workspace().run(
      words: words.split(separator: " ").map(String.init), environment: ["LD_DEBUG": "files"])
    #expect(end.status == 0)
    #expect(end.errors.contains("libc.so"))
    #expect(!end.errors.contains(/lib(vips|curl|crypto)\.so/))
  }

  /// The response of a server to a check, and the message about it.
  @Test(
    arguments: [
      ("HTTP/1.1 204 No Content\r\n\r\n", nil), ("HTTP/1.0 302 Found\r\n", nil),
      ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: <x>\r\n\r\nHTTP/1.1 200\r\n", nil),
      ("HTTP/1.1 404 Not Found\r\n\r\n", "answers 404"),
      ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 503 Busy\r\n\r\n", "answers 503"),
      ("", "empty reply from server"), ("HTTP/1.1 200 OK", "empty reply from server"),
      ("SSH-2.0-OpenSSH_9.2\r\n", "received HTTP/0.9 when not allowed"),
      ("HTTP/1.1 20 OK\r\n", "unsupported response code in HTTP response"),
      (
        "HTTP/1.1 100 Go on\r\n" + String(repeating: "X: y\r\n", count: 20_000),
        "answers 100"
      ),
    ] as [(String, String?)])
  func `a look at a server reads the status and no more`(answer: String, obstacle: String?) throws {
    let server = try LoopbackServer { _, connection in connection.write(answer) }
    let url = "\(server.url)/health?full=1#top"
    let end = try Workspace().run("wait", "--http=\(url)", "--timeout=0s")
    #expect(
      end.errors
        == (obstacle.map {
          "oprun-steps: not ready after TIME: http '\(url.replacing(server.url, with: "http://SERVER"))': \($0)\n"
        } ?? ""))
    #expect(server.requests.map(\.path) == ["/health?full=1"])
    #expect(server.requests.first?.headers["host"] == "127.0.0.1:\(server.port)")
  }

  @Test func `what is no address is refused`() throws {
    let end = try Workspace().run("wait", "--tcp=localhost")
    #expect(end.status == 2)
    #expect(end.errors.hasPrefix("oprun-steps: '--tcp' wants 'host:port', found 'localhost'\n"))
  }
}

// Servers that are broken or malicious: the item fails with a clear message, and nothing is left
// under its name.

import Foundation
import TestSupport
import Testing

@testable import oprun_steps

/// Downloads `/x` without further attempts, and returns what was reported and left.
private func download(
  _ server: LoopbackServer, _ more: String..., path: String = "/x", allows: Bool = true
) throws -> (message: String, files: [String], status: Int32) {
  let workspace = try Workspace()
  var words = ["download", "--url=\(server.url)\(path)", "--to=x", "--retries=0"] + more
  if allows { words.append("--allow-private") }
  let end = try workspace.run(words: words)
  let message = end.errors.replacingOccurrences(of: "failed: http://SERVER\(path): ", with: "")
  return (message, workspace.files.filter { $0 != ".oprun-download.json" }, end.status)
}

@Suite(.blocking) struct HostileServerTests {
  @Test func `one that stalls is given up`() throws {
    let server = try LoopbackServer { _, connection in
      connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello")
      connection.waitForEnd()
    }
    let started = ContinuousClock.now
    let end = try download(server, "--stall-timeout=300ms")
    #expect(end.message == "no progress in TIME\n")
    #expect(end.files == [])
    #expect(end.status == 1)
    #expect(started.duration(to: .now) < .seconds(30), "the usual limit")
  }

  @Test func `one that drips is given up when its time is over`() throws {
    let server = try LoopbackServer { _, connection in
      connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
      while connection.write("a") { usleep(20_000) }
    }
    let end = try download(server, "--timeout=400ms", "--stall-timeout=10m")
    #expect(end.message == "not done after TIME\n")
    #expect(end.files == [])
  }

  @Test func `one that leads on and on is given up when its time is over`() throws {
    let server = try LoopbackServer { request, connection in
      let number = Int(request.path.dropFirst(2)) ?? 0
      // All of them take longer than the limit, each by itself less.
      usleep(400_000)
      connection.answer(
        number < 4 ? "302 Found" : "200 OK", ["Location: /x\(number + 1)"], "hello")
    }
    let end = try download(server, "--timeout=1s")
    #expect(end.message == "not done after TIME\n")
    #expect(end.files == [])
  }

  @Test func `lengths whose sum is no number are announced in vain`() throws {
    let server = try LoopbackServer { _, connection in
      connection.write("HTTP/1.1 200 OK\r\nContent-Length: 1099511627775000000\r\n\r\nhello")
    }
    let workspace = try Workspace()
    let end = try workspace.run(
      "download", "--url=\(server.url)/x", "--to=x", "--max-bytes=1000000T", "--retries=10",
      "--retry-delay=1ms", "--allow-private")
    #expect(end.status == 1)
    #expect(end.errors.contains("1099511627774999995 bytes remaining"), "\(end.errors)")
    #expect(server.requests.count == 11)
  }

  @Test func `one that closes early is noticed`() throws {
    let server = try LoopbackServer { _, connection in
      connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello")
    }
    let end = try download(server)
    #expect(end.message == "transfer closed with 95 bytes remaining to read\n")
    #expect(end.files == [])
  }

  @Test func `one that says nothing is noticed`() throws {
    let server = try LoopbackServer { _, _ in }
    #expect(try download(server).message == "empty reply from server\n")
  }

  @Test func `a header line with a carriage return in its name is told as such`() throws {
    let server = try LoopbackServer { _, connection in
      connection.write("HTTP/1.1 200 OK\r\nX-A\rB: c\r\nContent-Length: 5\r\n\r\nhello")
    }
    let end = try download(server)
    #expect(end.message == "sends a header line with a carriage return in its name\n")
    #expect(end.files == [])
  }

  @Test func `what comes after the announced length is not content`() throws {
    let server = try LoopbackServer { _, connection in
      connection.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello, world")
    }
    let workspace = try Workspace()
    _ = try workspace.run("download", "--url=\(server.url)/x", "--to=x", "--allow-private")
    #expect(workspace.content("x") == "hello")
  }

  @Test func `a content without a length is marked: it may have been cut`() throws {
    let server = try LoopbackServer { _, connection in
      connection.write("HTTP/1.0 200 OK\r\n\r\nhello")
    }
    let workspace = try Workspace()
    let end = try workspace.run("download", "--url=\(server.url)/x", "--to=x", "--allow-private")
    #expect(
      end.output == """
        x  5 B  TIME  the server did not say how long it is
        1 file, 5 B received in TIME

        """)
  }

  @Test func `an announced length over the limit is refused at once`() throws {
    let server = try LoopbackServer { _, connection in
      connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10737418240\r\n\r\nhello")
      connection.waitForEnd()
    }
    let end = try download(server, "--max-bytes=1M")
    #expect(end.message == "longer than 1M, the limit ('max_bytes')\n")
    #expect(end.files == [])
  }

  @Test func `a content without end stops at the limit`() throws {
    let server = try LoopbackServer { _, connection in
      connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
      let chunk = Array("10000\r\n".utf8) + [UInt8](repeating: 65, count: 65_536) + [13, 10]
      while connection.write(chunk) {}
    }
    let end = try download(server, "--max-bytes=1M")
    #expect(end.message == "longer than 1M, the limit ('max_bytes')\n")
    #expect(end.files == [])
  }

  @Test func `a packed content is limited by what it unpacks to`() throws {
    let workspace = try Workspace()
    let bomb = Process()
    bomb.executableURL = URL(filePath: "/bin/sh")
    bomb.arguments = [
      "-c", "head -c 50000000 /dev/zero | gzip -9 >\(quotedForShell(workspace.path("bomb")))",
    ]
    try bomb.run()
    bomb.waitUntilExit()
    let packed = [UInt8](FileManager.default.contents(atPath: workspace.path("bomb")) ?? Data())
    #expect((1...100_000).contains(packed.count))
    let server = try LoopbackServer { _, connection in
      connection.write(
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n")
      connection.write(packed)
    }
    #expect(try download(server, "--max-bytes=1M").files == [])
    #expect(
      try download(server, "--max-bytes=1M").message == "longer than 1M, the limit ('max_bytes')\n")
    #expect(try download(server, "--max-bytes=100M").files == ["x"])
  }

  @Test func `a packed content that was cut is no content`() throws {
    let whole: [UInt8] = [
      0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 7, 0, 0x86, 0xa6, 0x10,
      0x36, 5, 0, 0, 0,
    ]
    func end(_ body: [UInt8], _ encoding: String = "gzip") throws -> (String, String) {
      let server = try LoopbackServer { _, connection in
        connection.write(
          "HTTP/1.1 200 OK\r\nContent-Encoding: \(encoding)\r\nContent-Length: \(body.count)\r\n\r\n"
        )
        connection.write(body)
      }
      let workspace = try Workspace()
      let end = try workspace.run(
        "download", "--url=\(server.url)/x", "--to=x", "--retries=0", "--allow-private")
      return (
        workspace.content("x"),
        end.errors.replacingOccurrences(of: "failed: http://SERVER/x: ", with: "")
      )
    }
    #expect(try end(whole) == ("hello", ""))
    #expect(try end(whole + whole) == ("hellohello", ""))
    #expect(try end(Array(whole[10..<17]), "deflate") == ("hello", ""))
    for count in [0, 1, 12, 17, 24] {
      let cut = try end(Array(whole.prefix(count)))
      #expect(cut == ("", "is truncated: the gzip data has no end\n"), "\(count)")
    }
    #expect(try end(whole + [1, 2, 3]) == ("", "cannot be unpacked as 'gzip'\n"))
    #expect(try end([1, 2, 3]) == ("", "cannot be unpacked as 'gzip'\n"))
    #expect(
      try end(whole, "br")
        == (
          "",
          "was sent compressed with 'br', which was not requested; wanted: 'gzip' or 'deflate'\n"
        ))
  }

  @Test func `a content that is packed in transfer is unpacked`() throws {
    let packed: [UInt8] = [
      0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 7, 0, 0x86, 0xa6, 0x10,
      0x36, 5, 0, 0, 0,
    ]
    let server = try LoopbackServer { _, connection in
      connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n19\r\n")
      connection.write(packed)
      connection.write("\r\n0\r\n\r\n")
    }
    let workspace = try Workspace()
    let end = try workspace.run("download", "--url=\(server.url)/x", "--to=x", "--allow-private")
    #expect(end.errors == "")
    #expect(workspace.content("x") == "hello")
  }

  @Test(arguments: ["99999999999999999999", "5\r\nContent-Length: 6", "5, 6"])
  func `a length that is none is refused`(length: String) throws {
    let server = try LoopbackServer { _, connection in
      connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\nhello!")
    }
    let end = try download(server)
    #expect(end.status == 1)
    #expect(end.message.lowercased().contains("length"), "\(end.message)")
    #expect(end.files == [])
  }

  @Test(arguments: ["/y", "y?z=1", "http://127.0.0.1:PORT/y"])
  func `a redirect with a long body is followed`(target: String) throws {
    let server = try LoopbackServer { request, connection in
      if request.path.hasPrefix("/y") { return connection.answer("200 OK", [], "hello") }
      let port = request.headers["host"]?.split(separator: ":").last ?? ""
      connection.answer(
        "302 Found", ["Location: \(target.replacing("PORT", with: port))"],
        String(repeating: "x", count: 200_000))
    }
    #expect(try download(server).files == ["x"])
  }

  @Test func `a header line that is too long is told as that`() throws {
    let server = try LoopbackServer { _, connection in
      connection.answer("200 OK", ["X: \(String(repeating: "a", count: 110 << 10))"], "hello")
    }
    #expect(
      try download(server).message
        == "sends a header line of more than 100K\n")
  }

  @Test func `a content in chunks that ends well is not marked`() throws {
    let server = try LoopbackServer { _, connection in
      connection.write(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
    }
    let workspace = try Workspace()
    let end = try workspace.run("download", "--url=\(server.url)/x", "--to=x", "--allow-private")
    #expect(end.output == "x  5 B  TIME\n1 file, 5 B received in TIME\n")
  }

  @Test func `headers without end are refused`() throws {
    let server = try LoopbackServer { _, connection in
      connection.write("HTTP/1.1 200 OK\r\n")
      while connection.write("X-Flood: \(String(repeating: "a", count: 1000))\r\n") {}
    }
    #expect(try download(server).message == "sends more than 256K of headers\n")
  }

  @Test func `trailers without end are refused`() throws {
    let server = try LoopbackServer { _, connection in
      connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n")
      while connection.write("X-Flood: \(String(repeating: "a", count: 1000))\r\n") {}
    }
    let end = try download(server)
    #expect(end.message == "sends more than 256K of headers\n")
    #expect(end.files == [])
  }

  @Test func `trailers of an error are counted, too`() throws {
    let server = try LoopbackServer { _, connection in
      connection.write("HTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n")
      while connection.write("X-Flood: \(String(repeating: "a", count: 1000))\r\n") {}
    }
    #expect(try download(server).message == "sends more than 256K of headers\n")
  }

  @Test func `a few trailers do no harm`() throws {
    let server = try LoopbackServer { _, connection in
      connection.write(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n")
    }
    #expect(try download(server).files == ["x"])
  }

  @Test func `interim answers without end are refused`() throws {
    let server = try LoopbackServer { _, connection in
      while connection.write("HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n") {}
    }
    #expect(try download(server).message == "sends more than 256K of headers\n")
  }

  @Test func `each answer of a chain of redirects may have headers of its own`() throws {
    let much = (0..<200).map { "X-\($0): \(String(repeating: "a", count: 1000))" }
    let server = try LoopbackServer { request, connection in
      if request.number < 3 {
        return connection.answer("302 Found", ["Location: /x"] + much)
      }
      connection.answer("200 OK", much, "hello")
    }
    #expect(try download(server).files == ["x"])
  }

  @Test func `what is no HTTP is refused`() throws {
    let server = try LoopbackServer { _, connection in connection.write("hello\n") }
    #expect(try download(server).message == "received HTTP/0.9 when not allowed\n")
  }

  @Test func `a redirect in a cycle ends`() throws {
    let server = try LoopbackServer { _, connection in
      connection.answer("302 Found", ["Location: /x"])
    }
    #expect(try download(server).message == "redirects more than 5 times\n")
    #expect(server.requests.count == 6 * 1)
  }

  @Test(arguments: ["file:///etc/passwd", "gopher://127.0.0.1/", "ftp://127.0.0.1/x"])
  func `a redirect to something other than http is refused`(target: String) throws {
    let server = try LoopbackServer { _, connection in
      connection.answer("302 Found", ["Location: \(target)"])
    }
    let message = try download(server).message.replacing("SERVER", with: "127.0.0.1")
    #expect(message == "redirects to '\(target)', wanted: http or https\n")
  }

  @Test(arguments: ["127.0.0.1", "127.1", "2130706433", "0x7f000001", "[::ffff:127.0.0.1]", "0"])
  func `a redirect to this machine is refused, however it is written`(host: String) throws {
    let inner = try LoopbackServer { _, connection in connection.answer("200 OK", [], "secret") }
    let server = try LoopbackServer { _, connection in
      connection.answer("302 Found", ["Location: http://\(host):\(inner.port)/"])
    }
    let end = try download(
      server, "--allow=127.0.0.1:\(server.port)", allows: false)
    #expect(end.message.contains("an address of this machine; use 'allow: "))
    #expect(inner.requests.count == 0)
    #expect(end.files == [])
  }

  @Test func `an address of this machine is refused unless it is allowed`() throws {
    let server = try LoopbackServer { _, connection in connection.answer("200 OK", [], "hello") }
    let end = try download(server, allows: false)
    #expect(
      end.message == """
        127.0.0.1 is an address of this machine; use 'allow: SERVER' to allow it, or 'allow_private: true' to allow all such addresses

        """)
    #expect(server.requests.count == 0)
    #expect(try download(server, "--allow=127.0.0.1:\(server.port)", allows: false).status == 0)
    #expect(try download(server, "--allow=127.0.0.1:1", allows: false).status == 1)
  }

  @Test func `secrets stay with their host after a redirect`() throws {
    let other = try LoopbackServer { _, connection in connection.answer("200 OK", [], "hello") }
    let server = try LoopbackServer { _, connection in
      connection.answer("302 Found", ["Location: \(other.url)/y"])
    }
    let end = try download(
      server, "--headers=Authorization: Bearer x", "--headers=X-Key: y", "--headers=Accept: a/b")
    #expect(end.status == 0)
    #expect(server.requests.first?.headers["authorization"] == "Bearer x")
    #expect(other.requests.first?.headers["authorization"] == nil)
    #expect(other.requests.first?.headers["x-key"] == nil)
    #expect(other.requests.first?.headers["accept"] == "a/b")
  }

  @Test func `what was not asked for is not believed`() throws {
    let unchanged = try LoopbackServer { _, connection in connection.answer("304 Not Modified") }
    #expect(
      try download(unchanged).message == "answers 304 (not modified) without having been asked\n")
    let part = try LoopbackServer { _, connection in
      connection.answer("206 Partial Content", ["Content-Range: bytes 5-9/10"], "world")
    }
    #expect(
      try download(part).message == "sends a part that was not asked for: 'bytes 5-9/10'\n")
  }
}

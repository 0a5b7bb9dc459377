// What is retried, when, and what can be done with the rest of an earlier attempt.

import Foundation
import TestSupport
import Testing

@testable import oprun_steps

@Suite(.blocking) struct RetryTests {
  private func download(
    _ server: LoopbackServer, in workspace: Workspace, _ more: String...
  ) throws -> ProgramEnd {
    try workspace.run(
      words: [
        "download", "--url=\(server.url)/x", "--to=x", "--allow-private", "--retry-delay=10ms",
      ] + more)
  }

  @Test(arguments: ["500 Oops", "503 Busy", "429 Slow Down", "408 Timeout", "425 Too Early"])
  func `a failure that may pass is tried again`(status: String) throws {
    let server = try LoopbackServer { request, connection in
      if request.number < 2 {
        connection.answer(status)
      } else {
        connection.answer("200 OK", [], "a")
      }
    }
    let workspace = try Workspace()
    let end = try download(server, in: workspace)
    #expect(end.output == "x  1 B  TIME  attempt 3\n1 file, 1 B received in TIME\n")
    #expect(workspace.content("x") == "a")
  }

  @Test(arguments: ["400 Bad", "403 No", "404 Not Found", "410 Gone"])
  func `one that will not pass is not`(status: String) throws {
    let server = try LoopbackServer { _, connection in connection.answer(status) }
    #expect(try download(server, in: Workspace()).status == 1)
    #expect(server.requests.count == 1)
  }

  @Test func `there are so many attempts and no more`() throws {
    let server = try LoopbackServer { _, connection in connection.answer("500 Oops") }
    let end = try download(server, in: Workspace(), "--retries=2")
    #expect(
      end.errors == "failed: http://SERVER/x: answers 500 (internal server error)\n")
    #expect(server.requests.count == 3)
  }

  /// In which order three files are requested, the first of which is not to be had at once.
  private func order(of words: String...) throws -> [String] {
    let order = LogOfPaths()
    let server = try LoopbackServer { request, connection in
      order.append(request.path)
      if request.path == "/1", request.number == 0 {
        connection.answer("503 Busy")
      } else {
        connection.answer("200 OK", [], "a")
      }
    }
    let end = try Workspace().run(
      words: ["download", "--to={name}", "--allow-private"]
        + (1...3).map { "--urls=\(server.url)/\($0)" } + words)
    #expect(end.status == 0)
    return order.all
  }

  @Test func `other items go on while one waits, in a queue of one`() throws {
    #expect(
      try once {
        try order(of: "--retry-delay=\($0)", "--max-parallel=1") == ["/1", "/2", "/3", "/1"]
      })
  }

  @Test func `an item that waits holds no place with its host either`() throws {
    #expect(
      try once { try order(of: "--retry-delay=\($0)", "--per-host=1") == ["/1", "/2", "/3", "/1"] })
  }

  @Test func `a wait of more than five minutes is not taken`() throws {
    let server = try LoopbackServer { _, connection in
      connection.answer("503 Busy", ["Retry-After: 301"])
    }
    #expect(
      try download(server, in: Workspace()).errors == """
        failed: http://SERVER/x: answers 503 and asks for a wait of TIME, longer than 5 minutes

        """)
    #expect(server.requests.count == 1)
  }

  @Test func `delays grow, have chance in them, and are at least what the server wants`() {
    let policy = RetryPolicy(limit: 9, delay: 1_000)
    let failure = ItemFailure("x", mayPass: true)
    func delay(_ attempt: Int, _ chance: Double) -> Int64? {
      policy.delay(after: failure, attempt: attempt, chance: chance)
    }
    #expect((1...4).map { delay($0, 1) } == [1_000, 2_000, 4_000, 8_000])
    #expect((1...4).map { delay($0, 0) } == [500, 1_000, 2_000, 4_000])
    #expect(delay(10, 0.5) == nil)
    #expect(policy.delay(after: ItemFailure("x"), attempt: 1, chance: 0) == nil)
    let told = ItemFailure("x", mayPass: true, retryAfter: 2)
    #expect(policy.delay(after: told, attempt: 1, chance: 0) == 2_000_000_000)
    let patient = RetryPolicy(limit: 99, delay: 1_000_000_000)
    #expect(patient.delay(after: failure, attempt: 60, chance: 1) == RetryPolicy.longestDelay)
    let slow = RetryPolicy(limit: 99, delay: 86_400_000_000_000)
    #expect(slow.delay(after: failure, attempt: 60, chance: 1) == RetryPolicy.longestDelay)
  }

  @Test func `Retry-After is a number or a date`() {
    func wait(_ value: String) -> Int? {
      var head = ResponseHead()
      for line in ["HTTP/1.1 503 Busy\r\n", "Retry-After: \(value)\r\n"] {
        _ = Array(line.utf8).withUnsafeBytes { head.take($0) }
      }
      return head.retryAfter(now: 784_111_777)
    }
    #expect(wait("120") == 120)
    #expect(wait("Sun, 06 Nov 1994 08:49:47 GMT") == 10)
    #expect(wait("Sun, 06 Nov 1994 08:49:00 GMT") == 0)
    #expect(wait("Thu, 29 Feb 1996 00:00:00 GMT") == 41_440_223)
    #expect(wait("soon") == nil)
  }
}

@Suite(.blocking) struct ResumeTests {
  /// A server that sends half of the content the first time, and then whatever is requested.
  private func halting(
    tag: String = "\"v1\"", _ second: @escaping @Sendable (Connection) -> Void
  ) throws -> LoopbackServer {
    try LoopbackServer { request, connection in
      guard request.number == 0 else { return second(connection) }
      connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\nETag: \(tag)\r\n\r\nhello")
    }
  }

  private func run(_ server: LoopbackServer, _ more: String...) throws -> (Workspace, ProgramEnd) {
    let workspace = try Workspace()
    let words =
      ["download", "--url=\(server.url)/x", "--to=x", "--allow-private", "--retry-delay=10ms"]
      + more
    return (workspace, try workspace.run(words: words))
  }

  @Test func `a part is gone on with`() throws {
    let server = try halting { connection in
      connection.answer(
        "206 Partial Content", ["Content-Range: bytes 5-9/10", "ETag: \"v1\""], "world")
    }
    let (workspace, end) = try run(server)
    #expect(end.status == 0)
    #expect(workspace.content("x") == "helloworld")
    #expect(server.requests.last?.headers["range"] == "bytes=5-")
    #expect(server.requests.last?.headers["if-range"] == "\"v1\"")
    #expect(workspace.files == [".oprun-download.json", "x"])
  }

  @Test func `a part that is not to be resumed is not left`() throws {
    let server = try halting { connection in connection.answer("503 Busy") }
    let (workspace, end) = try run(server, "--resume=false", "--retries=0")
    #expect(end.status == 1)
    #expect(workspace.files == [".oprun-download.json"])
  }

  @Test func `a content that has changed is begun anew`() throws {
    let server = try halting { connection in
      connection.answer("200 OK", ["ETag: \"v2\""], "something")
    }
    let (workspace, end) = try run(server)
    #expect(end.status == 0)
    #expect(workspace.content("x") == "something")
  }

  @Test(arguments: [
    "bytes 4-9/10", "bytes 5-9/11", "bytes 6-9/10", "bytes */10", "bytes 5-8/10", "bytes 5-9/x",
    "bytes +5-9/10", "bytes 5--9/10", "bytes 5-9223372036854775807/10",
    "bytes 5-9223372036854775807/*",
  ])
  func `another range than was asked for is refused`(range: String) throws {
    let server = try halting { connection in
      connection.answer("206 Partial Content", ["Content-Range: \(range)"], "world")
    }
    let (workspace, end) = try run(server)
    #expect(
      end.errors == """
        failed: http://SERVER/x: sends another range than was asked for: from byte 5 wanted, \
        found '\(range)'

        """)
    #expect(workspace.files == [".oprun-download.json"])
  }

  @Test func `a part of another state is refused`() throws {
    let server = try halting { connection in
      connection.answer(
        "206 Partial Content", ["Content-Range: bytes 5-9/10", "ETag: \"v2\""], "world")
    }
    #expect(try run(server).1.status == 1)
  }

  @Test(arguments: ["W/\"v1\"", "v1"])
  func `without a strong tag everything is fetched again`(tag: String) throws {
    let server = try halting(tag: tag) { $0.answer("200 OK", [], "helloworld") }
    let (workspace, end) = try run(server)
    #expect(end.status == 0)
    #expect(workspace.content("x") == "helloworld")
    #expect(server.requests.last?.headers["range"] == nil)
  }

  @Test func `with resume off everything is fetched again`() throws {
    let server = try halting { $0.answer("200 OK", [], "helloworld") }
    #expect(try run(server, "--resume=false").1.status == 0)
    #expect(server.requests.last?.headers["range"] == nil)
  }

  @Test func `bytes of all attempts count as received`() throws {
    let resumed = try halting { connection in
      connection.answer(
        "206 Partial Content", ["Content-Range: bytes 5-9/10", "ETag: \"v1\""], "world")
    }
    #expect(
      try run(resumed).1.output
        == "x  10 B  TIME  attempt 2\n1 file, 10 B received in TIME\n")
    let renewed = try halting { $0.answer("200 OK", ["ETag: \"v2\""], "something") }
    #expect(
      try run(renewed).1.output
        == "x  9 B  TIME  attempt 2\n1 file, 14 B received in TIME\n")
    let failing = try halting { $0.answer("404 Not Found") }
    let (workspace, _) = try run(failing)
    #expect(workspace.content(".oprun-download.json").contains("\"files\":[],\"bytes\":5,"))
  }

  @Test func `a part that is all there was is fetched again`() throws {
    let server = try LoopbackServer { request, connection in
      switch request.number {
      case 0:
        connection.write(
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nETag: \"v1\"\r\n\r\n5\r\nhello\r\n")
      case 1: connection.answer("416 Range Not Satisfiable", ["Content-Range: bytes */5"])
      default: connection.answer("200 OK", [], "hello")
      }
    }
    let (workspace, end) = try run(server)
    #expect(end.errors == "")
    #expect(workspace.content("x") == "hello")
    #expect(server.requests.map { $0.headers["range"] } == [nil, "bytes=5-", nil])
  }

  @Test func `a part that was damaged is fetched again if the hash shows it`() throws {
    let server = try LoopbackServer { request, connection in
      switch request.number {
      case 0:
        connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\nETag: \"v1\"\r\n\r\nHELLO")
      case 1: connection.answer("206 Partial Content", ["Content-Range: bytes 5-9/10"], "world")
      default: connection.answer("200 OK", [], "helloworld")
      }
    }
    let hash = "936a185caaa266bb9cbe981e9e05cb78cd732b0b3280eb944412bb6f8f8f07af"
    let (workspace, end) = try run(server, "--sha256=\(hash)")
    #expect(end.errors == "")
    #expect(workspace.content("x") == "helloworld")
    #expect(server.requests.map { $0.headers["range"] } == [nil, "bytes=5-", nil])
  }

  @Test func `a part survives the end of the program, kill -9 included`() throws {
    let (workspace, server) = try Interrupted().killed()
    #expect(!workspace.exists("x"))
    let words = ["download", "--url=\(server.url)/x", "--to=x", "--allow-private"]
    #expect(try workspace.run(words: words).errors == "")
    #expect(workspace.content("x") == "helloworld")
    #expect(server.requests.map { $0.headers["range"] } == [nil, "bytes=5-"])
    #expect(workspace.files == [".oprun-download.json", "x"])
  }

  /// The parts are received at the same time, because the record next to each takes a second.
  @Test func `a part that was altered is not gone on with`() throws {
    let ways = [
      "content", "longer", "shorter", "writable", "second name", "record", "no record", "link",
      "writable record",
    ]
    let parts = try ways.map { ($0, try Interrupted()) }
    for (how, part) in parts {
      let (workspace, server) = try part.killed()
      try alter(how, in: workspace, server)
    }
  }

  private func alter(_ how: String, in workspace: Workspace, _ server: LoopbackServer) throws {
    let part = workspace.path("x.part")
    let files = FileManager.default
    var goesOn = false
    switch how {
    case "content": try workspace.write("hellO", to: "x.part")
    case "shorter": try workspace.write("hell", to: "x.part")
    case "longer":
      // More than was recorded may have been received: it is dropped.
      try workspace.write("hello, and more", to: "x.part")
      goesOn = true
    case "writable": try files.setAttributes([.posixPermissions: 0o666], ofItemAtPath: part)
    case "second name": try files.linkItem(atPath: part, toPath: workspace.path("y"))
    case "record":
      let record = workspace.content("x.part.from")
      try workspace.write(record.replacing("\n5\n", with: "\n3\n"), to: "x.part.from")
    case "no record": try files.removeItem(atPath: part + ".from")
    case "writable record":
      try files.setAttributes([.posixPermissions: 0o622], ofItemAtPath: part + ".from")
    default:
      try files.moveItem(atPath: part + ".from", toPath: workspace.path("y"))
      try files.createSymbolicLink(atPath: part + ".from", withDestinationPath: "y")
    }
    let end = try workspace.run("download", "--url=\(server.url)/x", "--to=x", "--allow-private")
    #expect(end.errors == "", "\(how)")
    #expect(workspace.content("x") == "helloworld", "\(how)")
    #expect(
      server.requests.map { $0.headers["range"] } == [nil, goesOn ? "bytes=5-" : nil], "\(how)")
    if how == "second name" { #expect(workspace.content("y") == "hello") }
  }

  @Test func `nobody else may write to a part, and its file gets the usual permissions`()
    async
  {
    // A mask is that of a whole process.
    await #expect(processExitsWith: .success) {
      let workspace = try Workspace()
      umask(0o002)
      let part = try PartFile.open(at: workspace.path("x.part"), mode: 0o666)
      var status = stat()
      #expect(stat(part.path, &status) == 0 && status.st_mode & 0o777 == 0o644)
      try part.finish(as: workspace.path("x"))
      #expect(stat(workspace.path("x"), &status) == 0 && status.st_mode & 0o777 == 0o664)
    }
  }
}

/// The paths in the order in which they were requested.
private final class LogOfPaths: @unchecked Sendable {  // under a lock
  private let lock = NSLock()
  private var paths: [String] = []

  func append(_ path: String) { lock.withLock { paths.append(path) } }
  var all: [String] { lock.withLock { paths } }
}

/// A download that is in the middle of a content.
private struct Interrupted {
  private let workspace: Workspace
  private let server: LoopbackServer
  private let program: RunningProgram

  init() throws {
    workspace = try Workspace()
    server = try LoopbackServer { [folder = workspace.folder] request, connection in
      if request.headers["range"] != nil {
        return connection.answer("206 Partial Content", ["Content-Range: bytes 5-9/10"], "world")
      }
      if request.number > 0 { return connection.answer("200 OK", [], "helloworld") }
      connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\nETag: \"v1\"\r\n\r\nhel")
      // The record next to a part is written with what comes a second after the beginning.
      while !Self.hasPart(in: folder) { usleep(1000) }
      usleep(1_100_000)
      connection.write("lo")
      connection.waitForEnd()
    }
    program = try workspace.start(
      words: [
        "download", "--url=\(server.url)/x", "--to=x", "--allow-private", "--stall-timeout=10m",
      ], environment: ["OPRUN_PROGRESS": "cache.progress"])
  }

  /// Whether the beginning has been received, which is in a file that has no name yet.
  private static func hasPart(in folder: URL) -> Bool {
    let progress = try? String(
      contentsOf: folder.appending(path: "cache.progress"), encoding: .utf8)
    return progress?.contains("\"bytes\":3,") == true
  }

  /// What is left of it when it is killed.
  func killed() throws -> (Workspace, LoopbackServer) {
    while !workspace.exists("x.part.from") { usleep(1000) }
    kill(program.processID, SIGKILL)
    #expect(program.wait().status == 137)
    #expect(workspace.content("x.part") == "hello")
    return (workspace, server)
  }
}

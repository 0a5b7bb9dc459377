// Servers of a shared cache that are broken, slow or malicious: a step runs as if there were none, and nothing wrong is
// restored.

import Foundation
import TestSupport
import Testing

@testable import oprun_steps

/// What a server does with the true response to a request.
struct Lie: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let notice: String
  /// Answers in place of the true one; false to tell the truth.
  let tell: @Sendable (_ path: String, _ truth: [UInt8], _ connection: Connection) -> Bool

  init(
    _ name: String, _ notice: String,
    _ tell: @escaping @Sendable (String, [UInt8], Connection) -> Bool
  ) {
    testDescription = name
    self.notice = notice
    self.tell = tell
  }

  /// One that changes a part of what is stored.
  static func changing(
    _ folder: String, _ name: String, _ notice: String,
    _ change: @escaping @Sendable ([UInt8]) -> [UInt8]
  ) -> Lie {
    Lie(name, notice) { path, truth, connection in
      guard path.hasPrefix("/\(folder)/") else { return false }
      connection.answer(body: change(truth))
      return true
    }
  }

  static let damagedResult = "sends a damaged result for '/ac/NAME'"
  static let otherContent = "sends something else for '/cas/NAME'"

  static let all: [Lie] = [
    .changing("ac", "an empty result", damagedResult) { _ in [] },
    .changing("ac", "a page", damagedResult) { _ in Array("<html>hello</html>".utf8) },
    .changing("ac", "a cut result", damagedResult) { $0.dropLast() },
    .changing("ac", "a longer result", damagedResult) { $0 + [0] },
    .changing("ac", "a flipped bit", damagedResult) { bytes in
      bytes.enumerated().map { $0 == bytes.count / 2 ? $1 ^ 1 : $1 }
    },
    .changing("cas", "other content of the same size", otherContent) { $0.map { $0 ^ 1 } },
    .changing("cas", "cut content", otherContent) { $0.dropLast() },
    .changing("cas", "longer content", "sends more than SIZE bytes for '/cas/NAME'") { $0 + [0] },
    Lie("content without an end", "sends more than SIZE bytes for '/cas/NAME'") { path, _, to in
      guard path.hasPrefix("/cas/") else { return false }
      to.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
      let chunk = Array("10000\r\n".utf8) + [UInt8](repeating: 65, count: 65_536) + [13, 10]
      while to.write(chunk) {}
      return true
    },
    Lie("a result of 1 TB", "sends more than SIZE bytes for '/ac/NAME'") { _, _, connection in
      connection.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\nhello")
      connection.waitForEnd()
      return true
    },
    Lie("packed content", "sends content compressed with 'gzip', which was not requested") {
      path, truth, connection in
      connection.answer(headers: ["Content-Encoding: gzip"], body: truth)
      return true
    },
    Lie("a redirect", "answers 302, a redirect, which is not followed") { _, _, connection in
      connection.answer("302 Found", ["Location: http://127.0.0.1:9/"])
      return true
    },
    Lie("an error", "answers 500 (internal server error)") { _, _, connection in
      connection.answer("500 Oops", [], String(repeating: "x", count: 200_000))
      return true
    },
    Lie("silence", "empty reply from server") { _, _, _ in true },
    Lie("no HTTP", "received HTTP/0.9 when not allowed") { _, _, connection in
      connection.write("hello\r\n\r\n")
      return true
    },
    // One that has lost a content is not malicious.
    Lie("a content that is gone", "") { path, _, connection in
      guard path.hasPrefix("/cas/") else { return false }
      connection.answer("404 Not Found")
      return true
    },
  ]
}

extension Connection {
  func answer(headers: [String] = [], body: [UInt8]) {
    let lines = ["HTTP/1.1 200 OK", "Content-Length: \(body.count)"] + headers
    isKept = write(lines.joined(separator: "\r\n") + "\r\n\r\n") && write(body)
  }
}

@Suite(.blocking) struct HostileSharedCacheTests {
  /// Serves what is stored in a folder, and takes everything.
  static func server(_ folder: String, lie: Lie?) throws -> LoopbackServer {
    try LoopbackServer { request, connection in
      let file = folder + request.path
      if request.method == "PUT" {
        let body = connection.skip(request.headers["content-length"].flatMap { Int($0) } ?? 0)
        _ = FileManager.default.createFile(atPath: file, contents: Data(body))
        return connection.answer("201 Created")
      }
      guard let truth = FileManager.default.contents(atPath: file), request.method == "GET" else {
        return connection.answer("404 Not Found")
      }
      if lie?.tell(request.path, [UInt8](truth), connection) != true {
        connection.answer(body: [UInt8](truth))
      }
    }
  }

  @Test(arguments: Lie.all)
  func `a lie is noticed, and the step runs`(_ lie: Lie) throws {
    let workspace = try Workspace()
    for folder in ["ac", "cas"] { try workspace.write("", to: "stored/\(folder)/.keep") }
    let honest = try Self.server(workspace.path("stored"), lie: nil)
    let machine = try SharingMachine(workspace)
    #expect(try machine.run("--cache-url=\(honest.url)").status == 0)
    try machine.becomeAnother()
    let liar = try Self.server(workspace.path("stored"), lie: lie)
    let end = try machine.run("--cache-url=\(liar.url)")
    #expect(end.status == 0, "\(end.errors)")
    let notices = end.notices.map {
      $0.replacing(/[0-9a-f]{64}/, with: "NAME")
        .replacing(/than [0-9]+ bytes/, with: "than SIZE bytes")
    }
    #expect(
      notices.map { String($0.prefix(32 + lie.notice.utf8.count)) }
        == (lie.notice.isEmpty ? [] : ["! shared cache 'http://SERVER': \(lie.notice)"]))
    #expect(machine.made == SharingMachine.wanted)
    #expect(machine.runCount == 2)
    // What was stored by then is right, and nothing else lies there.
    try FileManager.default.removeItem(atPath: workspace.path("out"))
    #expect(try machine.run().errors.contains("= make  up to date"))
    #expect(machine.made == SharingMachine.wanted)
    #expect(!workspace.files.contains { $0.hasPrefix(".oprun/cache/tmp-") })
  }

  /// Servers that do not merge slashes have nothing at `//ac/…`.
  @Test func `slashes at the end of a URL do not count`() throws {
    let workspace = try Workspace()
    for folder in ["ac", "cas"] { try workspace.write("", to: "stored/\(folder)/.keep") }
    let stored = workspace.path("stored")
    let server = try LoopbackServer { request, connection in
      let content = FileManager.default.contents(atPath: stored + request.path)
      if request.path.contains("//") { return connection.answer("400 Bad Request") }
      if request.method == "PUT" {
        let body = connection.skip(request.headers["content-length"].flatMap { Int($0) } ?? 0)
        _ = FileManager.default.createFile(atPath: stored + request.path, contents: Data(body))
        return connection.answer("201 Created")
      }
      guard let content else { return connection.answer("404 Not Found") }
      connection.answer(body: [UInt8](content))
    }
    let machine = try SharingMachine(workspace)
    #expect(try machine.run("--cache-url=\(server.url)//").notices == [])
    try machine.becomeAnother()
    #expect(try machine.run("--cache-url=\(server.url)").notices == [])
    #expect(machine.runCount == 1 && machine.made == SharingMachine.wanted)
  }

  @Test func `a server that gives the result of another step is not believed`() throws {
    let workspace = try Workspace()
    for folder in ["ac", "cas"] { try workspace.write("", to: "stored/\(folder)/.keep") }
    let honest = try Self.server(workspace.path("stored"), lie: nil)
    let machine = try SharingMachine(workspace)
    #expect(try machine.run("--cache-url=\(honest.url)").status == 0)
    let results = try FileManager.default.contentsOfDirectory(atPath: workspace.path("stored/ac"))
    let stored = try #require(results.first { $0 != ".keep" })
    let other = [UInt8](
      try #require(FileManager.default.contents(atPath: workspace.path("stored/ac/\(stored)"))))
    try machine.becomeAnother()
    try workspace.write("2\n", to: "in")
    let liar = try LoopbackServer { request, connection in
      if request.path.hasPrefix("/ac/"), request.method == "GET" {
        return connection.answer(body: other)
      }
      let content = FileManager.default.contents(atPath: workspace.path("stored") + request.path)
      connection.answer(body: [UInt8](content ?? Data()))
    }
    let end = try machine.run("--cache-url=\(liar.url)", "--shared-cache=read")
    #expect(end.notices.count == 1, "\(end.errors)")
    #expect(workspace.content("out/deep/copy") == "2\n")
  }

  @Test func `a server that is too slow is given up`() throws {
    let server = try LoopbackServer { request, connection in
      connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello")
      connection.waitForEnd()
    }
    let workspace = try Workspace()
    try workspace.write(
      """
      \(server.url)

      600000 300 600000
      get \(Self.name) 1000

      """, to: "slow")
    try workspace.write("\(server.url)\n\n600000 600000 600000\nget \(Self.name) 10\n", to: "large")
    let child = try Child(
      script: """
        cd \(quotedForShell(workspace.folder.path))
        for question in slow large; do
          \(quotedForShell(builtProgram("oprun-steps"))) shared-cache <$question >>answers || exit
        done
        """)
    #expect(child.wait() == 0)
    #expect(
      workspace.content("answers")
        == "failed no progress in 300ms\nfailed sends more than 10 bytes for '/ac/\(Self.name)'\n")
  }

  static let name = String(repeating: "ab", count: 32)
  static let other = String(repeating: "cd", count: 32)

  /// Each byte is progress, and what the server announces would allow it to go on for hours.
  @Test(arguments: [
    ("700ms", "get \(name) 67108864\n"), ("700ms", "fetch 1\n\(name) 1000000000\n"),
    // Nor does it help to answer many small requests, each of them after a while.
    ("3000ms", "store \(name) 0 900\n" + String(repeating: "\(other) 5\n", count: 900)),
  ])
  func `a server that drips is given up`(_ time: String, _ question: String) throws {
    let server = try LoopbackServer { request, connection in
      if request.path.hasSuffix(Self.name) {
        connection.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
        while connection.write("x") { usleep(20_000) }
      } else {
        // Each takes less than the time that is judged, and all together take longer.
        usleep(2_500_000)
        connection.answer()
      }
    }
    let workspace = try Workspace()
    try FileManager.default.createDirectory(
      atPath: workspace.path("cache/cas"), withIntermediateDirectories: true)
    try workspace.write(
      "\(server.url)\n\n600000 600000 \(time.dropLast(2))\n\(question)", to: "questions")
    let child = try Child(
      script: """
        cd \(quotedForShell(workspace.folder.path))
        exec 3<cache
        timeout 300 \(quotedForShell(builtProgram("oprun-steps"))) shared-cache <questions >answers
        """)
    #expect(child.wait() == 0)
    #expect(
      workspace.content("answers").replacing("3s", with: "3000ms")
        == "failed is too slow: less than 256 KiB/s in \(time)\n")
  }

  /// The same time is enough for one that is faster, however often it must be judged.
  @Test func `a server that takes its time is not given up`() throws {
    let size = 4 << 20
    let server = try LoopbackServer { request, connection in
      connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
      for _ in 0..<32 {
        connection.write([UInt8](repeating: 65, count: size / 32))
        usleep(40_000)
      }
    }
    let workspace = try Workspace()
    try workspace.write(
      "\(server.url)\n\n600000 600000 500\nget \(Self.name) \(size)\n", to: "questions")
    // A machine on which nothing comes for a moment makes it as slow as the other one.
    let isFound = try once {
      let child = try Child(
        script: """
          cd \(quotedForShell(workspace.folder.path))
          \(quotedForShell(builtProgram("oprun-steps"))) shared-cache <questions >answers
          """)
      #expect(child.wait() == 0)
      return workspace.content("answers").hasPrefix("found \(size)\n")
    }
    #expect(isFound)
  }

  @Test(arguments: [
    "", "http://127.0.0.1:9\n", "ftp://127.0.0.1:9\n\n1000 1000 1000\n",
    "http://127.0.0.1:9/?a=b\n\n1000 1000 1000\n", "http://127.0.0.1:9\n\n1000 1000 1000\nget\n",
    "http://127.0.0.1:9\n\n1000 1000 1000\nget ../../etc/passwd 1000\n",
    "http://127.0.0.1:9\n\n1000 1000 1000\nfetch 99999999999\n",
    "http://127.0.0.1:9\n\n1000 1000 1000\nfetch 1\n",
    "http://127.0.0.1:9\n\n1000 1000 1000\nstore \(String(repeating: "ab", count: 32)) -1 0\n",
  ])
  func `what oprun would not say is refused`(_ said: String) throws {
    let workspace = try Workspace()
    try workspace.write(said, to: "questions")
    let child = try Child(
      script: """
        cd \(quotedForShell(workspace.folder.path))
        \(quotedForShell(builtProgram("oprun-steps"))) shared-cache <questions >answers
        """)
    let status = child.wait()
    let answer = workspace.content("answers")
    #expect(status == 2 || answer == "failed is not an http or https URL without a query\n")
  }
}

// The progress of a batch for programs: lines of JSON, written to the target in OPRUN_PROGRESS.

import Foundation
import TestSupport
import Testing

@testable import oprun_steps

private struct Line: Codable, Equatable {
  let version: Int
  let unit: String
  let total: Int
  let done: Int
  let failed: Int
  let bytes: Int
  let expected_bytes: Int
  let bytes_per_second: Int
}

private func lines(_ text: String) throws -> [Line] {
  try text.split(separator: "\n").map {
    try JSONDecoder().decode(Line.self, from: Data($0.utf8))
  }
}

@Suite(.blocking) struct ProgressTests {
  @Test func `a line says all that is known`() throws {
    var state = BatchState(total: 1000, noun: "image")
    state.done = 37
    state.failed = 2
    state.byteCount = 82_000_000
    state.expectedByteCount = 90_000_000
    #expect(
      state.line(after: 2_000_000_000) == """
        {"version":1,"unit":"image","total":1000,"done":37,"failed":2,"bytes":82000000,\
        "expected_bytes":90000000,"bytes_per_second":41000000}

        """)
    #expect(BatchState(total: 1, noun: "file").line(after: 0).hasSuffix(":0}\n"))
  }

  @Test func `a file has the latest line, and nothing else at any time`() throws {
    let workspace = try Workspace()
    let seen = Recorder()
    let server = try LoopbackServer { [folder = workspace.folder] request, connection in
      // The progress while the first of two files is being received.
      if request.path == "/b" {
        connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n01234")
        while seen.text.isEmpty {
          usleep(20_000)
          let text =
            (try? String(contentsOf: folder.appending(path: "progress"), encoding: .utf8)) ?? ""
          if text.contains("\"bytes\":8,") { seen.text = text }
        }
        connection.write("56789")
      } else {
        connection.answer("200 OK", [], "abc")
      }
    }
    let end = try workspace.run(
      words: [
        "download", "--url=\(server.url)/a", "--url=\(server.url)/b", "--to=out/",
        "--allow-private", "--max-parallel=1", "--stall-timeout=10m",
      ].map { $0.replacing("--url", with: "--urls") },
      environment: ["OPRUN_PROGRESS": "progress"])
    #expect(end.status == 0, "\(end.errors)")
    let during = try #require(try lines(seen.text).first)
    #expect((during.total, during.done, during.failed) == (2, 1, 0))
    #expect((during.unit, during.bytes, during.expected_bytes) == ("file", 8, 13))
    let last = try lines(workspace.content("progress"))
    #expect(last.count == 1)
    #expect((last.first?.done, last.first?.bytes, last.first?.expected_bytes) == (2, 13, 13))
    #expect(workspace.files.sorted() == ["out/.oprun-download.json", "out/a", "out/b", "progress"])
  }

  @Test func `what an attempt has not received is expected no longer`() throws {
    let server = try LoopbackServer { request, connection in
      if request.path == "/long" { return connection.answer("200 OK", [], "hello") }
      connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello")
    }
    let workspace = try Workspace()
    let end = try workspace.run(
      words: [
        "download", "--urls=\(server.url)/cut", "--urls=\(server.url)/long", "--to=out/",
        "--allow-private", "--retries=2", "--retry-delay=1ms",
      ], environment: ["OPRUN_PROGRESS": "progress"])
    #expect(end.status == 1)
    let last = try #require(try lines(workspace.content("progress")).last)
    #expect((last.bytes, last.expected_bytes) == (20, 20))
  }

  @Test func `a descriptor gets the first and the last line at least`() throws {
    let folder = try ImageFolder()
    try folder.write(try Pixels.corners(40, 40).encoded("png"), to: "a.png")
    try folder.write([1, 2, 3], to: "b.png")
    let program = quotedForShell(builtProgram("oprun-steps"))
    let child = try Child(
      script: """
        cd '\(folder.url.path)' && OPRUN_PROGRESS=fd:7 exec \(program) resize --from='*.png' \
        --to=out/ --width=20 7>progress >.stdout 2>.stderr
        """)
    #expect(child.wait() == 1)
    let told = try lines(folder.text("progress"))
    #expect((told.first?.done, told.first?.total) == (0, 2))
    #expect((told.last?.done, told.last?.failed, told.last?.unit) == (2, 1, "image"))
  }

  @Test(arguments: ["fd:9", "fd:0", "fd:x", "none/there/progress", "device", ""])
  func `a place that cannot be written is no reason to fail`(place: String) throws {
    let folder = try ImageFolder()
    try folder.write(try Pixels.corners(40, 40).encoded("png"), to: "a.png")
    // A FIFO stands for everything that is not a file: a device could be lost.
    #expect(mkfifo(folder.path("device"), 0o600) == 0)
    let program = quotedForShell(builtProgram("oprun-steps"))
    let child = try Child(
      script: """
        cd '\(folder.url.path)' && OPRUN_PROGRESS='\(place)' exec \(program) resize --from=a.png \
        --to=out/ --width=20 >.stdout 2>.stderr
        """)
    #expect(child.wait() == 0)
    #expect(try folder.text(".stderr") == "")
    var status = stat()
    #expect(lstat(folder.path("device"), &status) == 0 && status.st_mode & S_IFMT == S_IFIFO)
  }
}

private final class Recorder: @unchecked Sendable {
  private let lock = NSLock()
  private var value = ""

  var text: String {
    get { lock.withLock { value } }
    set { lock.withLock { value = newValue } }
  }
}

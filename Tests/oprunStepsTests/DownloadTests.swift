// `download` as a user sees it: what is fetched, what is not, and what exists afterwards.

import Foundation
import Synchronization
import TestSupport
import Testing

@testable import oprun_steps

@Suite(.blocking) struct DownloadTests {
  @Test func `two spellings of a letter are two names`() throws {
    let server = try LoopbackServer { request, connection in
      connection.answer("200 OK", [], request.path)
    }
    let workspace = try Workspace()
    let urls = ["caf%C3%A9", "cafe%CC%81"].map { "--urls=\(server.url)/\($0)" }
    let end = try workspace.run(words: ["download", "--to=out/", "--allow-private"] + urls)
    #expect(end.errors == "")
    #expect(workspace.content("out/caf\u{e9}") == "/caf%C3%A9")
    #expect(workspace.content("out/cafe\u{301}") == "/cafe%CC%81")
  }

  @Test func `a header without a value is sent`() throws {
    let server = try LoopbackServer { _, connection in connection.answer("200 OK", [], "hello") }
    let end = try Workspace().run(
      "download", "--url=\(server.url)/x", "--to=x", "--allow-private", "--headers=X-Empty:")
    #expect(end.errors == "")
    #expect(server.requests.map { $0.headers["x-empty"] } == [""])
  }

  private func hello() throws -> LoopbackServer {
    try LoopbackServer { request, connection in
      switch request.path {
      case "/hello.txt" where request.headers["if-none-match"] == "\"v1\"":
        connection.answer("304 Not Modified", ["ETag: \"v1\""])
      case "/hello.txt": connection.answer("200 OK", ["ETag: \"v1\""], "hello\n")
      default: connection.answer("404 Not Found", [], "no such thing")
      }
    }
  }

  @Test func `a file is downloaded, and the next time only asked about`() throws {
    let server = try hello()
    let workspace = try Workspace()
    let words = [
      "download", "--url=\(server.url)/hello.txt", "--to=in/", "--allow-private",
    ]
    let first = try workspace.run(words: words)
    #expect(first.output == "in/hello.txt  6 B  TIME\n1 file, 6 B received in TIME\n")
    #expect(first.errors == "")
    #expect(first.status == 0)
    #expect(workspace.content("in/hello.txt") == "hello\n")
    let second = try workspace.run(words: words)
    #expect(second.output == "in/hello.txt  6 B  TIME  cached\n1 file, 1 cached in TIME\n")
    #expect(server.requests.map { $0.headers["if-none-match"] } == [nil, "\"v1\""])
    #expect(workspace.files == ["in/.oprun-download.json", "in/hello.txt"])
  }

  @Test func `within max_age nothing is asked; a file that was altered is replaced`() throws {
    let server = try hello()
    let workspace = try Workspace()
    let words = [
      "download", "--url=\(server.url)/hello.txt", "--to=hello.txt", "--allow-private",
      "--max-age=1h",
    ]
    #expect(try workspace.run(words: words).status == 0)
    #expect(try workspace.run(words: words).status == 0)
    #expect(server.requests.count == 1)
    try workspace.write("HELLO\n", to: "hello.txt")
    #expect(try workspace.run(words: words).status == 0)
    #expect(workspace.content("hello.txt") == "hello\n")
    #expect(server.requests.count == 2)
  }

  @Test func `one that fails does not stop the others`() throws {
    let server = try hello()
    let workspace = try Workspace()
    try workspace.write(
      "# both\n\(server.url)/hello.txt\n\(server.url)/missing.txt\n", to: "urls.txt")
    let words = ["download", "--list=urls.txt", "--to=out/{index}-{name}", "--allow-private"]
    let end = try workspace.run(words: words, environment: ["OPRUN_OUTPUT": "outputs"])
    #expect(end.status == 1)
    #expect(end.errors == "failed: http://SERVER/missing.txt: answers 404 (not found)\n")
    #expect(
      end.output == """
        out/1-hello  6 B  TIME
        http://SERVER/missing.txt  failed: answers 404 (not found)
        2 files, 1 failed, 6 B received in TIME

        """)
    #expect(
      workspace.content("outputs") == """
        manifest:json="out/.oprun-download.json"
        failed:json=["\(server.url)/missing.txt"]
        files:json=["out/1-hello"]

        """)
    #expect(try workspace.run(words: words + ["--on-item-failure=skip"]).status == 0)
  }

  @Test func `the manifest says what became of each item`() throws {
    let server = try hello()
    let workspace = try Workspace()
    _ = try workspace.run(
      "download", "--urls=\(server.url)/hello.txt", "--urls=\(server.url)/no", "--to=./",
      "--allow-private", "--manifest=m.json")
    let manifest = workspace.content("m.json")
      .replacing(/"milliseconds":[0-9]+/, with: "\"milliseconds\":0")
    #expect(
      manifest == """
        {"version":1,"step":"download","failed":1,"items":[
          {"origin":"\(server.url)/hello.txt","files":[{"path":"./hello.txt","bytes":6}],"bytes":6,\
        "cached":false,"attempts":1,"milliseconds":0,"error":null},
          {"origin":"\(server.url)/no","files":[],"bytes":0,"cached":false,"attempts":1,\
        "milliseconds":0,"error":"answers 404 (not found)"}
        ]}

        """)
  }

  @Test func `the same URL for two files is fetched once`() throws {
    let server = try hello()
    let workspace = try Workspace()
    let url = "\(server.url)/hello.txt"
    let end = try workspace.run(
      "download", "--urls=\(url)", "--urls=\(url)", "--to={index}.txt", "--allow-private")
    #expect(end.status == 0)
    #expect(workspace.content("1.txt") + workspace.content("2.txt") == "hello\nhello\n")
    #expect(server.requests.count == 1)
  }

  @Test func `a hash is checked, and what has it already is not fetched`() throws {
    let server = try hello()
    let workspace = try Workspace()
    let hash = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"
    let words = ["download", "--url=\(server.url)/hello.txt", "--to=a", "--allow-private"]
    #expect(try workspace.run(words: words + ["--sha256=\(hash)"]).status == 0)
    #expect(try workspace.run(words: words + ["--sha256=\(hash)"]).status == 0)
    #expect(server.requests.count == 1)
    let wrong = try workspace.run(
      "download", "--url=\(server.url)/hello.txt", "--to=b", "--allow-private",
      "--sha256=\(String(repeating: "0", count: 64))")
    #expect(
      wrong.errors == """
        failed: http://SERVER/hello.txt: has the SHA-256 \(hash), wanted: \
        \(String(repeating: "0", count: 64))

        """)
    #expect(!workspace.exists("b") && !workspace.exists("b.part"))
  }

  @Test func `at most so many at once, and from one host`() throws {
    let arrived = Counter()
    let server = try LoopbackServer { _, connection in
      // The first two wait for each other; if a third arrived with them, it would be counted.
      arrived.add()
      while arrived.count < 2 { usleep(1000) }
      usleep(50_000)
      connection.answer()
    }
    let workspace = try Workspace()
    let urls = (1...8).map { "--urls=\(server.url)/\($0)" }
    let end = try workspace.run(
      words: ["download", "--to=out/", "--allow-private", "--per-host=2"] + urls)
    #expect(end.status == 0)
    #expect(server.peakCount == 2)
  }

  @Test func `a target that two items would have is refused before anything`() throws {
    let workspace = try Workspace()
    let end = try workspace.run(
      "download", "--urls=http://a/1/x.jpg", "--urls=http://b/2/x.jpg", "--to=out/")
    #expect(end.status == 2)
    #expect(
      end.errors == """
        oprun-steps: two items would be written to 'out/x.jpg'
          help: tell them apart in '--to', for instance by '{index}'
        try 'oprun-steps download --help'

        """)
    #expect(workspace.files == [])
  }

  @Test func `a target that another item writes its part to is refused before anything`() throws {
    let workspace = try Workspace()
    for name in ["x.part", "x.part.from"] {
      let end = try workspace.run(
        "download", "--urls=http://a/\(name)", "--urls=http://b/x", "--to=out/")
      #expect(end.status == 2)
      #expect(
        end.errors
          == """
          oprun-steps: 'out/x' is written to 'out/x.part' first, which is another item's name
            help: tell them apart in '--to', for instance by '{index}'
          try 'oprun-steps download --help'

          """.replacing("x.part'", with: "\(name)'"))
    }
    #expect(workspace.files == [])
  }

  @Test func `nothing is left beside a target that cannot be replaced`() throws {
    let server = try hello()
    let workspace = try Workspace()
    try workspace.write("", to: "in/hello.txt/inside")
    let end = try workspace.run(
      "download", "--url=\(server.url)/hello.txt", "--to=in/", "--allow-private")
    #expect(
      end.errors
        == "failed: http://SERVER/hello.txt: cannot write 'in/hello.txt': is a directory\n")
    #expect(workspace.files == ["in/.oprun-download.json", "in/hello.txt/inside"])
  }

  @Test func `a list can be a link, a pipe, and of Windows`() throws {
    let server = try hello()
    let workspace = try Workspace()
    try workspace.write("\u{feff}\(server.url)/hello.txt\r\n\r\n# no more\r\n", to: "real")
    try FileManager.default.createSymbolicLink(
      atPath: workspace.path("link"), withDestinationPath: "real")
    guard mkfifo(workspace.path("pipe"), 0o600) == 0 else { throw POSIXError(.EIO) }
    let text = workspace.content("real")
    let pipe = workspace.path("pipe")
    Thread.detachNewThread { try? text.write(toFile: pipe, atomically: false, encoding: .utf8) }
    for list in ["real", "link", "pipe"] {
      let end = try workspace.run(
        "download", "--list=\(list)", "--to=\(list)-out", "--allow-private")
      #expect(end.errors == "")
      #expect(workspace.content("\(list)-out") == "hello\n")
    }
    let missing = try workspace.run("download", "--list=no", "--to=out/")
    #expect(
      missing.errors == """
        oprun-steps: the list: cannot open 'no': no such file or directory
        try 'oprun-steps download --help'

        """)
  }

  @Test func `a list can be standard input`() throws {
    let server = try hello()
    let workspace = try Workspace()
    try workspace.write("\(server.url)/hello.txt\n", to: "urls")
    let child = try Child(
      script: """
        cd \(quotedForShell(workspace.folder.path)) && export OPRUN_DOWNLOAD_CACHE=cache
        exec \(quotedForShell(builtProgram("oprun-steps"))) download --list=- --to=in/ \
          --allow-private <urls >/dev/null
        """)
    #expect(child.wait() == 0)
    #expect(workspace.content("in/hello.txt") == "hello\n")
  }

  @Test func `a time limit of nothing is none, in a pipeline as on the command line`() throws {
    let server = try LoopbackServer { _, connection in
      usleep(20_000)
      connection.answer("200 OK", [], "hello")
    }
    let workspace = try Workspace()
    let limits = ["--timeout=0s", "--connect-timeout=0s", "--stall-timeout=0s"]
    let end = try workspace.run(
      words: ["download", "--url=\(server.url)/a", "--to=a", "--allow-private"] + limits)
    #expect(end.errors == "")
    #expect(end.status == 0)
    try workspace.write(
      """
      steps:
        - id: get
          uses: download
          with: {url: "\(server.url)/b", to: b, allow_private: true, timeout: 0s, stall_timeout: 0s}
      """, to: "pipeline.yml")
    let run = try workspace.start(program: "oprun", words: ["run", "pipeline.yml"]).wait()
    #expect(run.status == 0, "\(run.errors)")
    #expect(workspace.content("a") + workspace.content("b") == "hellohello")
  }

  @Test func `what is in the cache is no longer than what may come`() throws {
    let server = try hello()
    let workspace = try Workspace()
    let words = ["download", "--url=\(server.url)/hello.txt", "--allow-private", "--max-age=1h"]
    #expect(try workspace.run(words: words + ["--to=a", "--cache"]).status == 0)
    // The smallest size that can be written is 0K.
    let end = try workspace.run(words: words + ["--to=b", "--max-bytes=0K"])
    #expect(
      end.errors
        == "failed: http://SERVER/hello.txt: longer than 0 bytes, the limit ('max_bytes')\n")
    #expect(workspace.files == [".oprun-download.json", "a"])
  }

  @Test func `a manifest that cannot be written is told by its name`() throws {
    let server = try hello()
    let workspace = try Workspace()
    let end = try workspace.run(
      "download", "--url=\(server.url)/hello.txt", "--to=a", "--allow-private", "--manifest=a/m")
    #expect(end.status == 1)
    #expect(end.errors == "oprun-steps: cannot write 'a/m': not a directory\n")
  }

  @Test func `an answer of the future is not believed for longer than max_age`() throws {
    let server = try hello()
    let workspace = try Workspace()
    let words = ["download", "--url=\(server.url)/hello.txt", "--to=a", "--allow-private"]
    #expect(try workspace.run(words: words).status == 0)
    let folder = workspace.path("cache/records")
    for name in try FileManager.default.subpathsOfDirectory(atPath: folder)
    where name.contains("/") {
      let record = workspace.content("cache/records/\(name)")
      try workspace.write(
        record.replacing(/confirmed [0-9]+/, with: "confirmed 99999999999"),
        to: "cache/records/\(name)")
    }
    #expect(try workspace.run(words: words).status == 0)
    #expect(server.requests.count == 2)
  }
}

private final class Counter: Sendable {
  private let value = Mutex(0)
  var count: Int { value.withLock { $0 } }
  func add() { value.withLock { $0 += 1 } }
}

// The messages about a list of URLs with invalid lines.

import Foundation
import TestSupport
import Testing

@testable import oprun_steps

@Suite(.blocking) struct SourceListTests {
  @Test func `all wrong lines of a list are told with their numbers, and nothing is downloaded`()
    throws
  {
    let server = try LoopbackServer { _, connection in connection.answer() }
    let workspace = try Workspace()
    try workspace.write(
      "\u{feff}# images\r\n\(server.url)/a.png\r\n\r\nftp://user:secret@host/b.png\r\n"
        + "http://host/with blank.png\r\n\(server.url)/c \(String(repeating: "0f", count: 32)) c.png",
      to: "urls.txt")
    for step in ["download", "download-and-resize"] {
      let end = try workspace.run(
        words: [step, "--list=urls.txt", "--to=out/", "--allow-private"]
          + (step == "download" ? [] : ["--width=10"]))
      #expect(end.status == 2)
      #expect(end.output == "")
      #expect(
        end.errors == """
          oprun-steps: the list has 3 wrong lines
            urls.txt:4: wants a URL of http or https, found 'ftp://host/b.png'
            urls.txt:5: wants a SHA-256 of 64 hexadecimal digits after the URL, found 'blank.png'
            urls.txt:6: wants nothing after the URL and its SHA-256, found 'c.png'
          try 'oprun-steps \(step) --help'

          """)
    }
    #expect(server.requests.isEmpty)
    #expect(workspace.files == ["urls.txt"])
  }

  @Test func `a line that is not UTF-8 is wrong, and a remark need not be UTF-8`() throws {
    let server = try LoopbackServer { _, connection in connection.answer() }
    let workspace = try Workspace()
    let lines = ["# caf\u{e9}", "\(server.url)/a", "\(server.url)/caf\u{e9}.png"]
    try Data(lines.joined(separator: "\n").unicodeScalars.map { UInt8($0.value) })
      .write(to: URL(filePath: workspace.path("urls")))
    let end = try workspace.run("download", "--list=urls", "--to=out/", "--allow-private")
    #expect(end.status == 2)
    #expect(
      end.errors.contains("\n  urls:3: wants UTF-8, found 'http://SERVER/caf\\xe9.png'\n"),
      "\(end.errors)")
    #expect(server.requests.isEmpty)
  }

  @Test func `standard input is read from where it is`() throws {
    let server = try LoopbackServer { _, connection in connection.answer("200 OK", [], "hello") }
    let workspace = try Workspace()
    try workspace.write((1...3).map { "\(server.url)/\($0)\n" }.joined(), to: "list")
    let program = quotedForShell(builtProgram("oprun-steps"))
    let words = "\(program) download --list=- --to=out/ --allow-private >out.txt 2>err.txt"
    for script in ["{ read first; \(words); } <list", "tail -n 2 list | \(words)"] {
      let child = try Child(script: "cd \(quotedForShell(workspace.path(""))) && \(script)")
      #expect(child.wait() == 0, "\(workspace.content("err.txt"))")
      #expect(try FileManager.default.contentsOfDirectory(atPath: workspace.path("out")).count == 3)
      #expect(workspace.exists("out/2") && workspace.exists("out/3"))
      try FileManager.default.removeItem(atPath: workspace.path("out"))
    }
  }

  @Test func `of very many wrong lines, twenty are told`() throws {
    let workspace = try Workspace()
    try workspace.write(String(repeating: "nothing\n", count: 5000), to: "urls")
    let end = try workspace.run("download", "--list=urls", "--to=out/")
    let lines = end.errors.split(separator: "\n")
    #expect(lines.count == 23)
    #expect(lines.first == "oprun-steps: the list has 5000 wrong lines")
    #expect(lines[20] == "  urls:20: wants a URL of http or https, found 'nothing'")
    #expect(lines[21] == "  … and 4980 more")
  }
}

// Things that are not files where one is expected, and files that others have put there: nothing
// hangs, only files are replaced, and nothing is trusted that is not certainly ours.

import Foundation
import TestSupport
import Testing

@testable import oprun_steps

private func hello() throws -> LoopbackServer {
  try LoopbackServer { _, connection in connection.answer("200 OK", ["ETag: \"v1\""], "hello\n") }
}

extension Workspace {
  fileprivate func makeFIFO(_ name: String) throws {
    guard mkfifo(path(name), 0o600) == 0 else { throw POSIXError(.EIO) }
  }

  fileprivate func makeSocket(_ name: String) throws {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path(name).utf8) }
    let isBound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
    guard isBound else { throw POSIXError(.EIO) }
  }

  fileprivate func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(
      atPath: path(name), withDestinationPath: target)
  }

  fileprivate func kind(_ name: String) -> String? {
    var status = stat()
    guard lstat(path(name), &status) == 0 else { return "nothing" }
    return Files.words(ofKind: status.st_mode)
  }
}

@Suite(.blocking) struct SpecialFileTests {
  @Test func `a target that is no file is refused before a request`() throws {
    let server = try hello()
    let workspace = try Workspace()
    try workspace.makeFIFO("fifo")
    try workspace.makeSocket("socket")
    try workspace.link("null", to: "/dev/null")
    try workspace.link("to-fifo", to: "fifo")
    try workspace.link("to-folder", to: "folder")
    try workspace.link("open", to: "/proc/self/fd/1")
    try workspace.write("", to: "folder/a")
    for (name, message) in [
      ("fifo", "cannot replace the FIFO 'fifo': operation not supported"),
      ("socket", "cannot replace the socket 'socket': operation not supported"),
      ("null", "cannot replace 'null', a link to a device: operation not supported"),
      ("to-fifo", "cannot replace 'to-fifo', a link to a FIFO: operation not supported"),
      ("to-{name}", "cannot write 'to-folder': is a directory"),
      ("open", "cannot replace 'open', a link to an open file: operation not supported"),
      ("/dev/null", "cannot replace the device '/dev/null': operation not supported"),
    ] {
      let kind = workspace.kind(name)
      let end = try workspace.run(
        "download", "--url=\(server.url)/folder", "--to=\(name)", "--allow-private",
        "--manifest=m.json", "--sha256=\(String(repeating: "0", count: 64))")
      #expect(end.errors == "failed: http://SERVER/folder: \(message)\n")
      #expect(workspace.kind(name) == kind)
    }
    #expect(server.requests.count == 0)
    #expect(workspace.files == ["fifo", "folder/a", "m.json", "null", "open", "socket", "to-fifo"])
    var device = stat()
    #expect(stat("/dev/null", &device) == 0 && device.st_mode & S_IFMT == S_IFCHR)
  }

  @Test func `a link to a file is replaced, and so is one that leads nowhere`() throws {
    let server = try hello()
    let workspace = try Workspace()
    try workspace.write("precious", to: "precious")
    for target in ["precious", "nowhere"] {
      try workspace.link("x-\(target)", to: target)
      let end = try workspace.run(
        "download", "--url=\(server.url)/x", "--to=x-\(target)", "--allow-private")
      #expect(end.errors == "")
      #expect(workspace.kind("x-\(target)") == nil)
      #expect(workspace.content("x-\(target)") == "hello\n")
    }
    #expect(workspace.content("precious") == "precious" && !workspace.exists("nowhere"))
  }

  @Test func `a manifest that is no file is refused before a request`() throws {
    let server = try hello()
    let workspace = try Workspace()
    let end = try workspace.run(
      "download", "--url=\(server.url)/x", "--to=x", "--allow-private", "--manifest=/dev/null")
    #expect(end.status == 2)
    #expect(
      end.errors == """
        oprun-steps: the manifest: cannot replace the device '/dev/null': operation not supported
        try 'oprun-steps download --help'

        """)
    #expect(server.requests.count == 0)
  }

  @Test func `a name or a record of others is not replaced by a part that could be resumed`() throws
  {
    let server = try LoopbackServer { _, connection in
      connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\nETag: \"v1\"\r\n\r\nhello")
    }
    for name in ["x.part", "x.part.from"] {
      let workspace = try Workspace()
      try workspace.write("theirs", to: name)
      let end = try workspace.run(
        "download", "--url=\(server.url)/x", "--to=x", "--allow-private", "--retries=1",
        "--retry-delay=1ms")
      #expect(end.status == 1)
      #expect(workspace.files == [".oprun-download.json", name])
      #expect(workspace.content(name) == "theirs")
    }
  }

  @Test func `a manifest does not replace what is read or written`() throws {
    let server = try hello()
    let workspace = try Workspace()
    try workspace.write("\(server.url)/x\n", to: "list")
    let image = try Pixels.corners(8, 8).encoded("png")
    try Data(image).write(to: workspace.folder.appending(path: "a.png"))
    try workspace.link("same", to: "a.png")
    let download = ["download", "--list=list", "--to=out/", "--allow-private"]
    let resize = ["resize", "--from=a.png", "--to=out/", "--width=4"]
    for (words, manifest, other) in [
      (download, "./list", "list"), (download, "out//x", "out/x"),
      (download, "out/x.part", "out/x.part"), (resize, "./a.png", "a.png"),
      (resize, "out/a.png", "out/a.png"),
    ] {
      let end = try workspace.run(words: words + ["--manifest=\(manifest)"])
      #expect(end.status == 2)
      #expect(
        end.errors == """
          oprun-steps: the manifest '\(manifest)' would be written in the place of '\(other)'
            help: give 'manifest' another name
          try 'oprun-steps \(words[0]) --help'

          """)
    }
    #expect(server.requests.isEmpty)
    #expect(workspace.files == ["a.png", "list", "same"])
  }

  @Test func `a target of the longest name can be written`() throws {
    let server = try hello()
    let workspace = try Workspace()
    let name = String(repeating: "x", count: 255)
    let end = try workspace.run(
      "download", "--url=\(server.url)/x", "--to=\(name)", "--allow-private")
    #expect(end.errors == "")
    #expect(workspace.content(name) == "hello\n")
  }

  @Test func `a hidden name that another process of our number has is not ours`() throws {
    let workspace = try Workspace()
    let file = try ResultFile(workspace.path("x"))
    for number in 1...3000 {
      try workspace.write("", to: ".oprun-\(getpid())-\(number).part")
    }
    try file.publish()
    #expect(workspace.exists("x"))
  }

  @Test func `what others put in the place of a part is neither used nor touched`() throws {
    let server = try hello()
    for kind in ["link", "FIFO", "directory", "second name", "file"] {
      let workspace = try Workspace()
      try workspace.write("precious", to: "precious")
      switch kind {
      case "link": try workspace.link("x.part", to: "precious")
      case "FIFO": try workspace.makeFIFO("x.part")
      case "directory": try workspace.write("a", to: "x.part/a")
      case "file": try workspace.write("theirs", to: "x.part")
      default:
        try FileManager.default.linkItem(
          atPath: workspace.path("precious"), toPath: workspace.path("x.part"))
      }
      let before = (workspace.kind("x.part"), workspace.content("x.part"))
      let end = try workspace.run("download", "--url=\(server.url)/x", "--to=x", "--allow-private")
      #expect(end.errors == "", "\(kind)")
      #expect(workspace.content("x") == "hello\n")
      #expect(workspace.content("precious") == "precious")
      #expect(before == (workspace.kind("x.part"), workspace.content("x.part")), "\(kind)")
      #expect(!workspace.files.contains { $0.hasPrefix(".oprun-") && $0.hasSuffix(".part") })
    }
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
  func `a part of another user is neither used nor touched`() throws {
    let server = try hello()
    let workspace = try Workspace()
    try workspace.write("theirs", to: "x.part")
    try workspace.write("theirs", to: "x.part.from")
    for name in ["x.part", "x.part.from"] { chown(workspace.path(name), 65534, 65534) }
    let end = try workspace.run("download", "--url=\(server.url)/x", "--to=x", "--allow-private")
    #expect(end.errors == "")
    #expect(workspace.content("x") == "hello\n")
    #expect(workspace.content("x.part") + workspace.content("x.part.from") == "theirstheirs")
  }

  @Test func `FIFOs, links and folders in the cache hang nothing and mislead nobody`() throws {
    let server = try hello()
    for place in ["records", "objects"] {
      let workspace = try Workspace()
      let words = [
        "download", "--url=\(server.url)/x", "--to=x", "--allow-private", "--cache",
        "--max-age=1h",
      ]
      #expect(try workspace.run(words: words).status == 0)
      let folder = workspace.path("cache/\(place)")
      let name = try #require(
        FileManager.default.subpathsOfDirectory(atPath: folder).first { $0.contains("/") })
      for kind in ["FIFO", "link", "folder"] {
        try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
        try? FileManager.default.removeItem(atPath: workspace.path("x"))
        switch kind {
        case "FIFO": try workspace.makeFIFO("cache/\(place)/\(name)")
        case "link": try workspace.link("cache/\(place)/\(name)", to: "/dev/zero")
        default:
          try FileManager.default.createDirectory(
            atPath: "\(folder)/\(name)", withIntermediateDirectories: false)
        }
        let end = try workspace.run(words: words)
        #expect(end.errors == "", "\(place) \(kind)")
        #expect(workspace.content("x") == "hello\n", "\(place) \(kind)")
        #expect(workspace.kind("cache/\(place)/\(name)") == nil, "\(place) \(kind)")
        #expect(try workspace.run("cache", "stat").status == 0)
      }
    }
  }

  @Test func `FIFOs among the cache's own files are told`() throws {
    for name in ["lock", "usage", "swept", "turns", "records"] {
      let workspace = try Workspace()
      try FileManager.default.createDirectory(
        atPath: workspace.path("cache"), withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
      try workspace.makeFIFO("cache/\(name)")
      let end = try workspace.run("cache", "stat")
      switch name {
      case "lock":
        #expect(
          end.errors == "oprun-steps: cannot use the FIFO 'cache/lock': operation not supported\n")
      case "turns", "records":
        #expect(
          end.errors == "oprun-steps: cannot use the cache 'cache/\(name)': not a directory\n")
      default: #expect(end.errors == "" && end.status == 0)
      }
    }
  }

  @Test func `a target that is a FIFO does not hang who looks whether it is right already`() throws
  {
    let server = try hello()
    let workspace = try Workspace()
    let words = ["download", "--url=\(server.url)/x", "--to=x", "--allow-private"]
    #expect(try workspace.run(words: words).status == 0)
    try FileManager.default.removeItem(atPath: workspace.path("x"))
    try workspace.makeFIFO("x")
    #expect(
      try workspace.run(words: words).errors
        == "failed: http://SERVER/x: cannot replace the FIFO 'x': operation not supported\n")
  }

  @Test func `a list that nobody writes into is given up`() throws {
    let workspace = try Workspace()
    try workspace.makeFIFO("list")
    let path = workspace.path("list")
    #expect(throws: (any Error).self) {
      try Files.namedText(of: path, upTo: 100, patience: 20)
    }
    Thread.detachNewThread { try? "text".write(toFile: path, atomically: false, encoding: .utf8) }
    #expect(try Files.namedText(of: path, upTo: 100, patience: 20_000) == "text")
  }
}

// `download-and-resize` as a user sees it: images that come from a server, and the results.

import BuiltinSteps
import Foundation
import TestSupport
import Testing

@testable import oprun_steps

/// Serves images by name, with entity tags, and other things that pretend to be images.
private func gallery() throws -> LoopbackServer {
  let photo = try Pixels.noise(400, 200).encoded("jpg")
  let drawing = try Pixels.corners(200, 400).encoded("png")
  let page = Array("<!DOCTYPE html><p>not an image".utf8)
  return try LoopbackServer { request, connection in
    let bodies = [
      "/photo.jpg": photo, "/drawing.png": drawing, "/page.jpg": page,
      "/cut.jpg": Array(photo.prefix(photo.count / 2)), "/empty.jpg": [],
    ]
    let path = String(request.path.prefix { $0 != "?" })
    guard let body = bodies[path] else { return connection.answer("404 Not Found") }
    let tag = "\"\(body.count)\""
    if request.headers["if-none-match"] == tag { return connection.answer("304 Not Modified") }
    connection.write("HTTP/1.1 200 OK\r\nETag: \(tag)\r\nContent-Length: \(body.count)\r\n\r\n")
    connection.isKept = connection.write(body)
  }
}

private func run(
  _ workspace: Workspace, _ server: LoopbackServer, _ paths: [String], _ more: String...
) throws -> ProgramEnd {
  let urls = paths.map { "--urls=\(server.url)/\($0)" }
  return try workspace.run(
    words: ["download-and-resize", "--allow-private", "--retry-delay=10ms"] + urls + more)
}

@Suite(.blocking) struct DownloadAndResizeTests {
  @Test func `each image gets several sizes from one download`() throws {
    let server = try gallery()
    let workspace = try Workspace()
    let end = try run(
      workspace, server, ["photo.jpg", "drawing.png"], "--to=thumbs/{name}-{width}.{ext}",
      "--width=100", "--width=50")
    #expect(end.errors == "")
    #expect(end.status == 0)
    #expect(
      workspace.files == [
        "thumbs/.oprun-download-and-resize.json", "thumbs/drawing-100.png",
        "thumbs/drawing-50.png", "thumbs/photo-100.jpg", "thumbs/photo-50.jpg",
      ])
    let lines = end.output.replacing(/[0-9.]+ k?B/, with: "SIZE").split(separator: "\n")
    #expect(
      lines == [
        "thumbs/photo-100.jpg  SIZE  TIME  100×50 50×25",
        "thumbs/drawing-100.png  SIZE  TIME  100×200 50×100",
        "2 images, SIZE received in TIME",
      ])
    #expect(server.requests.count == 2)
  }

  @Test func `the second run makes nothing again, and the files are the same`() throws {
    let server = try gallery()
    let workspace = try Workspace()
    func run(_ folder: String) throws -> ProgramEnd {
      try workspace.run(
        "download-and-resize", "--url=\(server.url)/photo.jpg", "--to=\(folder)/{name}.{ext}",
        "--width=100", "--allow-private")
    }
    #expect(try run("a").status == 0)
    let again = try run("b")
    #expect(again.status == 0)
    #expect(again.output.contains("1 image, 1 cached in"))
    #expect(server.requests.map { $0.headers["if-none-match"] != nil } == [false, true])
    let bytes = FileManager.default.contents(atPath: workspace.path("a/photo.jpg"))
    #expect(bytes == FileManager.default.contents(atPath: workspace.path("b/photo.jpg")))
    #expect(workspace.content("b/.oprun-download-and-resize.json").contains("\"cached\":true"))
  }

  @Test func `what was made beside other sizes is not taken for what is made alone`() throws {
    let server = try gallery()
    let workspace = try Workspace()
    func run(_ folder: String, _ cache: String, _ widths: Int...) throws {
      let end = try workspace.run(
        words: [
          "download-and-resize", "--url=\(server.url)/photo.jpg", "--allow-private",
          "--to=\(folder)/{width}.webp", "--cache-dir=\(cache)",
        ] + widths.map { "--width=\($0)" })
      #expect(end.status == 0)
    }
    try run("alone", "cache-a", 30)
    try run("alone", "cache-a", 20)
    try run("both", "cache-a", 30, 20)
    try run("both-fresh", "cache-b", 30, 20)
    for file in ["20.webp", "30.webp"] {
      func bytes(_ folder: String) -> Data? {
        FileManager.default.contents(atPath: workspace.path("\(folder)/\(file)"))
      }
      #expect(bytes("both") == bytes("both-fresh"))
      // Otherwise this would show nothing.
      if file == "20.webp" { #expect(bytes("both") != bytes("alone")) }
    }
  }

  @Test func `nothing is left of contents that must not be kept`() throws {
    let photo = try Pixels.noise(100, 100).encoded("jpg")
    let server = try LoopbackServer { _, connection in
      connection.write(
        "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: \(photo.count)\r\n\r\n")
      connection.isKept = connection.write(photo)
    }
    for _ in 0..<10 {
      let workspace = try Workspace()
      let end = try run(
        workspace, server, (1...8).map { "\($0).jpg" }, "--to={name}.{ext}", "--width=10")
      #expect(end.status == 0)
      let parts = try FileManager.default.contentsOfDirectory(atPath: workspace.path("cache/parts"))
      #expect(parts == [])
    }
  }

  @Test func `a damaged source is noticed as soon as it is needed again`() throws {
    let server = try gallery()
    let workspace = try Workspace()
    func run(_ width: Int) throws -> ProgramEnd {
      try workspace.run(
        "download-and-resize", "--url=\(server.url)/photo.jpg", "--to={name}-{width}.{ext}",
        "--width=\(width)", "--allow-private", "--max-age=1h")
    }
    #expect(try run(100).status == 0)
    let objects = workspace.folder.appending(path: "cache/objects")
    let all = FileManager.default.enumerator(atPath: objects.path)?.allObjects as? [String] ?? []
    let sizes = all.map { name in
      var status = stat()
      stat(objects.appending(path: name).path, &status)
      return Files.isFolder(objects.appending(path: name).path) ? 0 : Int(status.st_size)
    }
    let largest = try #require(zip(all, sizes).max { $0.1 < $1.1 }).0
    let file = try FileHandle(forWritingTo: objects.appending(path: largest))
    try file.seek(toOffset: 5000)
    try file.write(contentsOf: Data([0, 0, 0, 0]))
    // The result exists, so the content is not read; for another size it must be.
    #expect(try run(100).errors == "")
    #expect(server.requests.count == 1)
    let other = try run(50)
    #expect(other.status == 0)
    #expect(other.errors.hasPrefix("a content of the cache was damaged and is recreated: "))
    #expect(server.requests.count == 2)
  }

  @Test func `what is no image fails alone, and nothing of it is written`() throws {
    let server = try gallery()
    let workspace = try Workspace()
    let end = try run(
      workspace, server, ["page.jpg", "cut.jpg", "empty.jpg", "missing.jpg", "photo.jpg"],
      "--to=out/{name}.{ext}", "--width=100", "--manifest=manifest.json")
    #expect(end.status == 1)
    let told = end.errors.split(separator: "\n").sorted().map(String.init)
    #expect(told.count == 4)
    #expect(told[0].hasPrefix("failed: http://SERVER/cut.jpg: cannot be read as JPEG: "))
    #expect(
      told.dropFirst() == [
        "failed: http://SERVER/empty.jpg: found an empty file, wanted JPEG, PNG, WebP or GIF",
        "failed: http://SERVER/missing.jpg: answers 404 (not found)",
        "failed: http://SERVER/page.jpg: found a web page (HTML), wanted JPEG, PNG, WebP or GIF",
      ])
    #expect(workspace.files == ["manifest.json", "out/photo.jpg"])
    #expect(workspace.content("manifest.json").contains("\"failed\":4"))
  }

  @Test func `an item whose server is busy is tried again, and then resized`() throws {
    let photo = try Pixels.noise(100, 100).encoded("jpg")
    let server = try LoopbackServer { request, connection in
      if request.number < 2 { return connection.answer("503 Busy") }
      connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(photo.count)\r\n\r\n")
      connection.write(photo)
    }
    let workspace = try Workspace()
    let end = try run(workspace, server, ["a.jpg", "b.jpg"], "--to={name}.{ext}", "--width=10")
    #expect(end.status == 0)
    #expect(server.requests.count == 6)
    #expect(workspace.files.contains("a.jpg") && workspace.files.contains("b.jpg"))
  }

  @Test func `the same URL twice is one item, or two results of one download`() throws {
    let server = try gallery()
    let one = try run(
      Workspace(), server, ["photo.jpg", "photo.jpg"], "--to={name}.{ext}", "--width=10")
    #expect(one.output.contains("\n1 image, "))
    let workspace = try Workspace()
    let two = try run(
      workspace, server, ["photo.jpg", "photo.jpg"], "--to={index}.{ext}", "--width=10")
    #expect(two.status == 0)
    #expect(workspace.files.contains("1.jpg") && workspace.files.contains("2.jpg"))
    #expect(server.requests.count == 2)
  }

  @Test func `a cache without room changes nothing but the second run`() throws {
    let server = try gallery()
    let workspace = try Workspace()
    for _ in 1...2 {
      let end = try run(
        workspace, server, ["photo.jpg", "drawing.png"], "--to={name}.{ext}", "--width=10",
        "--cache-size=1K")
      #expect(end.status == 0, "\(end.errors)")
    }
    #expect(server.requests.count == 4)
    #expect(try workspace.run("cache", "stat").output.contains("B"))
  }

  @Test func `many at once all arrive`() throws {
    let server = try gallery()
    let workspace = try Workspace()
    let urls = (1...120).map { "\(server.url)/\($0 % 2 == 0 ? "photo.jpg" : "drawing.png")?\($0)" }
    try workspace.write(urls.joined(separator: "\n"), to: "urls")
    let end = try workspace.run(
      "download-and-resize", "--list=urls", "--to=out/{index}.{ext}", "--width=20",
      "--allow-private")
    #expect(end.status == 0)
    #expect(end.output.hasPrefix("120 images, "), "\(end.errors)")
    #expect(workspace.files.count == 122)
    #expect(server.peakCount <= 6)
  }

  @Test func `a result whose name is that of a part is one`() throws {
    let drawing = try Pixels.corners(20, 40).encoded("png")
    let server = try LoopbackServer { _, connection in
      connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(drawing.count)\r\n\r\n")
      connection.isKept = connection.write(drawing)
    }
    let workspace = try Workspace()
    for _ in 0..<2 {
      let end = try run(
        workspace, server, ["x.png", "x.part.png"], "--to=out/{name}", "--width=10", "--format=png",
        "--max-age=1h")
      #expect(end.status == 0, "\(end.errors)")
      #expect(
        workspace.files == ["out/.oprun-download-and-resize.json", "out/x", "out/x.part"])
      try FileManager.default.removeItem(atPath: workspace.path("out/x"))
    }
  }

  @Test func `the place of the manifest is no place for a result`() throws {
    let server = try gallery()
    let workspace = try Workspace()
    let end = try run(
      workspace, server, ["photo.jpg"], "--to=out/", "--width=10", "--manifest=out/photo.jpg")
    #expect(end.status == 1)
    #expect(
      end.errors.contains("would be written to 'out/photo.jpg', as 'manifest' is"),
      "\(end.errors)")
  }

  @Test func `no more is done at once than descriptors suffice for`() throws {
    let drawing = try Pixels.corners(20, 40).encoded("png")
    let server = try LoopbackServer { _, connection in
      connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(drawing.count)\r\n\r\n")
      connection.isKept = connection.write(drawing)
    }
    let workspace = try Workspace()
    let urls = (1...200).map { "\(server.url)/\($0).png" }
    try workspace.write(urls.joined(separator: "\n"), to: "urls")
    let words = [
      "download-and-resize", "--list=urls", "--to=out/{name}-{width}.{ext}", "--allow-private",
      "--workers=8", "--max-parallel=100", "--per-host=100", "--width=10", "--width=5",
    ]
    let end = try workspace.start(words: words, openFiles: 100).wait()
    #expect(end.status == 0, "\(end.output)")
    #expect(end.errors == "")
    #expect(workspace.files.count == 402)
  }

  @Test func `many copies of one image open no more files than a few`() throws {
    let server = try gallery()
    let workspace = try Workspace()
    let urls = [String](repeating: "\(server.url)/drawing.png", count: 300)
    try workspace.write(urls.joined(separator: "\n"), to: "urls")
    let words = [
      "download-and-resize", "--list=urls", "--to=out/{index}.{ext}", "--width=20",
      "--allow-private", "--workers=2",
    ]
    // Without room in the cache, each copy is made again.
    for more in [[], ["--cache-size=1K", "--cache-dir=small"]] {
      let end = try workspace.start(words: words + more, openFiles: 80).wait()
      #expect(end.status == 0, "\(end.output)")
      #expect(end.output.hasPrefix("300 images, "))
    }
    #expect(server.requests.count == 2)
  }

  @Test func `what could not be decoded is asked for again, without conditions`() throws {
    let server = try gallery()
    let workspace = try Workspace()
    for _ in 0..<2 {
      let end = try run(
        workspace, server, ["page.jpg", "cut.jpg", "photo.jpg"], "--to=out/", "--width=20",
        "--max-age=1h")
      #expect(end.status == 1)
    }
    let requests = server.requests.filter { $0.path != "/photo.jpg" }
    #expect(requests.count == 4)
    #expect(requests.allSatisfy { $0.headers["if-none-match"] == nil })
    #expect(server.requests.count == 5)
  }

  @Test func `what could not be written is not fetched again`() throws {
    let server = try gallery()
    let workspace = try Workspace()
    try workspace.write("", to: "out/photo.jpg/inside")
    for _ in 0..<2 {
      let end = try run(
        workspace, server, ["photo.jpg"], "--to=out/", "--width=20", "--max-age=1h")
      #expect(end.status == 1)
    }
    #expect(server.requests.count == 1)
  }

  @Test func `steps of a pipeline that write into one folder have a manifest each`() {
    #expect(Manifest.name(of: .download, id: nil) == ".oprun-download.json")
    #expect(Manifest.name(of: .download, id: "a-1.b_c") == ".oprun-download-a-1.b_c.json")
    let names = ["a[x/é]", "a[x_é]", String(repeating: "x", count: 101)].map {
      Manifest.name(of: .resize, id: $0)
    }
    #expect(names[0].wholeMatch(of: /\.oprun-resize-a_x___-[0-9a-f]{8}\.json/) != nil)
    #expect(names[0] != names[1])
    #expect(names[2].wholeMatch(of: /\.oprun-resize-x{100}-[0-9a-f]{8}\.json/) != nil)
  }

  @Test func `a file with the name of a pattern does not hide the others`() throws {
    let workspace = try Workspace()
    for name in ["*.png", "a.png", "b[1].png"] { try workspace.write("", to: "in/\(name)") }
    let folder = workspace.path("in") + "/"
    func files(_ pattern: String) throws -> [String] {
      try FilePatterns.files([folder + pattern], of: "from", .resize).map {
        String($0.dropFirst(folder.count))
      }
    }
    #expect(try files("*.png") == ["*.png", "a.png", "b[1].png"])
    #expect(try files("b[1].png") == ["b[1].png"])
    #expect(throws: (any Error).self) { try files("c*") }
  }
}

// Files from the network that claim to be images. Each file is made here, and the program must
// report in one line what is wrong with it, write nothing, and continue with the others.

import Foundation
import TestSupport
import Testing

@testable import oprun_steps

/// Runs `resize` on one file along with a good one, and returns the message about the bad one.
private func verdict(
  _ content: [UInt8], _ name: String = "bad.jpg", _ more: String...
) throws -> String {
  let folder = try ImageFolder()
  try folder.write(content, to: name)
  try folder.write(try Pixels.corners(40, 40).encoded("png"), to: "good.png")
  let end = try folder.run(
    ["resize", "--from=\(name)", "--from=good.png", "--to=out/{name}.png", "--width=20"] + more)
  #expect(end.status == 1)
  #expect(end.peakMegabytes < 200, "\(end.peakMegabytes) MB")
  // The other image is done, and nothing is left of this one.
  #expect(folder.files(besides: [name, "good.png"]) == ["out/good.png"])
  let lines = end.errors.split(separator: "\n").filter { $0.contains(name) }
  #expect(lines.count == 1, "\(end.errors)")
  let start = "failed: \(name): "
  return lines.first.map { String($0.dropFirst($0.hasPrefix(start) ? start.count : 0)) }
    ?? "nothing"
}

@Suite(.blocking) struct HostileImageTests {
  @Test(arguments: [1, 2, 10, 50, 90, 99])
  func `a JPEG that was cut is refused, wherever it was cut`(percent: Int) throws {
    let whole = try Pixels.noise(300, 200).encoded("jpg")
    let verdict = try verdict(Array(whole.prefix(whole.count * percent / 100)))
    #expect(verdict.hasPrefix("cannot be read as JPEG: "), "\(verdict)")
  }

  @Test func `what a decoder only warns of is not given as the reason`() throws {
    let photo = try Pixels.noise(40, 40).encoded("jpg")
    let table = try #require(
      photo.indices.dropLast().first { photo[$0] == 0xff && photo[$0 + 1] == 0xdb })
    let odd = photo[..<table] + Array("abc".utf8) + photo[table...]
    #expect(
      try verdict(Array(odd.dropLast(odd.count / 2)))
        == "cannot be read as JPEG: Premature end of input file")
  }

  @Test(arguments: ["png", "webp", "gif"])
  func `other formats that were cut are refused`(ext: String) throws {
    let whole = try Pixels.noise(300, 200).encoded(ext)
    for percent in [20, 60, 95] {
      let verdict = try verdict(Array(whole.prefix(whole.count * percent / 100)), "bad.\(ext)")
      #expect(verdict.hasPrefix("cannot be read as "), "\(percent): \(verdict)")
    }
  }

  @Test func `what was said of one image is not said of another`() throws {
    let photo = try Pixels.noise(40, 40).encoded("jpg")
    let profile = Array("ICC_PROFILE\u{0}\u{1}\u{1}".utf8) + [UInt8](repeating: 0x20, count: 200)
    let segment = [0xff, 0xe2, 0, UInt8(profile.count + 2)] + profile
    let folder = try ImageFolder()
    try folder.write(photo.prefix(2) + segment + photo.dropFirst(2), to: "good.jpg")
    try folder.write(Array("GIF89a".utf8) + [10, 0, 10, 0, 0, 0, 0, 0x21, 0xf9, 4], to: "bad.gif")
    let end = try folder.run(
      "resize", "--from=good.jpg", "--from=bad.gif", "--to=out/", "--width=10", "--workers=1")
    #expect(end.errors.hasPrefix("failed: bad.gif: cannot be read as GIF: "), "\(end.errors)")
    #expect(!end.errors.contains("ICC"), "\(end.errors)")
  }

  @Test func `what is no image is called by its name`() throws {
    let wanted = "wanted JPEG, PNG, WebP or GIF"
    #expect(try verdict([]) == "found an empty file, \(wanted)")
    #expect(
      try verdict(Array("<!doctype html><title>404</title>".utf8))
        == "found a web page (HTML), \(wanted)")
    #expect(
      try verdict(Array("%PDF-1.4\n1 0 obj\n".utf8), "bad.png") == "found a PDF document, \(wanted)"
    )
    #expect(
      try verdict([0xFF, 0xD8] + [UInt8](repeating: 0, count: 99))
        == "found data of an unknown format, \(wanted)")
    #expect(
      try verdict([UInt8](repeating: 0, count: 1000))
        == "found data of an unknown format, \(wanted)")
  }

  @Test func `an SVG with external entities is not looked into`() throws {
    let svg = """
      <?xml version="1.0"?><!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>
      <svg xmlns="http://www.w3.org/2000/svg" width="100" height="100">
      <image href="file:///etc/passwd"/><text>&x;</text></svg>
      """
    #expect(
      try verdict(Array(svg.utf8), "bad.png")
        == "found an SVG drawing, wanted JPEG, PNG, WebP or GIF")
  }

  @Test(arguments: ["tiff", "avif", "heic", "jxl"])
  func `formats that are not asked for are refused`(ext: String) throws {
    let verdict = try verdict(try Pixels.corners(20, 20).encoded(ext), "bad.jpg")
    let labels = ["tiff": "a TIFF", "avif": "an AVIF", "heic": "a HEIC", "jxl": "a JPEG XL"]
    #expect(
      verdict
        == "found \(labels[ext] ?? "") image, wanted JPEG, PNG, WebP or GIF; 'formats: \(ext)' allows it"
    )
  }

  @Test func `a file that is two things is only what it begins with`() throws {
    let png = try Pixels.corners(40, 40).encoded("png")
    let folder = try ImageFolder()
    // An image followed by a web page and an archive: only the image is used.
    try folder.write(png + Array("<script>alert(1)</script>PK\u{3}\u{4}".utf8), to: "two.html")
    let end = try folder.run("resize", "--from=two.html", "--to=out.png", "--width=20")
    #expect(end.status == 0, "\(end.errors)")
    #expect(!(try folder.text("out.png").contains("script")))
    // A PDF that a lenient reader would take for a JPEG, and a drawing behind the first bytes of a PNG.
    let jpeg = try Pixels.corners(40, 40).encoded("jpg")
    #expect(try verdict(Array("%PDF-1.4\n".utf8) + jpeg).hasPrefix("found a PDF document"))
    #expect(
      try verdict(Array(png.prefix(8)) + Array("<svg xmlns='http://www.w3.org/2000/svg'/>".utf8))
        .hasPrefix("cannot be read as PNG: "))
  }

  @Test func `sizes are refused before anything is decoded`() throws {
    #expect(
      try verdict(MadePNG.claiming(50_000, 50_000))
        == "has 50000 × 50000 pixels, wanted at most 20000 on a side")
    #expect(
      try verdict(MadePNG.claiming(30_000, 30_000, interlaced: true), "bad.png")
        == "has 30000 × 30000 pixels, wanted at most 20000 on a side")
    #expect(
      try verdict(MadePNG.claiming(19_000, 19_000, interlaced: true), "bad.png")
        == "has 19000 × 19000 pixels, wanted at most 50000000 in all")
    let jpeg = try Pixels.noise(64, 64).encoded("jpg")
    #expect(
      try verdict(MadeJPEG.claiming(65_500, 65_500, jpeg))
        == "has 65500 × 65500 pixels, wanted at most 20000 on a side")
  }

  @Test func `a bomb within the limits is worked off in little memory`() throws {
    let folder = try ImageFolder()
    let bomb = MadePNG.black(7000, 7000)
    #expect(bomb.count < 400_000)
    try folder.write(bomb, to: "bomb.png")
    let end = try folder.run("resize", "--from=bomb.png", "--to=out.png", "--width=20")
    #expect(end.status == 0, "\(end.errors)")
    #expect(end.peakMegabytes < 120, "\(end.peakMegabytes) MB")
    #expect(try Pixels(decoding: try folder.bytes("out.png")).letters([(10, 10)]) == "k")
  }

  @Test func `files that are too long are refused`() throws {
    let image = try Pixels.noise(100, 100).encoded("png")
    #expect(
      try verdict(image + [UInt8](repeating: 0, count: 100_000), "bad.png", "--max-bytes=64K")
        == "has \(image.count + 100_000) bytes, wanted at most 65536")
  }

  @Test func `a progressive JPEG of 2,000 scans is refused at once`() throws {
    let image = MadeJPEG.progressive(2000, 2000, scans: 2000)
    #expect(image.count < 200_000)
    #expect(try verdict(image) == "is a progressive JPEG of more than 100 scans")
    let folder = try ImageFolder()
    try folder.write(MadeJPEG.progressive(200, 200, scans: 20), to: "in.jpg")
    let end = try folder.run("resize", "--from=in.jpg", "--to=out.png", "--width=20")
    #expect(end.status == 0, "\(end.errors)")
  }

  @Test func `an animation of 10,000 frames is one image, or too many`() throws {
    let image = MadeGIF.animated(canvas: (200, 200), frame: (2, 2), frames: 10_000)
    let folder = try ImageFolder()
    try folder.write(image, to: "in.gif")
    let end = try folder.run("resize", "--from=in.gif", "--to=out.gif", "--width=20")
    #expect(end.status == 0, "\(end.errors)")
    let all = try folder.run(
      "resize", "--from=in.gif", "--to=out-all.gif", "--width=20", "--frames=all")
    #expect(all.status == 1)
    // libvips counts no further than 4,097.
    #expect(
      all.errors.contains("frames of 200 × 200 pixels, wanted at most 50000000 in all"))
    #expect(all.peakMegabytes < 200)
  }

  @Test func `results are limited, too`() throws {
    let folder = try ImageFolder()
    try folder.write(try Pixels.corners(10, 10).encoded("png"), to: "in.png")
    let end = try folder.run(
      "resize", "--from=in.png", "--to=out.png", "--width=20000", "--height=20000", "--fit=fill")
    #expect(end.status == 1)
    #expect(
      end.errors.contains("would become 20000 × 20000 pixels, wanted at most 50000000 in all"))
  }

  @Test func `random damage never does more than fail`() throws {
    let folder = try ImageFolder()
    var state: UInt64 = 5
    func random(_ count: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % count
    }
    for ext in ["jpg", "png", "webp", "gif"] {
      let whole = try Pixels.noise(60, 40).encoded(ext)
      for index in 0..<50 {
        var bytes = whole
        for _ in 0..<1 + random(8) { bytes[random(bytes.count)] = UInt8(random(256)) }
        try folder.write(bytes, to: "in-\(index).\(ext)")
      }
    }
    let end = try folder.run(
      "resize", "--from=in-*", "--to=out/{index}.png", "--width=20", "--height=20", "--fit=cover")
    #expect(end.status == 0 || end.status == 1)
    #expect(!end.errors.contains("was killed by SIG"), "\(end.errors)")
    let failed = end.errors.split(separator: "\n").filter { $0.hasPrefix("failed: in-") }.count
    let written = folder.files().filter { $0.hasPrefix("out/") && $0.hasSuffix(".png") }.count
    #expect(failed + written == 200)
  }
}

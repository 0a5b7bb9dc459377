// AVIF, HEIC, JPEG XL and TIFF: read if they are requested, written, and as hostile as the others.

import Foundation
import TestSupport
import Testing

@testable import oprun_steps

private let more = ["avif", "heic", "jxl", "tiff"]
private let labels = ["avif": "AVIF", "heic": "HEIC", "jxl": "JPEG XL", "tiff": "TIFF"]

/// Runs `resize` on one file along with a good one, and returns the message about the bad one.
private func verdict(
  _ content: [UInt8], _ ext: String, _ options: String...
) throws -> String? {
  let folder = try ImageFolder()
  try folder.write(content, to: "bad")
  try folder.write(try Pixels.corners(40, 40).encoded("png"), to: "good")
  let end = try folder.run(
    ["resize", "--from=bad", "--from=good", "--to=out/{name}.png", "--width=20"]
      + ["--formats=\(ext)"] + options)
  #expect(folder.files(besides: ["bad", "good", "out/bad.png"]) == ["out/good.png"])
  #expect(end.peakMegabytes < 400, "\(ext): \(end.peakMegabytes) MB")
  let lines = end.errors.split(separator: "\n").filter { $0.hasPrefix("failed: bad: ") }
  #expect(lines.count == (end.status == 0 ? 0 : 1), "\(end.errors)")
  return lines.first.map { String($0.dropFirst("failed: bad: ".count)) }
}

/// The places of some bytes.
private func places(of pattern: [UInt8], in bytes: [UInt8]) -> [Int] {
  bytes.indices.dropLast(pattern.count - 1).filter { bytes[$0...].starts(with: pattern) }
}

@Suite(.blocking) struct MoreFormatsTests {
  @Test(arguments: more)
  func `they are read and written`(ext: String) throws {
    let folder = try ImageFolder()
    try folder.write(try Pixels.corners(80, 40).encoded("png"), to: "in.png")
    let written = try folder.run("resize", "--from=in.png", "--to=a.\(ext)", "--width=60")
    #expect(written.status == 0, "\(written.errors)")
    let expected = try #require(ImageFormat(word: ext))
    #expect(FileKind(firstBytes: try folder.bytes("a.\(ext)")) == .image(expected))
    let read = try folder.run(
      "resize", "--from=a.\(ext)", "--formats=\(ext)", "--to=b.png", "--width=40")
    #expect(read.status == 0, "\(read.errors)")
    let pixels = try Pixels(decoding: try folder.bytes("b.png"))
    #expect((pixels.width, pixels.height) == (40, 20))
    #expect(pixels.letters([(4, 4), (35, 4), (4, 15), (35, 15)]) == "rgbw")
    let sheet = try folder.run(
      "compose", "--images=a.\(ext)", "--images=b.png", "--formats=\(ext)", "--to=c.\(ext)",
      "--layout=row")
    #expect(sheet.status == 0, "\(sheet.errors)")
    let again = try folder.run("resize", "--from=in.png", "--to=d.\(ext)", "--width=60")
    #expect(again.status == 0)
    #expect(try folder.bytes("d.\(ext)") == folder.bytes("a.\(ext)"))
  }

  @Test(arguments: [["--width=20"], ["--width=20", "--width=10", "--height=20", "--height=10"]])
  func `of several pages the first is read, whether or not frames are wanted`(
    sizes: [String]
  ) throws {
    let pages = Pixels(width: 40, height: 200) { _, y in
      [[255, 0, 0, 255], [0, 255, 0, 255]][y / 40 % 2]
    }
    let folder = try ImageFolder()
    let extras = SampleExtras(delays: [1, 1, 1, 1, 1])
    try folder.write(try pages.encoded("tiff", extras), to: "in.tiff")
    let fit = sizes.count > 1 ? ["--fit=cover"] : []
    let end = try folder.run(
      ["resize", "--from=in.tiff", "--formats=tiff", "--to=out-{width}.webp", "--frames=all"]
        + sizes + fit)
    #expect(end.status == 0, "\(end.errors)")
    let pixels = try Pixels(decoding: try folder.bytes("out-20.webp"))
    let shape: [Int] = [pixels.width, pixels.height, pixels.frames]
    #expect(shape == [20, 20, 1])
    #expect(pixels.letters([(3, 3), (16, 16)]) == "rr")
  }

  @Test func `the same format is one that all can read`() throws {
    let folder = try ImageFolder()
    for ext in more { try folder.write(try Pixels.corners(40, 40).encoded(ext), to: "in.\(ext)") }
    let end = try folder.run(
      ["resize", "--from=in.*", "--to=out/{index}.{ext}", "--width=20"]
        + more.map { "--formats=\($0)" })
    #expect(end.status == 0, "\(end.errors)")
    #expect(
      folder.files().filter { $0.hasPrefix("out/") }
        == ["out/1.avif", "out/2.jpg", "out/3.jxl", "out/4.png"])
  }

  @Test(arguments: more)
  func `what was cut is refused`(ext: String) throws {
    let whole = try Pixels.noise(300, 200).encoded(ext)
    for percent in [1, 20, 60, 90, 99] {
      let told = try verdict(Array(whole.prefix(whole.count * percent / 100)), ext)
      #expect(
        told?.hasPrefix("cannot be read as \(labels[ext] ?? ""): ") == true,
        "\(percent): \(told ?? "nothing")")
    }
  }

  @Test(arguments: more)
  func `sizes are refused before anything is decoded`(ext: String) throws {
    let image = try Pixels.noise(300, 200).encoded(ext)
    #expect(
      try verdict(image, ext, "--max-pixels=59999")
        == "has 300 × 200 pixels, wanted at most 59999 in all")
    #expect(
      try verdict(image, ext, "--max-bytes=1K")
        == "has \(image.count) bytes, wanted at most 1024")
  }

  /// The size in the header is replaced by a larger one.
  @Test(arguments: ["avif", "heic"])
  func `a header that lies is found out`(ext: String) throws {
    var image = try Pixels.noise(300, 200).encoded(ext)
    let boxes = places(of: Array("ispe".utf8), in: image)
    #expect(!boxes.isEmpty)
    for box in boxes {
      image.replaceSubrange(box + 8..<box + 16, with: [0, 0, 0x3a, 0x98, 0, 0, 0x0b, 0xb8])
    }
    let told = try verdict(image, ext)
    #expect(
      told?.hasPrefix("cannot be read as \(labels[ext] ?? ""): ") == true, "\(told ?? "nothing")")
    // libheif has its own limit, and says so.
    for box in boxes { image.replaceSubrange(box + 8..<box + 12, with: [0, 0, 0x61, 0xa8]) }
    let large = try verdict(image, ext)
    #expect(large?.contains("Image size 25000x3000 exceeds") == true, "\(large ?? "nothing")")
  }

  @Test func `a TIFF that lies is found out`() throws {
    var image = try Pixels.noise(300, 200).encoded("tiff")
    // The entries for width and height of the directory: tag, type, one value.
    for (tag, size) in [(0x100, 15_000), (0x101, 3000)] {
      let entry = [UInt8(tag & 0xff), UInt8(tag >> 8)]
      let place = try #require(
        places(of: entry, in: image).first { image[$0 + 2] <= 4 && image[$0 + 4] == 1 })
      image.replaceSubrange(
        place + 2..<place + 12,
        with: [4, 0, 1, 0, 0, 0, UInt8(size & 0xff), UInt8(size >> 8), 0, 0])
    }
    let told = try verdict(image, "tiff")
    #expect(told?.hasPrefix("cannot be read as TIFF: ") == true, "\(told ?? "nothing")")
  }

  @Test(arguments: more)
  func `random damage never does more than fail`(ext: String) throws {
    let folder = try ImageFolder()
    var state: UInt64 = 7
    func random(_ count: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % count
    }
    let whole = try Pixels.noise(60, 40).encoded(ext)
    for index in 0..<40 {
      var bytes = whole
      // The first bytes say what it is.
      for _ in 0..<1 + random(8) { bytes[16 + random(bytes.count - 16)] = UInt8(random(256)) }
      try folder.write(bytes, to: "in-\(index)")
    }
    let end = try folder.run(
      "resize", "--from=in-*", "--formats=\(ext)", "--to=out/{index}.png", "--width=20",
      "--height=20", "--fit=cover")
    #expect(end.status == 0 || end.status == 1)
    #expect(end.peakMegabytes < 1000)
    let failed = end.errors.split(separator: "\n").filter { $0.hasPrefix("failed: in-") }.count
    let written = folder.files().filter { $0.hasPrefix("out/") && $0.hasSuffix(".png") }.count
    #expect(failed + written == 40)
  }

  /// Strips of zeros, packed: 1/1000 of what they become.
  @Test(arguments: more)
  func `a bomb within the limits is worked off in little memory`(ext: String) throws {
    let folder = try ImageFolder()
    // The same bomb, made with less effort.
    let target = ["avif": "avif[effort=0]", "jxl": "jxl[effort=3]"][ext] ?? ext
    try folder.write(try Pixels.plain(4000, 4000, [0, 0, 0, 255]).encoded(target), to: "bomb")
    let end = try folder.run(
      "resize", "--from=bomb", "--formats=\(ext)", "--to=out.png", "--width=20")
    #expect(end.status == 0, "\(end.errors)")
    #expect(end.peakMegabytes < 700, "\(end.peakMegabytes) MB")
  }

  @Test func `of many pages only the first is read`() throws {
    let folder = try ImageFolder()
    var bytes = try Pixels.corners(20, 20).encoded("tiff")
    // The directory is its own successor: a loop.
    let directory = Int(bytes[4]) | Int(bytes[5]) << 8 | Int(bytes[6]) << 16
    let count = Int(bytes[directory]) | Int(bytes[directory + 1]) << 8
    let next = directory + 2 + count * 12
    bytes.replaceSubrange(next..<next + 4, with: bytes[4..<8])
    try folder.write(bytes, to: "loop.tiff")
    let end = try folder.run(
      "resize", "--from=loop.tiff", "--formats=tiff", "--to=out.png", "--width=20",
      "--time-limit=10s")
    #expect(end.status == 0 || end.errors.contains("cannot be read as TIFF: "), "\(end.errors)")
  }
}

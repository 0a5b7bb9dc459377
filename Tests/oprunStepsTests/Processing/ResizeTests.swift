// `oprun-steps resize`, from files to files, pixels compared.

import Foundation
import TestSupport
import Testing

@testable import oprun_steps

/// A folder with one image.
private func folder(_ file: String, _ pixels: Pixels, _ extras: SampleExtras = SampleExtras())
  throws
  -> ImageFolder
{
  let folder = try ImageFolder()
  try folder.write(try pixels.encoded(URL(filePath: file).pathExtension, extras), to: file)
  return folder
}

/// The corners, then the middle.
private func look(_ pixels: Pixels) -> String {
  let (right, bottom) = (pixels.width - 1, pixels.height / pixels.frames - 1)
  return "\(pixels.width) × \(pixels.height) "
    + pixels.letters([(0, 0), (right, 0), (0, bottom), (right, bottom)])
}

@Suite(.blocking) struct ResizeTests {
  @Test(arguments: ["jpg", "png", "webp", "gif", "avif", "tiff", "heic", "jxl"])
  func `nothing but the image is left of a file`(ext: String) throws {
    let folder = try ImageFolder()
    let extras = SampleExtras(orientation: 6, comment: "confidential")
    try folder.write(try Pixels.noise(40, 60).encoded("jpg", extras), to: "in.jpg")
    let read = try SampleExtras(of: try folder.bytes("in.jpg")).fields
    #expect(read.isSuperset(of: ["exif-data", "xmp-data"]))
    for sizes in [["--width=20"], ["--width=20", "--width=10"]] {
      let end = try folder.run(["resize", "--from=in.jpg", "--to=out-{width}.\(ext)"] + sizes)
      #expect(end.status == 0, "\(end.errors)")
      let bytes = try folder.bytes("out-20.\(ext)")
      let fields = try SampleExtras(of: bytes).fields
      #expect(fields.isDisjoint(with: ["xmp-data", "iptc-data"]))
      // The encoder for WebP adds EXIF of its own, with the resolution.
      #expect(!fields.contains("exif-ifd0-Copyright"))
      #expect(!String(decoding: bytes, as: UTF8.self).contains("confidential"))
    }
  }

  @Test(arguments: [
    ("inside", "60 × 30 rgbw"), ("cover", "60 × 60 rgbw"), ("contain", "60 × 60 kkkk"),
    ("fill", "60 × 60 rgbw"),
  ])
  func `each fit does what it says`(fit: String, expected: String) throws {
    let folder = try folder("in.png", .corners(200, 100))
    let end = try folder.run(
      "resize", "--from", "in.png", "--to", "out.png", "--width", "60", "--height", "60", "--fit",
      fit, "--background", "black")
    #expect(end.status == 0, "\(end.errors)")
    #expect(look(try Pixels(decoding: try folder.bytes("out.png"))) == expected)
  }

  @Test func `cover cuts evenly, and contain has even borders`() throws {
    let stripes = Pixels(width: 90, height: 30) { x, _ in
      [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255]][x / 30]
    }
    let folder = try folder("in.png", stripes)
    try folder.run(
      "resize", "--from=in.png", "--to=cover.png", "--width=30", "--height=30", "--fit=cover")
    let cover = try Pixels(decoding: try folder.bytes("cover.png"))
    #expect(cover.letters([(1, 15), (15, 0), (15, 29), (28, 15)]) == "gggg")
    try folder.run(
      "resize", "--from=in.png", "--to=contain.png", "--width=90", "--height=90", "--fit=contain",
      "--background=yellow")
    let contain = try Pixels(decoding: try folder.bytes("contain.png"))
    #expect(contain.letters([(45, 29), (45, 31), (45, 58), (45, 60)]) == "yggy")
  }

  /// The orientation of the tag, and what then stands in the corners.
  @Test(arguments: [
    (1, "20 × 10 rgbw"), (2, "20 × 10 grwb"), (3, "20 × 10 wbgr"), (4, "20 × 10 bwrg"),
    (5, "10 × 20 rbgw"), (6, "10 × 20 brwg"), (7, "10 × 20 wgbr"), (8, "10 × 20 gwrb"),
  ])
  func `images are turned upright`(orientation: Int, expected: String) throws {
    let folder = try folder("in.jpg", .corners(160, 80), SampleExtras(orientation: orientation))
    let side = orientation < 5 ? "--width=20" : "--width=10"
    let end = try folder.run("resize", "--from=in.jpg", "--to=out.png", side, "--strip=false")
    #expect(end.status == 0, "\(end.errors)")
    let bytes = try folder.bytes("out.png")
    #expect(look(try Pixels(decoding: bytes)) == expected)
    #expect(try SampleExtras(of: bytes).orientation == 1)
  }

  @Test func `turned images fit and are cut as they are seen`() throws {
    let folder = try folder("in.jpg", .corners(160, 80), SampleExtras(orientation: 6))
    try folder.run(
      "resize", "--from=in.jpg", "--to=out-{width}.png", "--fit=cover", "--width=40", "--width=20",
      "--height=40")
    #expect(look(try Pixels(decoding: try folder.bytes("out-40.png"))) == "40 × 40 brwg")
    #expect(look(try Pixels(decoding: try folder.bytes("out-20.png"))) == "20 × 40 brwg")
  }

  @Test(arguments: ["jpg", "png", "webp", "gif", "avif"])
  func `every format is written`(ext: String) throws {
    let folder = try folder("in.png", .corners(64, 64))
    let end = try folder.run("resize", "--from=in.png", "--to=out/{name}.\(ext)", "--width=32")
    #expect(end.status == 0, "\(end.errors)")
    #expect(folder.files(besides: ["in.png"]) == ["out/in.\(ext)"])
    let kind = FileKind(firstBytes: try folder.bytes("out/in.\(ext)"))
    #expect(kind == .image(try #require(ImageFormat(word: ext))))
    #expect(look(try Pixels(decoding: try folder.bytes("out/in.\(ext)"))) == "32 × 32 rgbw")
  }

  @Test(arguments: ["jpg", "png", "webp", "gif", "avif", "heic", "jxl", "tiff"])
  func `every format is read`(ext: String) throws {
    let folder = try folder("in.\(ext)", .corners(64, 64))
    let end = try folder.run(
      "resize", "--from=in.\(ext)", "--to=out.png", "--width=32", "--formats=tiff",
      "--formats=avif", "--formats=heic", "--formats=jxl")
    #expect(end.status == 0, "\(end.errors)")
    #expect(look(try Pixels(decoding: try folder.bytes("out.png"))) == "32 × 32 rgbw")
  }

  @Test func `the format is what was read, whatever the name says`() throws {
    let folder = try ImageFolder()
    try folder.write(try Pixels.corners(8, 8).encoded("png"), to: "in.jpg")
    try folder.run("resize", "--from=in.jpg", "--to=out/{name}.{ext}", "--width=4")
    #expect(folder.files(besides: ["in.jpg"]).contains("out/in.png"))
  }

  @Test func `transparency stays, or is laid onto the background`() throws {
    let half = Pixels(width: 40, height: 20) { x, _ in x < 20 ? [255, 0, 0, 255] : [0, 0, 0, 0] }
    let folder = try folder("in.png", half, SampleExtras(isOpaque: false))
    try folder.run("resize", "--from=in.png", "--to=out.webp", "--width=20", "--quality=100")
    #expect(look(try Pixels(decoding: try folder.bytes("out.webp"))) == "20 × 10 r-r-")
    try folder.run("resize", "--from=in.png", "--to=out.jpg", "--width=20", "--background=blue")
    #expect(look(try Pixels(decoding: try folder.bytes("out.jpg"))) == "20 × 10 rbrb")
    try folder.run(
      "resize", "--from=in.png", "--to=wide.png", "--width=40", "--height=40", "--fit=contain",
      "--background=transparent")
    #expect(look(try Pixels(decoding: try folder.bytes("wide.png"))) == "40 × 40 ----")
  }

  /// Its red is sRGB's green and vice versa.
  @Test func `colour profiles are worked off`() throws {
    let profile = MadeProfile.swappedRedAndGreen
    let folder = try folder(
      "in.png", .plain(20, 20, [255, 0, 0, 255]), SampleExtras(profile: profile))
    try folder.run("resize", "--from=in.png", "--to=out-{width}.png", "--width=10", "--width=5")
    for file in ["out-10.png", "out-5.png"] {
      #expect(try Pixels(decoding: try folder.bytes(file)).letters([(2, 2)]) == "g")
      #expect(!(try SampleExtras(of: try folder.bytes(file)).fields.contains("icc-profile-data")))
    }
  }

  @Test func `four inks become three colours`() throws {
    let folder = try folder(
      "in.jpg", .plain(20, 20, [0, 255, 255, 0]), SampleExtras(isCMYK: true))
    let end = try folder.run("resize", "--from=in.jpg", "--to=out.png", "--width=10")
    #expect(end.status == 0, "\(end.errors)")
    let color = try Pixels(decoding: try folder.bytes("out.png"))[5, 5]
    #expect(color[0] > 180 && color[1] < 90 && color[2] < 90, "\(color)")
  }

  @Test func `metadata are left out unless they are wanted`() throws {
    let folder = try folder("in.jpg", .corners(64, 64), SampleExtras(comment: "me"))
    try folder.run("resize", "--from=in.jpg", "--to=out.jpg", "--width=32")
    try folder.run("resize", "--from=in.jpg", "--to=all.jpg", "--width=32", "--strip=false")
    let field = "exif-ifd0-Copyright"
    #expect(try SampleExtras(of: try folder.bytes("in.jpg")).fields.contains(field))
    #expect(!(try SampleExtras(of: try folder.bytes("out.jpg")).fields.contains(field)))
    #expect(try SampleExtras(of: try folder.bytes("all.jpg")).fields.contains(field))
  }

  @Test func `quality makes a difference in bytes`() throws {
    let folder = try folder("in.png", .noise(200, 200))
    for quality in ["20", "95"] {
      try folder.run(
        "resize", "--from=in.png", "--to=\(quality).jpg", "--width=200", "--quality", quality)
    }
    #expect(try folder.bytes("20.jpg").count * 2 < folder.bytes("95.jpg").count)
  }

  @Test func `the same image gives the same bytes on every run`() throws {
    let folder = try folder("in.jpg", .noise(500, 400))
    for ext in ["jpg", "png", "webp", "avif"] {
      for run in ["a", "b"] {
        try folder.run(
          "resize", "--from=in.jpg", "--to=\(run)-{width}.\(ext)", "--width=300", "--width=100")
      }
      for width in [300, 100] {
        #expect(
          try folder.bytes("a-\(width).\(ext)") == folder.bytes("b-\(width).\(ext)"), "\(ext)")
      }
    }
  }

  @Test func `several sizes of one decoding look like those made alone`() throws {
    let folder = try folder("in.jpg", .noise(640, 480))
    try folder.run(
      "resize", "--from=in.jpg", "--to=all-{width}.png", "--width=300", "--width=150", "--width=40")
    for width in ["300", "150", "40"] {
      try folder.run("resize", "--from=in.jpg", "--to=one-\(width).png", "--width", width)
      let all = try Pixels(decoding: try folder.bytes("all-\(width).png"))
      let one = try Pixels(decoding: try folder.bytes("one-\(width).png"))
      #expect(all.width == one.width && all.height == one.height)
      let furthest = zip(all.bytes, one.bytes).map { abs(Int($0) - Int($1)) }.max() ?? 0
      #expect(furthest < 30)
    }
  }

  @Test func `the smallest and the longest images work`() throws {
    let folder = try folder("dot.png", .plain(1, 1, [255, 0, 0, 255]))
    try folder.write(try Pixels.plain(3000, 1, [255, 0, 0, 255]).encoded("png"), to: "line.png")
    let end = try folder.run(
      "resize", "--from=dot.png", "--from=line.png", "--to={name}-{width}.jpg", "--width=50",
      "--height=20", "--fit=cover")
    #expect(end.status == 0, "\(end.errors)")
    #expect(look(try Pixels(decoding: try folder.bytes("dot-50.jpg"))) == "50 × 20 rrrr")
    #expect(look(try Pixels(decoding: try folder.bytes("line-50.jpg"))) == "50 × 20 rrrr")
  }

  @Test(arguments: [(640, 480, 641, 480), (640, 480, 640, 481), (20, 10, 21, 10)])
  func `contain can leave a border of one pixel`(
    width: Int, height: Int, boxWidth: Int, boxHeight: Int
  ) throws {
    let folder = try folder("in.png", .plain(width, height, [255, 0, 0, 255]))
    let end = try folder.run(
      "resize", "--from=in.png", "--to=out.png", "--width=\(boxWidth)", "--height=\(boxHeight)",
      "--fit=contain", "--background=black")
    #expect(end.errors == "")
    let pixels = try Pixels(decoding: try folder.bytes("out.png"))
    let shape: [Int] = [pixels.width, pixels.height]
    #expect(shape == [boxWidth, boxHeight])
    #expect(pixels.letters([(0, 0), (boxWidth - 1, boxHeight - 1)]) == "rk")
  }

  @Test(arguments: ["{name}.{ext}", "../{name}.{ext}", "other.png"])
  func `what is read is never written over`(pattern: String) throws {
    let folder = try folder("in.png", .plain(40, 20, [255, 0, 0, 255]))
    try folder.makeFolder("sub")
    let other = try Pixels.plain(30, 20, [255, 0, 0, 255]).encoded("png")
    try folder.write(other, to: "other.png")
    let before = [try folder.bytes("in.png"), other]
    let end = try folder.run(
      "resize", "--from=in.png", "--from=sub/../other.png",
      "--to=\(pattern.hasPrefix("..") ? "sub/" : "")\(pattern)", "--width=10")
    #expect(end.status == 2)
    #expect(before == [try folder.bytes("in.png"), try folder.bytes("other.png")])
  }

  @Test func `the file that would be written over is named; a link to it is replaced`() throws {
    let folder = try folder("in.png", .plain(40, 20, [255, 0, 0, 255]))
    let before = try folder.bytes("in.png")
    let end = try folder.run("resize", "--from=in.png", "--to=./{name}.png", "--width=10")
    #expect(
      end.errors == """
        oprun-steps: './in.png' would be written in the place of 'in.png', which is read
          help: give 'to' another directory or another name
        try 'oprun-steps resize --help'

        """)
    try FileManager.default.createSymbolicLink(
      atPath: folder.path("out.png"), withDestinationPath: "in.png")
    #expect(try folder.run("resize", "--from=in.png", "--to=out.png", "--width=10").errors == "")
    #expect(try folder.bytes("in.png") == before)
    #expect(try Pixels(decoding: try folder.bytes("out.png")).width == 10)
  }

  @Test func `a disk that is full is told as that`() throws {
    let folder = try folder("in.png", .noise(400, 400))
    try folder.makeFolder("disk")
    let child = try Child(
      script: """
        cd '\(folder.url.path)' && exec unshare -rm sh -c '
          mount -t tmpfs -o size=16k none disk && exec "$@"' sh '\(ImageFolder.program)' \
          resize --from=in.png --to=disk/ --width=300 --manifest=m.json </dev/null >.stdout 2>.stderr
        """)
    #expect(child.wait() == 1)
    #expect(
      try folder.text(".stderr")
        == "failed: in.png: cannot be written as PNG: no space left on device\n")
  }
}

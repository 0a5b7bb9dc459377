// `oprun-steps compose`, from files to a file, pixels compared.

import Foundation
import TestSupport
import Testing

@testable import oprun_steps

/// A red, a green and a blue image, 40 × 20 each.
private func folder() throws -> ImageFolder {
  let folder = try ImageFolder()
  let colors: [(String, [UInt8])] = [
    ("1-red", [255, 0, 0, 255]), ("2-green", [0, 255, 0, 255]), ("3-blue", [0, 0, 255, 255]),
  ]
  for (name, color) in colors {
    try folder.write(try Pixels.plain(40, 20, color).encoded("png"), to: "\(name).png")
  }
  return folder
}

@Suite(.blocking) struct ComposeTests {
  @Test func `a row stands side by side`() throws {
    let folder = try folder()
    let end = try folder.run(
      "compose", "--images=*.png", "--to=out.png", "--layout=row", "--gap=10", "--background=black")
    #expect(end.status == 0, "\(end.errors)")
    let pixels = try Pixels(decoding: try folder.bytes("out.png"))
    let size: [Int] = [pixels.width, pixels.height]
    #expect(size == [140, 20])
    #expect(pixels.letters([(0, 0), (39, 19), (45, 10), (50, 0), (95, 5), (139, 19)]) == "rrkgkb")
  }

  @Test func `a column stands one below the other, in the order that was given`() throws {
    let folder = try folder()
    try folder.run(
      "compose", "--images=3-blue.png", "--images=1-red.png", "--to=out.jpg", "--layout=column",
      "--width=20", "--quality=100")
    let pixels = try Pixels(decoding: try folder.bytes("out.jpg"))
    let size: [Int] = [pixels.width, pixels.height]
    #expect(size == [20, 20])
    #expect(pixels.letters([(5, 2), (5, 17)]) == "br")
  }

  @Test func `a grid leaves its last cells to the background`() throws {
    let folder = try folder()
    try folder.run(
      "compose", "--images=*.png", "--to=out.webp", "--width=80", "--quality=100",
      "--background=transparent")
    let pixels = try Pixels(decoding: try folder.bytes("out.webp"))
    let size: [Int] = [pixels.width, pixels.height]
    #expect(size == [80, 40])
    #expect(pixels.letters([(10, 5), (70, 5), (10, 35), (70, 35)]) == "rgb-")
  }

  @Test func `images are turned upright, and transparent ones show the background`() throws {
    let folder = try ImageFolder()
    try folder.write(
      try Pixels.corners(80, 40).encoded("jpg", SampleExtras(orientation: 6)), to: "a.jpg")
    let half = Pixels(width: 20, height: 40) { _, y in y < 20 ? [255, 0, 0, 255] : [0, 0, 0, 0] }
    try folder.write(try half.encoded("png", SampleExtras(isOpaque: false)), to: "b.png")
    let end = try folder.run(
      "compose", "--images=a.jpg", "--images=b.png", "--to=out.png", "--layout=row", "--height=40",
      "--background=yellow")
    #expect(end.status == 0, "\(end.errors)")
    let pixels = try Pixels(decoding: try folder.bytes("out.png"))
    let size: [Int] = [pixels.width, pixels.height]
    #expect(size == [40, 40])
    #expect(pixels.letters([(0, 0), (19, 0), (0, 39), (19, 39), (30, 5), (30, 35)]) == "brwgry")
  }

  @Test func `a background that can be seen through is painted`() throws {
    let folder = try folder()
    let end = try folder.run(
      "compose", "--images=1-red.png", "--images=2-green.png", "--to=out.png", "--layout=row",
      "--gap=10", "--background=#0000ff80")
    #expect(end.status == 0, "\(end.errors)")
    let pixels = try Pixels(decoding: try folder.bytes("out.png"))
    #expect(pixels.width == 110 || pixels.width == 90)
    let gap = (0..<pixels.width).map { pixels[$0, pixels.height / 2] }.first { $0[3] != 255 }
    #expect(gap == [0, 0, 255, 128])
  }

  @Test func `many images of many formats make the same bytes on every run`() throws {
    let folder = try ImageFolder()
    for (index, ext) in ["jpg", "png", "webp", "gif"].enumerated() {
      for number in 0..<5 {
        let pixels = Pixels.noise(
          60 + number * 20, 90 - number * 10, seed: UInt64(index * 9 + number))
        try folder.write(try pixels.encoded(ext), to: "in-\(number)-\(index).\(ext)")
      }
    }
    for run in ["a", "b"] {
      let end = try folder.run(
        "compose", "--images=in-*", "--to=\(run).png", "--width=500", "--gap=4", "--workers=4")
      #expect(end.status == 0, "\(end.errors)")
    }
    #expect(try folder.bytes("a.png") == folder.bytes("b.png"))
  }

  @Test func `a composition with a hole is none, and all holes are told`() throws {
    let folder = try folder()
    try folder.write(Array("<html>".utf8), to: "4.png")
    let whole = try Pixels.noise(90, 90).encoded("jpg")
    try folder.write(Array(whole.prefix(whole.count / 2)), to: "5.png")
    let known = Set(folder.files())
    let end = try folder.run("compose", "--images=?*.png", "--images=none.png", "--to=out.png")
    #expect(end.status == 1)
    let said = try #require(end.errors.split(separator: "\n").first { $0.contains("'5.png'") })
    #expect(said.hasPrefix("oprun-steps: '5.png': cannot be read as JPEG: "), "\(said)")
    #expect(
      end.errors
        == """
        oprun-steps: '4.png': found a web page (HTML), wanted JPEG, PNG, WebP or GIF
        CUT
        oprun-steps: 'none.png': cannot open 'none.png': no such file or directory

        """.replacingOccurrences(of: "CUT", with: said))
    let cut = try folder.run("compose", "--images=1-red.png", "--images=5.png", "--to=out.png")
    #expect(cut.status == 1)
    #expect(cut.errors.hasPrefix("oprun-steps: '5.png': cannot be read as JPEG: "), "\(cut.errors)")
    #expect(folder.files(besides: known) == [])
  }

  @Test func `mistakes are told`() throws {
    let folder = try folder()
    let cases: [([String], String)] = [
      (["--images=*.jpg", "--to=out.png"], "'images' matches no file: '*.jpg'"),
      (
        ["--images=*.png", "--to=out"],
        "'to' wants a file that ends in a format, as 'sheet.jpg', found 'out'"
      ),
      (
        ["--images=*.png", "--to=out.png/"],
        "'to' wants a file that ends in a format, as 'sheet.jpg', found 'out.png/'"
      ),
      (
        ["--images=*.png", "--to=out.png", "--layout=row", "--width=2"],
        "'width' and 'height' leave no pixel for each of 3 images"
      ),
      (
        ["--images=*.png", "--to=out.png", "--max-pixels=800", "--layout=row"],
        "'out.png': would become 120 × 20 pixels, wanted at most 800 in all"
      ),
    ]
    for (words, expected) in cases {
      let end = try folder.run(["compose"] + words)
      #expect(end.status != 0)
      #expect(end.errors.contains(expected), "\(end.errors)")
    }
  }

  @Test func `a pattern that finds the composition of before is told`() throws {
    let folder = try folder()
    #expect(try folder.run("compose", "--images=*.png", "--to=4-all.png").status == 0)
    let again = try folder.run("compose", "--images=*.png", "--to=./4-all.png")
    #expect(
      again.errors == """
        oprun-steps: './4-all.png' would be written in the place of '4-all.png', which is read
          help: give 'to' another directory or another name
        try 'oprun-steps compose --help'

        """)
    #expect(again.status == 2)
  }
}

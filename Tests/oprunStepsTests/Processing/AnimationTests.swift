// Images of several frames.

import Foundation
import TestSupport
import Testing

@testable import oprun_steps

/// A red frame, then a green one, then a blue one.
private let traffic = Pixels(width: 40, height: 60) { _, y in
  [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255]][y / 20]
}

private func folder(_ ext: String) throws -> ImageFolder {
  let folder = try ImageFolder()
  try folder.write(
    try traffic.encoded(ext, SampleExtras(delays: [100, 200, 300])), to: "in.\(ext)")
  return folder
}

@Suite(.blocking) struct AnimationTests {
  @Test(arguments: ["gif", "webp"])
  func `the first frame is taken`(ext: String) throws {
    let folder = try folder(ext)
    let end = try folder.run("resize", "--from=in.\(ext)", "--to=out.\(ext)", "--width=20")
    #expect(end.status == 0, "\(end.errors)")
    let pixels = try Pixels(decoding: try folder.bytes("out.\(ext)"))
    let shape: [Int] = [pixels.width, pixels.height, pixels.frames]
    #expect(shape == [20, 10, 1])
    #expect(pixels.letters([(10, 5)]) == "r")
  }

  @Test(arguments: [
    ("gif", "inside", 10), ("webp", "inside", 10), ("gif", "cover", 20), ("webp", "contain", 20),
  ])
  func `all frames are taken where that is wanted`(ext: String, fit: String, height: Int) throws {
    let folder = try folder(ext)
    let end = try folder.run(
      "resize", "--from=in.\(ext)", "--to=out.\(ext)", "--width=20", "--height=20", "--fit", fit,
      "--frames=all", "--background=black")
    #expect(end.status == 0, "\(end.errors)")
    let bytes = try folder.bytes("out.\(ext)")
    let pixels = try Pixels(decoding: bytes)
    let shape: [Int] = [pixels.width, pixels.height, pixels.frames]
    #expect(shape == [20, height * 3, 3])
    let middles = (0..<3).map { (10, height * $0 + height / 2) }
    #expect(pixels.letters(middles) == "rgb")
    if fit == "contain" { #expect(pixels.letters([(10, 1), (10, 19), (10, 21)]) == "kkk") }
    #expect(try SampleExtras(of: bytes).fields.isSuperset(of: ["delay", "loop"]))
  }

  /// The last frame is red on the left in the file.
  @Test(arguments: [
    (1, "rb/rb"), (2, "br/br"), (3, "br/br"), (4, "rb/rb"), (5, "rr/bb"), (6, "rr/bb"),
    (7, "bb/rr"), (8, "bb/rr"),
  ])
  func `each frame is turned upright`(orientation: Int, expected: String) throws {
    let halves = Pixels(width: 40, height: 60) { x, y in
      y < 20 ? [0, 255, 0, 255] : y < 40 || x < 20 ? [255, 0, 0, 255] : [0, 0, 255, 255]
    }
    let folder = try ImageFolder()
    var extras = SampleExtras(delays: [100, 200, 300])
    extras.orientation = orientation
    try folder.write(try halves.encoded("webp", extras), to: "in.webp")
    for sizes in [["--width=20"], ["--width=20", "--width=10"]] {
      let end = try folder.run(
        ["resize", "--from=in.webp", "--to={name}-{width}-out.webp", "--frames=all"] + sizes)
      #expect(end.status == 0, "\(end.errors)")
      let pixels = try Pixels(decoding: try folder.bytes("in-20-out.webp"))
      let height = orientation < 5 ? 10 : 40
      let shape: [Int] = [pixels.width, pixels.height, pixels.frames]
      try #require(shape == [20, height * 3, 3])
      let last = height * 2
      let (top, bottom) = (last + height / 5, last + height * 4 / 5)
      let found =
        pixels.letters([(3, top), (16, top)]) + "/" + pixels.letters([(3, bottom), (16, bottom)])
      #expect(found == expected)
    }
  }

  @Test func `several sizes of all frames, and a still image beside them`() throws {
    let folder = try folder("gif")
    try folder.run(
      "resize", "--from=in.gif", "--to={name}-{width}.{ext}", "--frames=all", "--width=20",
      "--width=10")
    #expect(try Pixels(decoding: try folder.bytes("in-20.gif")).frames == 3)
    #expect(try Pixels(decoding: try folder.bytes("in-10.gif")).frames == 3)
  }

  @Test func `a format of one frame cannot take all`() throws {
    let folder = try folder("gif")
    let end = try folder.run(
      "resize", "--from=in.gif", "--to=out.png", "--width=20", "--frames=all")
    #expect(end.status == 2)
    #expect(
      end.errors == """
        oprun-steps: 'frames: all' wants a format that holds several, GIF or WebP, found PNG
        try 'oprun-steps resize --help'

        """)
  }
}

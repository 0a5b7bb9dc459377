// The images in the documentation that show how images fit: drawn by the program itself.

import Foundation
import TestSupport
import Testing

@testable import oprun_steps

private let pictures = URL(fileURLWithPath: #filePath)
  .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  .deletingLastPathComponent().appending(path: "docs/images", directoryHint: .isDirectory)

/// A sun over a hill: round things show every distortion.
private let landscape = Pixels(width: 240, height: 120) { x, y in
  let (dx, dy) = (x - 60, y - 45)
  if dx * dx + dy * dy < 30 * 30 { return [255, 214, 64, 255] }
  let hill = 120 - (x - 40) * (260 - x) / 220
  if y > hill { return [UInt8(60 + x / 8), UInt8(130 + y / 4), 70, 255] }
  return [UInt8(90 + y), UInt8(150 + y / 2), 235, 255]
}

@Suite(.blocking) struct FitPicturesTests {
  /// `OPRUN_BLESS=1` draws them again.
  @Test func `the pictures in the documentation are what the program makes`() throws {
    let folder = try ImageFolder()
    try folder.write(try landscape.encoded("png"), to: "landscape.png")
    try folder.run("resize", "--from=landscape.png", "--to=original.png", "--width=240")
    for fit in ["inside", "cover", "contain", "fill"] {
      let end = try folder.run(
        "resize", "--from=landscape.png", "--to=fit-\(fit).png", "--width=120", "--height=120",
        "--fit", fit, "--background=#dddddd")
      #expect(end.status == 0, "\(end.errors)")
    }
    for name in ["original", "fit-inside", "fit-cover", "fit-contain", "fit-fill"] {
      let made = try folder.bytes("\(name).png")
      let file = pictures.appending(path: "\(name).png")
      if ProcessInfo.processInfo.environment["OPRUN_BLESS"] == "1" {
        try Data(made).write(to: file)
      }
      let shown = try Pixels(decoding: [UInt8](try Data(contentsOf: file)))
      #expect(shown == (try Pixels(decoding: made)), "\(name)")
    }
  }
}

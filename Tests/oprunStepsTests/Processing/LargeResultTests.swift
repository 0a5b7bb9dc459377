// Large compositions: how much memory they take, and what is refused for want of it.

import Foundation
import TestSupport
import Testing

@testable import oprun_steps

/// A photograph of 12 million pixels.
private let photograph = Result {
  let folder = try ImageFolder()
  try folder.write(try Pixels.noise(80, 60).encoded("png"), to: "small.png")
  try folder.run(
    "resize", "--from=small.png", "--to=large.jpg", "--width=4000", "--height=3000", "--fit=fill")
  return try folder.bytes("large.jpg")
}

private func folder(photographs count: Int) throws -> ImageFolder {
  let folder = try ImageFolder()
  try folder.write(try photograph.get(), to: "1.jpg")
  for number in 2...count {
    try FileManager.default.linkItem(
      atPath: folder.path("1.jpg"), toPath: folder.path("\(number).jpg"))
  }
  return folder
}

@Suite(.blocking) struct LargeResultTests {
  @Test func `ten times as many photographs take no more memory`() throws {
    func peak(of count: Int) throws -> Int {
      let end = try folder(photographs: count).run(
        "compose", "--images=*.jpg", "--to=sheet.png", "--width=1200", "--gap=4", "--workers=2")
      #expect(end.status == 0, "\(end.errors)")
      return end.peakMegabytes
    }
    let (few, many) = (try peak(of: 4), try peak(of: 40))
    #expect(many <= few + 16, "\(few) MB, then \(many) MB")
    #expect(many <= 100)
  }

  @Test func `a sheet of fifty million pixels takes four bytes for each, and an encoder`() throws {
    let folder = try folder(photographs: 4)
    let end = try folder.run(
      "compose", "--images=*.jpg", "--to=sheet.jpg", "--width=8000", "--height=6250")
    #expect(end.status == 0, "\(end.errors)")
    #expect(end.output.contains("8000 × 6250"))
    #expect(end.peakMegabytes <= 450, "\(end.peakMegabytes) MB")
  }

  @Test(arguments: [
    ("png", "9999", "20000", "would become 9999 × 20000 pixels, wanted at most 50000000 in all"),
    ("avif", "6000", "5000", "would become 6000 × 5000 pixels, wanted at most 25000000 for AVIF"),
  ])
  func `what would be too large is refused`(
    ext: String, width: String, height: String, message: String
  ) throws {
    let folder = try folder(photographs: 2)
    let end = try folder.run(
      "compose", "--images=*.jpg", "--to=sheet.\(ext)", "--width=\(width)", "--height=\(height)")
    #expect(end.status == 1)
    #expect(end.errors == "oprun-steps: 'sheet.\(ext)': \(message)\n")
    #expect(end.peakMegabytes <= 100)
    #expect(folder.files() == ["1.jpg", "2.jpg"])
  }

  @Test(arguments: [("jpg", "200000000 for JPEG"), ("webp", "70000000 for WebP")])
  func `no wish for more pixels gives an encoder more memory`(
    ext: String, most: String
  ) throws {
    let folder = try folder(photographs: 2)
    let end = try folder.run(
      "compose", "--images=*.jpg", "--to=sheet.\(ext)", "--width=20000", "--height=20000",
      "--max-pixels=1000000000")
    #expect(
      end.errors == """
        oprun-steps: 'sheet.\(ext)': would become 20000 × 20000 pixels, wanted at most \(most)

        """)
    #expect(end.peakMegabytes <= 100)
  }

  @Test func `a result of a resize has the same limits`() throws {
    let folder = try folder(photographs: 2)
    let end = try folder.run(
      "resize", "--from=1.jpg", "--to=out.avif", "--width=6000", "--height=5000", "--fit=fill")
    #expect(
      end.errors == """
        failed: 1.jpg: would become 6000 × 5000 pixels, wanted at most 25000000 for AVIF

        """)
  }

  @Test func `a file without content is found out`() throws {
    let folder = try ImageFolder()
    func hasContent(_ bytes: [UInt8]) throws -> Bool {
      try folder.write(bytes, to: "x")
      let file = try #require(fopen(folder.path("x"), "r"))
      defer { fclose(file) }
      return WrittenHEIF.hasContent(fileno(file))
    }
    func box(_ size: UInt8, _ type: String, _ rest: [UInt8] = []) -> [UInt8] {
      [0, 0, 0, size] + Array(type.utf8) + rest
    }
    let type = box(12, "ftyp", Array("avif".utf8))
    let long: [UInt8] = [0, 0, 0, 0, 0, 0, 0]
    #expect(try hasContent(type + box(9, "mdat", [1])))
    #expect(try hasContent(type + box(0, "mdat", [1])))
    #expect(try hasContent(type + box(1, "mdat", long + [17, 1])))
    let wrong = [
      [], box(8, "mdat"), box(0, "mdat"), box(8, "meta"), box(1, "mdat", long + [16]),
      box(1, "mdat", [UInt8](repeating: 255, count: 8)), box(3, "mdat"),
    ]
    for rest in wrong { #expect(try !hasContent(type + rest)) }
  }
}

// PNGs that are broken in different ways, and the reason that is reported.

import TestSupport
import Testing

private let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

/// A header for 20 × 20 grey pixels, unless specified otherwise.
private func header(
  _ width: UInt8 = 20, depth: UInt8 = 8, kind: UInt8 = 0, compression: UInt8 = 0,
  filter: UInt8 = 0, interlacing: UInt8 = 0
) -> [UInt8] {
  MadePNG.chunk(
    "IHDR", [0, 0, 0, width, 0, 0, 0, 20, depth, kind, compression, filter, interlacing])
}

/// The header with the most bytes that the format allows.
private let enormousHeader = MadePNG.chunk(
  "IHDR", [0x7F, 0xFF, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF, 16, 6, 0, 0, 0])

private func data(_ content: [UInt8] = MadePNG.zeros(420)) -> [UInt8] {
  MadePNG.chunk("IDAT", content)
}

private let end = MadePNG.chunk("IEND", [])

/// Not compressed: RFC 1950 and 1951.
private func stored(_ bytes: [UInt8]) -> [UInt8] {
  let count = [UInt8(bytes.count & 0xFF), UInt8(bytes.count >> 8)]
  var (a, b) = (1, 0)
  for byte in bytes {
    a = (a + Int(byte)) % 65_521
    b = (b + a) % 65_521
  }
  return [0x78, 0x01, 1] + count + count.map { ~$0 } + bytes
    + [UInt8(b >> 8), UInt8(b & 0xFF), UInt8(a >> 8), UInt8(a & 0xFF)]
}

private func damaged(_ chunk: [UInt8]) -> [UInt8] {
  chunk.dropLast() + [chunk[chunk.count - 1] ^ 1]
}

private let broken: [(content: [UInt8], reason: String)] = [
  ([], "ends before its header"),
  ([0, 0], "ends inside of the head of a chunk"),
  (Array(header().prefix(12)), "ends inside of the chunk 'IHDR': 20 bytes are there, 33 wanted"),
  (header(), "has no image data"),
  (header() + end, "has no image data"),
  (header() + data().prefix(15), "ends inside of the chunk 'IDAT': 48 bytes are there, 216 wanted"),
  (damaged(header()) + data() + end, "has a wrong checksum in the chunk 'IHDR'"),
  (header() + damaged(data()) + end, "has a wrong checksum in the chunk 'IDAT'"),
  (header(0) + data() + end, "says that it has 0 × 20 pixels"),
  (enormousHeader + data() + end, "has image data for 0 of 2147483647 rows"),
  (header(kind: 5) + data() + end, "has the unknown colour type 5"),
  (
    header(depth: 3) + data() + end,
    "has 3 bits for a channel, which its colour type cannot have"
  ),
  (
    header(depth: 4, kind: 2) + data() + end,
    "has 4 bits for a channel, which its colour type cannot have"
  ),
  (header(compression: 1) + data() + end, "has the unknown compression 1"),
  (header(filter: 1) + data() + end, "has the unknown filter method 1"),
  (header(interlacing: 9) + data() + end, "has the unknown interlacing 9"),
  (data() + end, "does not begin with its header, but with the chunk 'IDAT'"),
  (header() + header() + data() + end, "has two headers"),
  (
    MadePNG.chunk("IHDR", [UInt8](repeating: 0, count: 20)) + data() + end,
    "has a header of 20 bytes, wanted 13"
  ),
  (header(kind: 3) + data() + end, "has no palette, which its colour type needs"),
  (header() + MadePNG.chunk("ABCD", []) + data() + end, "has a chunk of an unknown kind, 'ABCD'"),
  (
    [0, 0, 0, 13] + Array("I\u{1}DR".utf8) + data(),
    "has a chunk with an invalid name, at byte 8"
  ),
  ([0x80, 0, 0, 1] + Array("IHDR".utf8), "has a chunk 'IHDR' of an impossible length"),
  (
    header() + data(Array("garbage".utf8)) + end,
    "has broken image data: incorrect header check"
  ),
  (header() + data([]) + end, "has image data for 0 of 20 rows"),
  (header() + data(MadePNG.zeros(110)) + end, "has image data for 5 of 20 rows"),
  (
    header() + data(stored((0..<420).map { $0 == 63 ? 9 : 0 })) + end,
    "has an unknown filter in row 4"
  ),
]

@Suite(.blocking) struct BrokenPNGTests {
  @Test func `each has its own reason`() throws {
    let folder = try ImageFolder()
    for (index, png) in broken.enumerated() {
      try folder.write(signature + png.content, to: "\(100 + index).png")
    }
    let end = try folder.run("resize", "--from=*.png", "--to=out/", "--width=5", "--workers=1")
    #expect(end.status == 1)
    let told = end.errors.split(separator: "\n").filter { $0.hasPrefix("failed: ") }
    #expect(
      told.sorted()
        == broken.enumerated().map { index, png in
          "failed: \(100 + index).png: cannot be read as PNG: \(png.reason)"
        })
  }

  @Test func `a composition gives the same reason`() throws {
    let folder = try ImageFolder()
    try folder.write(signature + header() + data(MadePNG.zeros(110)) + end, to: "a.png")
    let told = try folder.run("compose", "--images=a.png", "--to=b.png", "--width=20")
    #expect(
      told.errors
        == "oprun-steps: 'a.png': cannot be read as PNG: has image data for 5 of 20 rows\n")
  }
}

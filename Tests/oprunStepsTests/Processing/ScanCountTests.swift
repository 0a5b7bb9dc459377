// How many scans a JPEG has, without a decoder.

import TestSupport
import Testing

@testable import oprun_steps

private func exceeds(_ limit: Int, _ bytes: [UInt8]) -> Bool {
  bytes.withUnsafeBytes { ScanCount.exceeds(limit, in: $0) }
}

@Suite(.blocking) struct ScanCountTests {
  @Test func `scans are counted to the limit`() {
    let image = MadeJPEG.progressive(64, 64, scans: 10)
    #expect(!exceeds(10, image))
    #expect(exceeds(9, image))
  }

  @Test func `what looks like a scan within data, padding and segments is none`() {
    let start: [UInt8] = [0xFF, 0xD8]
    let comment: [UInt8] = [0xFF, 0xFE, 0, 6, 0xFF, 0xDA, 0xFF, 0xDA]
    let frame: [UInt8] = [0xFF, 0xC2, 0, 11, 8, 0, 8, 0, 8, 1, 1, 0x11, 0]
    let scan: [UInt8] = [0xFF, 0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 0, 0]
    let data: [UInt8] = [1, 2, 0xFF, 0, 0xDA, 0xFF, 0xD0, 3, 0xFF, 0, 0xDA]
    let image = start + comment + frame + scan + data + [0xFF, 0xD9]
    #expect(!exceeds(1, image))
    #expect(exceeds(0, image))
  }

  @Test func `a baseline image is not looked through`() throws {
    #expect(!exceeds(0, try Pixels.noise(32, 32).encoded("jpg")))
  }

  @Test func `no bytes are a trap`() {
    let image = MadeJPEG.progressive(64, 64, scans: 5)
    for count in image.indices { _ = exceeds(3, Array(image.prefix(count))) }
    _ = exceeds(3, [0xFF, 0xD8, 0xFF, 0xE0, 0xFF, 0xFF])
    _ = exceeds(3, [UInt8](repeating: 0xFF, count: 1000))
    _ = exceeds(3, [])
  }
}

// Files that are made byte by byte, because no library would write them: bombs, lies, and leftovers.

import Foundation

enum MadePNG {
  /// A grey image that is all black, compressed to about 1/150 by hand.
  static func black(_ width: Int, _ height: Int, bits: Int = 8, interlaced: Bool = false) -> [UInt8]
  {
    file(
      width, height, bits: bits, interlaced: interlaced,
      data: zeros((width * bits + 7) / 8 * height + height))
  }

  /// Any header, and data that are hardly begun.
  static func claiming(_ width: Int, _ height: Int, interlaced: Bool = false) -> [UInt8] {
    file(width, height, bits: 8, interlaced: interlaced, data: zeros(1000))
  }

  private static func file(
    _ width: Int, _ height: Int, bits: Int, interlaced: Bool, data: [UInt8]
  ) -> [UInt8] {
    let header = big(width) + big(height) + [UInt8(bits), 0, 0, 0, interlaced ? 1 : 0]
    return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
      + chunk("IHDR", header) + chunk("IDAT", data) + chunk("IEND", [])
  }

  static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
    let body = Array(name.utf8) + content
    return big(content.count) + body + big(Int(crc(body)))
  }

  /// RFC 1950 and 1951: one literal 0, then copies of it, in the fixed code.
  static func zeros(_ count: Int) -> [UInt8] {
    var bits = BitWriter()
    bits.write(0b011, count: 3)
    bits.write(0b0000_1100, count: 8)
    var left = count - 1
    while left >= 258 {
      bits.write(0b1010_0011, count: 8)
      bits.write(0, count: 5)
      left -= 258
    }
    for _ in 0..<left { bits.write(0b0000_1100, count: 8) }
    bits.write(0, count: 7)
    return [0x78, 0x9C] + bits.finished + big(adlerOfZeros(count))
  }

  private static func adlerOfZeros(_ count: Int) -> Int { (count % 65_521) << 16 | 1 }

  private static func crc(_ bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(UInt32.max) { crc, byte in
      var next = crc ^ UInt32(byte)
      for _ in 0..<8 { next = next & 1 == 1 ? next >> 1 ^ 0xEDB8_8320 : next >> 1 }
      return next
    }
  }
}

/// The first bit goes into the lowest place.
private struct BitWriter {
  private var bytes: [UInt8] = []
  private var current: UInt8 = 0
  private var used = 0

  mutating func write(_ value: Int, count: Int) {
    for index in 0..<count {
      current |= UInt8(value >> index & 1) << UInt8(used)
      used += 1
      if used == 8 {
        bytes.append(current)
        (current, used) = (0, 0)
      }
    }
  }

  var finished: [UInt8] { used == 0 ? bytes : bytes + [current] }
}

enum MadeJPEG {
  /// A grey progressive image without content, of as many scans as wanted: each costs the decoder as
  /// much as the whole image, and the file some bytes.
  static func progressive(_ width: Int, _ height: Int, scans: Int) -> [UInt8] {
    var bytes: [UInt8] = [0xFF, 0xD8]
    bytes += segment(0xDB, [0] + [UInt8](repeating: 1, count: 64))
    bytes += segment(0xC2, [8] + short(height) + short(width) + [1, 1, 0x11, 0])
    // Direct current: one code of one bit, for "no difference".
    bytes += segment(0xC4, [0x00, 1] + [UInt8](repeating: 0, count: 15) + [0])
    // Alternating current: one code of one bit, for "the next 16384 blocks and 14 more bits of them".
    bytes += segment(0xC4, [0x10, 1] + [UInt8](repeating: 0, count: 15) + [0xE0])
    let blocks = ((width + 7) / 8) * ((height + 7) / 8)
    bytes += segment(0xDA, [1, 1, 0x00, 0, 0, 0])
    bytes += [UInt8](repeating: 0, count: (blocks + 7) / 8)
    let runs = (blocks + 32_766) / 32_767
    // 0, then fourteen ones, runs one after another; a byte of ones is followed by a 0 byte.
    var bits: [UInt8] = []
    for _ in 0..<runs { bits += [0] + [UInt8](repeating: 1, count: 14) }
    var run: [UInt8] = []
    for start in stride(from: 0, to: bits.count, by: 8) {
      let byte = (0..<8).reduce(0) { $0 << 1 | (start + $1 < bits.count ? bits[start + $1] : 1) }
      run += byte == 0xFF ? [0xFF, 0] : [byte]
    }
    for scan in 1..<max(2, scans) {
      let place = UInt8(scan % 63 + 1)
      bytes += segment(0xDA, [1, 1, 0x00, place, place, 0]) + run
    }
    return bytes + [0xFF, 0xD9]
  }

  private static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
    [0xFF, marker] + short(content.count + 2) + content
  }

  /// The size that the header tells is replaced by another.
  static func claiming(_ width: Int, _ height: Int, _ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    for index in bytes.indices.dropLast(9)
    where bytes[index] == 0xFF && (0xC0...0xC2).contains(bytes[index + 1]) {
      bytes.replaceSubrange(index + 5..<index + 9, with: short(height) + short(width))
      break
    }
    return bytes
  }
}

enum MadeGIF {
  /// Frames of one colour, uncompressed as GIF goes, with a canvas of any size.
  static func animated(canvas: (Int, Int), frame: (Int, Int), frames: Int) -> [UInt8] {
    var bytes = Array("GIF89a".utf8) + little(canvas.0) + little(canvas.1) + [0x80, 0, 0]
    bytes += [255, 0, 0, 0, 0, 255]
    bytes += [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, 0, 0, 0]
    let image = image(frame.0 * frame.1)
    for _ in 0..<frames {
      bytes += [0x21, 0xF9, 4, 4, 10, 0, 0, 0]
      bytes += [0x2C, 0, 0, 0, 0] + little(frame.0) + little(frame.1) + [0] + image
    }
    return bytes + [0x3B]
  }

  /// Codes of three bits: the table is cleared before it would grow.
  private static func image(_ pixels: Int) -> [UInt8] {
    var bits = BitWriter()
    for index in 0..<pixels {
      if index % 2 == 0 { bits.write(4, count: 3) }
      bits.write(0, count: 3)
    }
    bits.write(5, count: 3)
    let data = bits.finished
    var blocks: [UInt8] = [2]
    for start in stride(from: 0, to: data.count, by: 255) {
      let block = data[start..<min(start + 255, data.count)]
      blocks += [UInt8(block.count)] + block
    }
    return blocks + [0]
  }

  private static func little(_ number: Int) -> [UInt8] {
    [UInt8(number & 0xFF), UInt8(number >> 8 & 0xFF)]
  }
}

private func big(_ number: Int) -> [UInt8] {
  [24, 16, 8, 0].map { UInt8(number >> $0 & 0xFF) }
}

private func short(_ number: Int) -> [UInt8] { [UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF)] }

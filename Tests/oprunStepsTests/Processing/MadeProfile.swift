// A small ICC profile, made byte by byte (ICC.1:2001-04): a matrix and a curve.

import Foundation

enum MadeProfile {
  /// sRGB with the names of two of its colours exchanged, so that nobody can miss whether it was used.
  static let swappedRedAndGreen: [UInt8] = {
    let red = xyz(0.4361, 0.2225, 0.0139)
    let green = xyz(0.3851, 0.7169, 0.0971)
    let blue = xyz(0.1431, 0.0606, 0.7141)
    let white = xyz(0.9642, 1, 0.8249)
    let curve = Array("curv".utf8) + number(0) + number(1) + [2, 51, 0, 0]
    let text = Array("text".utf8) + number(0) + Array("none\u{0}\u{0}\u{0}\u{0}".utf8)
    let words = Array("swapped\u{0}".utf8)
    let description =
      Array("desc".utf8) + number(0) + number(words.count) + words
      + [UInt8](repeating: 0, count: 78 + 2)
    return profile([
      ("desc", description), ("cprt", text), ("wtpt", white), ("rXYZ", green), ("gXYZ", red),
      ("bXYZ", blue), ("rTRC", curve), ("gTRC", curve), ("bTRC", curve),
    ])
  }()

  private static func profile(_ tags: [(String, [UInt8])]) -> [UInt8] {
    var table = number(tags.count)
    var content: [UInt8] = []
    let start = 128 + 4 + 12 * tags.count
    for (name, bytes) in tags {
      table += Array(name.utf8) + number(start + content.count) + number(bytes.count)
      content += bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
    }
    let body = table + content
    var header = number(128 + body.count) + number(0) + [2, 0x20, 0, 0]
    header += Array("mntrRGB XYZ ".utf8)
    header += [0x07, 0xD0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0] + Array("acsp".utf8)
    header += [UInt8](repeating: 0, count: 68 - header.count)
    header += number(0xF6D6) + number(0x10000) + number(0xD32D)
    header += [UInt8](repeating: 0, count: 128 - header.count)
    return header + body
  }

  private static func xyz(_ x: Double, _ y: Double, _ z: Double) -> [UInt8] {
    Array("XYZ ".utf8) + number(0) + [x, y, z].flatMap { number(Int(($0 * 65536).rounded())) }
  }

  private static func number(_ number: Int) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(number >> $0 & 0xFF) }
  }
}

// Random numbers that can be repeated with their seed, and the small mutations that all targets
// share.

import TestSupport

struct FuzzRandom: RandomNumberGenerator {
  private var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  mutating func next() -> UInt64 { generator.next() }

  mutating func below(_ count: Int) -> Int { Int(next() % UInt64(max(count, 1))) }

  mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }

  mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }
}

extension FuzzRandom {
  /// The bytes with a few changes: some removed, repeated, replaced, or taken from another text.
  mutating func mutated(_ bytes: [UInt8], with other: [UInt8], words: [String]) -> [UInt8] {
    var bytes = bytes
    for _ in 0...below(4) {
      let place = below(bytes.count + 1)
      let end = min(bytes.count, place + below(16))
      switch below(8) {
      case 0: bytes.removeSubrange(place..<end)
      case 1: bytes.insert(contentsOf: bytes[place..<end], at: place)
      case 2: if place < bytes.count { bytes[place] = UInt8(truncatingIfNeeded: next()) }
      case 3: if place < bytes.count { bytes[place] ^= 1 << UInt8(below(8)) }
      case 4, 5: bytes.insert(contentsOf: pick(words).utf8, at: place)
      case 6:
        let start = below(other.count + 1)
        bytes.replaceSubrange(
          place..<end, with: other[start..<min(other.count, start + below(64))])
      default: swapLines(in: &bytes)
      }
    }
    return bytes
  }

  private mutating func swapLines(in bytes: inout [UInt8]) {
    var lines = bytes.split(separator: 10, omittingEmptySubsequences: false)
    lines.swapAt(below(lines.count), below(lines.count))
    bytes = Array(lines.joined(separator: [10]))
  }
}

// Random numbers that come again with their seed, and the small mutations that all targets share.

struct FuzzRandom: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

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

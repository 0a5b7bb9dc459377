// Patterns that are found although white space stands in them, as where base 64 is broken into lines.
// What most texts hold is passed over by a look at a few of their bytes.

/// Owned by the masker; any number of streams use it.
struct BrokenForms: Sendable {
  let automaton: Automaton
  /// Of a pattern that is broken, at least one piece is as long as this: lines are not shorter.
  let pieceSize: Int
  /// A bit for each four bytes in a row that stand in a pattern, by hash.
  private let grams: FixedTable<UInt8>
  private let hashBits: UInt32

  /// Nil without patterns. None is shorter than eight bytes.
  init?(_ patterns: Set<[UInt8]>) {
    guard let shortest = patterns.lazy.map(\.count).min() else { return nil }
    precondition(shortest >= SecretForms.shortestBroken, "a pattern of fewer than eight bytes")
    automaton = Automaton(patterns)
    pieceSize = min(12, shortest / 2)
    let size = patterns.reduce(0) { $0 + $1.count }
    var bits: UInt32 = 18
    // 32 KiB, which fits the nearest cache, to 512.
    while bits < 22, size > 1 << (bits - 4) { bits += 1 }
    var grams = [UInt8](repeating: 0, count: 1 << (bits - 3))
    for pattern in patterns {
      pattern.withUnsafeBytes { pattern in
        for place in 0...(pattern.count - 4) {
          let gram = pattern.loadUnaligned(fromByteOffset: place, as: UInt32.self)
          let slot = Self.slot(of: gram, bits)
          grams[slot >> 3] |= 1 << UInt8(slot & 7)
        }
      }
    }
    self.grams = FixedTable(grams)
    hashBits = bits
  }

  @inline(__always)
  private static func slot(of gram: UInt32, _ bits: UInt32) -> Int {
    Int((gram &* 0x9E37_79B1) >> (32 - bits))
  }

  @inline(__always)
  private func isKnown(_ text: UnsafeRawPointer, _ place: Int) -> Bool {
    let slot = Self.slot(
      of: text.loadUnaligned(fromByteOffset: place, as: UInt32.self), hashBits)
    return grams.start[slot >> 3] & 1 << UInt8(slot & 7) != 0
  }

  /// The first place from `start` on, of those looked at, where a piece of a pattern may be; nil if
  /// there is none that ends before the text does. Of every piece one place is looked at.
  func candidate(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
    guard let text = bytes.baseAddress else { return nil }
    let last = bytes.count - 4
    let (distance, stride) = ((pieceSize - 4) / 2, pieceSize - 3)
    var place = start
    while place <= last {
      if isKnown(text, place) {
        // A piece goes on for as far to one of the sides.
        let (before, after) = (place - distance, place + distance)
        if before < 0 || after > last || isKnown(text, before) || isKnown(text, after) {
          return place
        }
      }
      place &+= stride
    }
    return nil
  }
}

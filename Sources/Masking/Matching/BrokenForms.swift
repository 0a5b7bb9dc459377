// Patterns that are found even with white space in them, as where Base64 is broken into lines. Most
// text is skipped after examining a few of its bytes.

/// The patterns and their tables, which the masker owns and any number of streams use.
struct BrokenForms: Sendable {
  let automaton: Automaton
  /// The length that at least one piece of a broken pattern has, because lines are not shorter.
  let pieceSize: Int
  /// One bit for each sequence of four bytes that occurs in a pattern, by hash.
  private let grams: FixedTable<UInt8>
  private let hashBits: UInt32

  /// Makes the tables; nil if there are no patterns. None may be shorter than eight bytes.
  init?(_ patterns: Set<[UInt8]>) {
    guard let shortest = patterns.lazy.map(\.count).min() else { return nil }
    precondition(shortest >= SecretForms.shortestBroken, "a pattern of fewer than eight bytes")
    automaton = Automaton(patterns)
    pieceSize = min(12, shortest / 2)
    let size = patterns.reduce(0) { $0 + $1.count }
    var bits: UInt32 = 18
    // From 32 KiB, which fits into the level 1 cache, to 512 KiB.
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

  /// The first position from `start` on, among those that are examined, where a piece of a pattern
  /// may be; nil if there is none before the end of the text. In every piece, one position is
  /// examined.
  func candidate(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
    guard let text = bytes.baseAddress else { return nil }
    let last = bytes.count - 4
    let (distance, stride) = ((pieceSize - 4) / 2, pieceSize - 3)
    var place = start
    while place <= last {
      if isKnown(text, place) {
        // A piece extends at least this far to one of the sides.
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

// Finds where an occurrence could begin, and skips the rest of a text without examining every byte
// of it (the shifts of Wu and Manber, 1994).

/// The window is as long as the shortest pattern. Its last three bytes determine how far it can
/// move because no pattern's beginning could be in it.
struct SkipTable: Sendable {
  /// The length of the shortest pattern, but no more than `longestWindow`.
  let window: Int
  /// The shifts, by hash of three bytes; 0 means "look closer".
  let shifts: FixedTable<UInt8>

  private static let longestWindow = 64
  /// The bits of a hash, for a table of 32 KiB, which fits into the level 1 cache.
  private static let hashBits: UInt32 = 15

  /// Builds the table. No pattern may be shorter than four bytes.
  init(_ patterns: [[UInt8]]) {
    let window = min(Self.longestWindow, patterns.lazy.map(\.count).min() ?? Self.longestWindow)
    precondition(window >= 4, "a pattern of fewer than four bytes")
    var shifts = [UInt8](repeating: UInt8(window - 2), count: 1 << Int(Self.hashBits))
    for pattern in patterns {
      for last in 2..<window {
        let block =
          UInt32(pattern[last - 2]) << 8 | UInt32(pattern[last - 1]) << 16
          | UInt32(pattern[last]) << 24
        let slot = Self.slot(of: block)
        shifts[slot] = min(shifts[slot], UInt8(window - 1 - last))
      }
    }
    self.window = window
    self.shifts = FixedTable(shifts)
  }

  /// The slot for the upper three bytes of a word as a little-endian machine loads it.
  @inline(__always)
  static func slot(of block: UInt32) -> Int {
    Int(((block >> 8) &* 0x9E37_79B1) >> (32 - hashBits))
  }

  /// The first position from `start` on where an occurrence could begin; `start` itself if no
  /// window fits there. It is at most one window after `lastWindow`.
  @inline(__always)
  func candidate(_ text: UnsafeRawPointer, from start: Int, to lastWindow: Int) -> Int {
    guard start >= 0 else { return start }
    var index = start
    let shifts = shifts.start
    while index <= lastWindow {
      let block = UInt32(
        littleEndian: text.loadUnaligned(fromByteOffset: index &+ window &- 4, as: UInt32.self))
      let shift = Int(shifts[Self.slot(of: block)])
      if shift == 0 { break }
      index &+= shift
    }
    return index
  }
}

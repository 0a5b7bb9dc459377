// Finds where an occurrence could begin, and passes over the rest of a text without looking at
// every byte of it (the shifts of Wu and Manber, 1994).

/// For the last three bytes of a window as long as the shortest pattern: how far the window can
/// move because no pattern's beginning could lie in it.
struct SkipTable: Sendable {
  /// Of the shortest pattern, but no more than `longestWindow`.
  let window: Int
  /// By hash of three bytes; 0 is "look closer".
  let shifts: FixedTable<UInt8>

  private static let longestWindow = 64
  /// 32 KiB: fits the nearest cache.
  private static let hashBits: UInt32 = 15

  /// No pattern is shorter than four bytes.
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

  /// Of the upper three bytes of a word as a little-endian machine loads it.
  @inline(__always)
  static func slot(of block: UInt32) -> Int {
    Int(((block >> 8) &* 0x9E37_79B1) >> (32 - hashBits))
  }

  /// The first place from `start` on where an occurrence could begin; `start` itself if no window
  /// can be looked at there. It lies no more than a window behind `lastWindow`.
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

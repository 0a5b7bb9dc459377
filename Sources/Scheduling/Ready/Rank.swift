// The position of an item in the ready order of its queue.

/// Effective priority, then longest remaining path, then file order; the lowest rank is served
/// first.
struct Rank {
  /// Priority and path in one number; a larger one is served earlier.
  var key: Int64
  /// The number of the operation in the order they were added. It may wrap: operations that are
  /// alive together are less than 2³¹ apart.
  var sequence: UInt32
  /// The operation, or the lane of which it is the first.
  var item: Int32

  init(key: Int64, sequence: UInt32, item: Int32) {
    self.key = key
    self.sequence = sequence
    self.item = item
  }

  /// Orders items of equal key by their numbers, which is file order.
  init(key: Int64, item: Int32) {
    self.init(key: key, sequence: UInt32(bitPattern: item), item: item)
  }

  /// Compares without a branch: the processor cannot predict which of two comes first, and a wrong prediction takes
  /// longer than both comparisons.
  @inline(__always)
  func isBefore(_ other: Rank) -> Bool {
    let isEarlier = Int32(bitPattern: sequence &- other.sequence) < 0
    return key == other.key ? isEarlier : key > other.key
  }
}

extension Rank {
  private static let pathBits: Int64 = 52
  /// 52 days in nanoseconds; longer paths count as this long.
  static let longestPath: Nanoseconds = (1 << pathBits) - 1
  /// The rank of no item, which comes after every other.
  static let none = Rank(key: .min, sequence: 0, item: -1)
  /// A key that comes before that of every operation.
  static let firstKey = Int64.max

  /// Packs a key. `priority` is clamped to −1024…1023, `path` to `longestPath`.
  static func key(priority: Int16, path: Nanoseconds) -> Int64 {
    let level = Int64(max(-1024, min(1023, priority))) + 1024
    return level << pathBits | min(path, longestPath)
  }

  static func priority(ofKey key: Int64) -> Int16 {
    Int16(truncatingIfNeeded: (key >> pathBits) - 1024)
  }

  static func path(ofKey key: Int64) -> Nanoseconds { key & longestPath }
}

// A set of queues, lowest number first.

struct QueueSet {
  private var words: [UInt64] = []

  /// The lowest member. Linear in the number of queues / 64.
  var first: Int? {
    for (index, word) in words.enumerated() where word != 0 {
      return index * 64 + word.trailingZeroBitCount
    }
    return nil
  }

  /// The lowest member above a number.
  func first(after queue: Int) -> Int? {
    var index = (queue + 1) / 64
    guard index < words.count else { return nil }
    var word = words[index] & (UInt64.max << UInt64((queue + 1) % 64))
    while word == 0 {
      index += 1
      guard index < words.count else { return nil }
      word = words[index]
    }
    return index * 64 + word.trailingZeroBitCount
  }

  mutating func set(_ queue: Int, to isMember: Bool) {
    while queue / 64 >= words.count { words.append(0) }
    let bit: UInt64 = 1 << UInt64(queue % 64)
    if isMember { words[queue / 64] |= bit } else { words[queue / 64] &= ~bit }
  }
}

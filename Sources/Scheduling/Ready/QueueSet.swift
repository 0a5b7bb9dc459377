// A set of queues, lowest number first.

struct QueueSet {
  private var words: [UInt64] = []
  /// Which words are not zero.
  private var summary: [UInt64] = []

  /// The lowest member. Linear in the number of queues / 4096.
  var first: Int? {
    for (index, word) in summary.enumerated() where word != 0 {
      return member(ofWord: index * 64 + word.trailingZeroBitCount)
    }
    return nil
  }

  /// The lowest member above a number.
  func first(after queue: Int) -> Int? {
    let place = (queue + 1) / 64
    guard place < words.count else { return nil }
    let word = words[place] & (UInt64.max << UInt64((queue + 1) % 64))
    if word != 0 { return place * 64 + word.trailingZeroBitCount }
    var index = (place + 1) / 64
    guard index < summary.count else { return nil }
    var rest = summary[index] & (UInt64.max << UInt64((place + 1) % 64))
    while rest == 0 {
      index += 1
      guard index < summary.count else { return nil }
      rest = summary[index]
    }
    return member(ofWord: index * 64 + rest.trailingZeroBitCount)
  }

  private func member(ofWord index: Int) -> Int {
    index * 64 + words[index].trailingZeroBitCount
  }

  mutating func set(_ queue: Int, to isMember: Bool) {
    let place = queue / 64
    while place >= words.count { words.append(0) }
    while place / 64 >= summary.count { summary.append(0) }
    QueueSet.set(queue, in: &words, to: isMember)
    QueueSet.set(place, in: &summary, to: words[place] != 0)
  }

  private static func set(_ index: Int, in words: inout [UInt64], to isSet: Bool) {
    let bit: UInt64 = 1 << UInt64(index % 64)
    if isSet { words[index / 64] |= bit } else { words[index / 64] &= ~bit }
  }
}

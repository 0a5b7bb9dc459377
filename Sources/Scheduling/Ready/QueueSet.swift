// A set of queues, lowest number first.

struct QueueSet {
  private var words: [UInt64] = []
  /// All members are in the words from here to `end`, so that many idle queues cost nothing. A
  /// summary of the words would find members sooner, but queues come and go for every operation.
  private var start = 0
  private var end = 0

  /// The lowest member. At most linear in the number of queues / 64.
  mutating func first() -> Int? {
    while start < end {
      let word = words[start]
      if word != 0 { return start * 64 + word.trailingZeroBitCount }
      start += 1
    }
    return nil
  }

  /// The lowest member above a number.
  mutating func first(after queue: Int) -> Int? {
    let place = (queue + 1) / 64
    guard place < end else { return nil }
    var index = max(place, start)
    guard index < end else { return nil }
    var word = words[index]
    if index == place { word &= UInt64.max << UInt64((queue + 1) % 64) }
    while word == 0 {
      index += 1
      guard index < end else {
        end = max(start, place + 1)
        return nil
      }
      word = words[index]
    }
    return index * 64 + word.trailingZeroBitCount
  }

  mutating func set(_ queue: Int, to isMember: Bool) {
    let place = queue / 64
    while place >= words.count { words.append(0) }
    let bit: UInt64 = 1 << UInt64(queue % 64)
    if !isMember {
      words[place] &= ~bit
      return
    }
    words[place] |= bit
    if start >= end { (start, end) = (place, place) }
    start = min(start, place)
    end = max(end, place + 1)
  }
}

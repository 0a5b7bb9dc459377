// A set of characters in a pattern: Unicode scalars in ranges.

struct ScalarSet: Hashable {
  /// The ranges in order, without overlaps.
  let ranges: [ClosedRange<UInt32>]

  private static let last: UInt32 = 0x10FFFF
  static let all = ScalarSet([0...last])
  static let digits = ScalarSet([0x30...0x39])
  static let words = ScalarSet([0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A])
  static let blanks = ScalarSet([0x09...0x0D, 0x20...0x20])

  init(_ ranges: [ClosedRange<UInt32>]) {
    var merged: [ClosedRange<UInt32>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = merged.last, range.lowerBound <= last.upperBound + 1 {
        merged[merged.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
      } else {
        merged.append(range)
      }
    }
    self.ranges = merged
  }

  /// The only scalar of the set; nil if there are several.
  var single: UInt32? {
    guard ranges.count == 1, ranges[0].count == 1 else { return nil }
    return ranges[0].lowerBound
  }

  var inverted: ScalarSet {
    var result: [ClosedRange<UInt32>] = []
    var start: UInt32 = 0
    for range in ranges {
      if range.lowerBound > start { result.append(start...(range.lowerBound - 1)) }
      start = range.upperBound + 1
    }
    if start <= Self.last { result.append(start...Self.last) }
    return ScalarSet(result)
  }

  func contains(_ scalar: UInt32) -> Bool {
    var (low, high) = (0, ranges.count)
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].upperBound < scalar { low = middle + 1 } else { high = middle }
    }
    return low < ranges.count && ranges[low].lowerBound <= scalar
  }
}

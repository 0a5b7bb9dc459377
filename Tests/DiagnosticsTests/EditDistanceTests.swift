// The number of edits between two names, compared with the whole table.

import Testing

@testable import Diagnostics

struct EditDistanceTests {
  private func whole(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var table = [[Int]](
      repeating: [Int](repeating: 0, count: right.count + 1), count: left.count + 1)
    for i in 0...left.count {
      for j in 0...right.count {
        guard i > 0, j > 0 else {
          table[i][j] = i + j
          continue
        }
        table[i][j] = min(
          table[i - 1][j - 1] + (left[i - 1] == right[j - 1] ? 0 : 1), table[i - 1][j] + 1,
          table[i][j - 1] + 1)
        if i > 1, j > 1, left[i - 1] == right[j - 2], left[i - 2] == right[j - 1] {
          table[i][j] = min(table[i][j], table[i - 2][j - 2] + 1)
        }
      }
    }
    return table[left.count][right.count]
  }

  @Test func `is that of the whole table, up to a limit`() {
    var words: [[UInt8]] = [[]]
    for _ in 0..<5 { words += words.flatMap { word in (1...2).map { word + [UInt8($0)] } } }
    let unique = Set(words).sorted { $0.lexicographicallyPrecedes($1) }
    for left in unique {
      for right in unique {
        let distance = whole(left, right)
        for limit in 0...2 {
          let found = editDistance(left, right, atMost: limit)
          #expect(found == (distance <= limit ? distance : nil), "\(left) \(right) \(limit)")
        }
      }
    }
  }
}

// The steps that a change concerns.

import Testing

@testable import Caching

struct ChangedPartTests {
  /// Chains of three steps: 0 ← 1 ← 2, 3 ← 4 ← 5, …
  private static let chains = (0..<90).map { $0 % 3 == 0 ? [] : [$0 - 1] }

  private func part(_ changed: [Int], of dependencies: [[Int]] = chains) -> [Int]? {
    guard var part = ChangedPart(dependencies) else { return nil }
    for place in changed {
      guard part.add(place) else { return nil }
    }
    return part.steps
  }

  @Test func `what depends on a changed step belongs to it, and what that needs`() {
    #expect(part([]) == [])
    #expect(part([0]) == [0, 1, 2])
    #expect(part([4]) == [3, 4, 5])
    #expect(part([89, 5]) == [3, 4, 5, 87, 88, 89])
    var shared = Self.chains
    shared[80] = [79, 10]
    #expect(part([10], of: shared) == [9, 10, 11, 78, 79, 80])
    #expect(part([78], of: shared) == [9, 10, 78, 79, 80])
  }

  @Test func `it is known to be too large as soon as possible`() {
    // A step that needs all others, as the last one often does.
    let joined = (0..<99).map { _ in [Int]() } + [Array(0..<99)]
    #expect(part([5], of: joined) == nil)
    #expect(part(Array(0..<7)) == [0, 1, 2, 3, 4, 5, 6, 7, 8])
    #expect(part((0..<8).map { $0 * 3 }) == nil)
    #expect(part(Array(0..<24)) == nil)
  }

  @Test func `it is not looked for among few steps, or in a damaged record`() {
    #expect(part([0], of: Array(Self.chains.prefix(63))) == nil)
    var damaged = Self.chains
    for wrong in [30, 31, -1, 90, .max, .min] {
      damaged[30] = [wrong]
      #expect(part([0], of: damaged) == nil)
    }
  }
}

// The set of queues that may start something, against one that is obviously correct.

@testable import Scheduling
import TestSupport
import Testing

@Suite struct QueueSetTests {
  @Test func `it finds the same members as a set of numbers`() {
    var generator = SeededGenerator(seed: 11)
    var (set, expected) = (QueueSet(), Set<Int>())
    for step in 0..<2000 {
      let queue = Int.random(in: 0..<(step % 3 == 0 ? 1000 : 100), using: &generator)
      let isMember = Int.random(in: 0..<5, using: &generator) == 0
      set.set(queue, to: isMember)
      if isMember { expected.insert(queue) } else { expected.remove(queue) }
      if step % 2 == 0 { expected = expected.filter { $0 % 7 != 0 || $0 == queue } }
      for other in 0..<1000 where step % 2 == 0 && other % 7 == 0 && other != queue {
        set.set(other, to: false)
      }
      let first = set.first()
      #expect(first == expected.min())
      let place = Int.random(in: 0..<1000, using: &generator)
      let next = set.first(after: place)
      #expect(next == expected.filter { $0 > place }.min())
    }
  }
}

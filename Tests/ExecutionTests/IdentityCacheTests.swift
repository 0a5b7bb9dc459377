// What is remembered of objects that come and go.

import TestSupport
import Testing

@testable import Execution

@Suite(.blocking) struct `What was made from objects` {
  private final class Source {}

  @Test func `is made once for those that come back, and not kept for all`() {
    var cache = IdentityCache<Source, Int>()
    let (first, second) = (Source(), Source())
    var madeCount = 0
    func value(_ source: Source) -> Int {
      cache.value(for: source) {
        madeCount += 1
        return madeCount
      }
    }
    #expect([first, second, first, first, second].map(value) == [1, 2, 1, 1, 2])
    for number in 3...5000 { #expect(value(Source()) == number) }
    #expect(cache.count <= IdentityCache<Source, Int>.limit)
    // It is kept while it is remembered, so another one cannot be taken for it.
    weak var gone: Source?
    do {
      let source = Source()
      gone = source
      _ = value(source)
    }
    #expect(gone != nil)
  }
}

// The counting of tokens: none is lost, none is made twice, whatever happens in which order.

import TestSupport
import Testing

@testable import Execution

@Suite(.blocking) struct `The tokens of a run` {
  @Test func `of our own pool stay here while nobody else could take them`() {
    var tokens = JobTokens(size: 4)
    check(tokens.slots == 4)
    check(tokens.takeSurplus(inUse: 1) == [])
    tokens.began()
    check(tokens.takeSurplus(inUse: 1) == Array("+++".utf8))
    check(tokens.slots == 1)
    check(tokens.took(UInt8(ascii: "+")))
    check(tokens.slots == 2)
    check(tokens.takeSurplus(inUse: 2) == [])
  }

  @Test func `are all there again when nobody else can have one`() {
    var tokens = JobTokens(size: 4)
    tokens.began()
    tokens.began()
    check(tokens.takeSurplus(inUse: 2).count == 2)
    check(tokens.ended() == 2, "two are in the pool or with the other one")
    check(tokens.slots == 2)
    check(tokens.ended() == 0)
    check(tokens.slots == 4)
  }

  @Test func `of somebody else are given back as they were`() {
    var tokens = JobTokens(size: nil)
    check(tokens.slots == 1)
    for token in "abc".utf8 { check(tokens.took(token)) }
    tokens.began()
    check(tokens.takeSurplus(inUse: 2) == Array("bc".utf8))
    check(tokens.ended() == nil)
    check(tokens.takeSurplus(inUse: 0) == Array("a".utf8))
    check(tokens.slots == 1)
    check(!tokens.resize(to: 7))
  }

  @Test func `one slot stays, even if nothing runs`() {
    var tokens = JobTokens(size: 3)
    tokens.began()
    check(tokens.takeSurplus(inUse: 0).count == 2)
    check(tokens.slots == 1)
  }

  @Test func `that found no room are kept`() {
    var tokens = JobTokens(size: 3)
    tokens.began()
    let surplus = tokens.takeSurplus(inUse: 1)
    tokens.keep(surplus[1...])
    check(tokens.slots == 2)
  }

  @Test func `follow the width of the queue, also while they are elsewhere`() {
    var tokens = JobTokens(size: 4)
    check(!tokens.resize(to: 4))
    tokens.began()
    _ = tokens.takeSurplus(inUse: 1)
    check(tokens.resize(to: 2))
    check(!tokens.took(UInt8(ascii: "+")), "the third and the fourth slot are gone")
    check(tokens.resize(to: 5))
    #expect(
      tokens.slots == 3, "one was still to come back, and counts as one of the three new ones")
    check(tokens.ended() == 0)
    check(tokens.slots == 5)
  }

  @Test func `are of a number that a pipe has room for`() {
    #expect(JobTokens(size: .max).slots == 4096)
    #expect(JobTokens(size: 0).slots == 1)
  }

  /// Tools take tokens, give them back, and die with them.
  @Test(arguments: 0..<50) func `are neither lost nor made twice`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var tokens = JobTokens(size: Int.random(in: 1...6, using: &random))
    var (pool, elsewhere) = (0, 0)
    for _ in 0..<300 {
      switch Int.random(in: 0..<7, using: &random) {
      case 0: tokens.began()
      case 1 where tokens.users > 0:
        if tokens.users == 1 { elsewhere = 0 }
        if let limit = tokens.ended() { pool = min(pool, limit) }
      case 2 where pool > 0: (pool, elsewhere) = (pool - 1, elsewhere + 1)
      case 3 where elsewhere > 0: (pool, elsewhere) = (pool + 1, elsewhere - 1)
      case 4 where pool > 0:
        pool -= 1
        _ = tokens.took(JobTokens.token)
      case 5: _ = tokens.resize(to: Int.random(in: 1...6, using: &random))
      default: pool += tokens.takeSurplus(inUse: Int.random(in: 0...6, using: &random)).count
      }
      check(tokens.slots >= 1)
      check(tokens.slots + pool + elsewhere - tokens.debt == tokens.size)
      if tokens.users == 0 { #expect(pool == 0 && tokens.debt == 0) }
    }
  }
}

/// The macro takes its parts as constants, and these change the tokens.
private func check(
  _ holds: Bool, _ comment: Comment? = nil, location: SourceLocation = #_sourceLocation
) {
  #expect(holds, comment, sourceLocation: location)
}

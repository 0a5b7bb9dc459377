// Every occurrence is found, and nothing else, however a text is cut.

import TestSupport
import Testing

@testable import Masking

struct MatchingTests {
  private func check(
    _ text: [UInt8], _ patterns: Set<[UInt8]>, _ masker: Masker, pieces: [Int]
  ) {
    let found = masked(text, masker, pieces: pieces)
    let wanted = naivelyMasked(text, patterns)
    #expect(
      found == wanted,
      """
      \(String(decoding: text, as: UTF8.self)) in pieces \(pieces), \
      patterns \(patterns.map { String(decoding: $0, as: UTF8.self) })
      """)
  }

  private func patterns(_ texts: String...) -> Set<[UInt8]> { Set(texts.map { Array($0.utf8) }) }

  @Test func `every text of two letters is masked as the reference says`() {
    let sets = [
      patterns("aaaa"), patterns("abab"), patterns("abba", "babab"),
      patterns("aabb", "bbaab", "abbaabba"), patterns("aaab", "baaa", "abaaba", "bbbbbb"),
    ]
    for set in sets {
      let masker = Masker(exactly: set)
      for length in 0...11 {
        for bits in 0..<(1 << length) {
          let text = (0..<length).map {
            bits >> $0 & 1 == 0 ? UInt8(ascii: "a") : UInt8(ascii: "b")
          }
          check(text, set, masker, pieces: [length % 3 + 1, 2 + bits % 5])
        }
      }
    }
  }

  @Test func `random texts of few letters are masked as the reference says`() {
    var dice = SeededGenerator(seed: 1)
    for _ in 0..<1500 {
      let letters = Int.random(in: 2...4, using: &dice)
      let random = { (length: Int, dice: inout SeededGenerator) in
        (0..<length).map { _ in UInt8(97 + Int.random(in: 0..<letters, using: &dice)) }
      }
      var set: Set<[UInt8]> = []
      for _ in 0..<Int.random(in: 1...6, using: &dice) {
        set.insert(random(Int.random(in: 4...12, using: &dice), &dice))
      }
      let text = random(Int.random(in: 0...200, using: &dice), &dice)
      let pieces = (0..<7).map { _ in Int.random(in: 1...30, using: &dice) }
      check(text, set, Masker(exactly: set), pieces: pieces)
    }
  }

  @Test func `random bytes of every value are masked as the reference says`() {
    var dice = SeededGenerator(seed: 2)
    for round in 0..<60 {
      var set: Set<[UInt8]> = []
      for _ in 0..<40 {
        set.insert(
          (0..<Int.random(in: 4...40, using: &dice)).map { _ in
            UInt8.random(in: 0...255, using: &dice)
          })
      }
      // All 256 values are in one pattern, so that every byte is in a pattern.
      if round % 2 == 0 { set.insert((0...255).map { UInt8($0) }) }
      let parts = set.shuffled(using: &dice).flatMap { pattern in
        pattern.prefix(Int.random(in: 1...pattern.count, using: &dice)) + [UInt8(round)]
      }
      let pieces = (0..<5).map { _ in Int.random(in: 1...100, using: &dice) }
      check(parts, set, Masker(exactly: set), pieces: pieces)
    }
  }

  @Test func `a pattern longer than the rows reach is followed by its links`() {
    var dice = SeededGenerator(seed: 3)
    let letters = (0..<6000).map { _ in UInt8(97 + Int.random(in: 0...1, using: &dice)) }
    let other = Array(letters[2000..<5000]) + [UInt8(ascii: "c")]
    let inner = Array(letters[2500..<2540])
    let set: Set = [letters, other, inner]
    let masker = Masker(exactly: set)
    for text in [
      letters, letters.dropLast() + other, Array(letters[1000...]) + letters, other + inner,
    ] {
      for pieces in [[1], [64], [8192]] { check(Array(text), set, masker, pieces: pieces) }
    }
  }

  @Test func `a secret is found across a cut at every place`() {
    let set = patterns("correct horse", "horse battery")
    let masker = Masker(exactly: set)
    let text = Array("say correct horse battery, not horse".utf8)
    for cut in 1..<text.count {
      for second in 1...(text.count - cut) {
        check(text, set, masker, pieces: [cut, second, 1000])
      }
    }
  }

  @Test func `what cannot become a secret is passed on at once`() {
    var stream = MaskingStream(Masker(exactly: patterns("hunter22")))
    var output: [UInt8] = []
    stream.mask(Array("the password is hunt".utf8), into: &output)
    #expect(String(decoding: output, as: UTF8.self) == "the password is ")
    stream.mask(Array("ing".utf8), into: &output)
    #expect(String(decoding: output, as: UTF8.self) == "the password is hunting")
    stream.mask(Array(" hunter2".utf8), into: &output)
    stream.finish(into: &output)
    #expect(String(decoding: output, as: UTF8.self) == "the password is hunting hunter2")
    stream.mask(Array("2 hunter22".utf8), into: &output)
    #expect(String(decoding: output, as: UTF8.self) == "the password is hunting hunter22 ***")
  }

  @Test func `memory stays that of the longest pattern`() {
    var stream = MaskingStream(Masker(exactly: [Array(repeating: 97, count: 1000)]))
    var output: [UInt8] = []
    for _ in 0..<10_000 {
      stream.mask(Array(repeating: 97, count: 999), into: &output)
      #expect(output.count < 10, "one occurrence that does not end")
    }
    stream.finish(into: &output)
    #expect(output == Array("***".utf8))
  }
}

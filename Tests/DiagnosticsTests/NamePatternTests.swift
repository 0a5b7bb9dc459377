// Which names a pattern matches, compared with `fnmatch` where that is right.

import Glibc
import TestSupport
import Testing

@testable import Diagnostics

@Suite("A pattern of names")
struct NamePatternTests {
  @Test(arguments: [
    ("?", "é", true), ("??", "é", false), ("?.txt", "\u{1F600}.txt", true),
    ("?", "e\u{301}", false),
    ("??", "e\u{301}", true), ("[é]", "é", true), ("[é]x", "\u{C3}x", false), ("[à-ü]", "é", true),
    ("[!a]", "é", true), ("[!é]", "é", false), ("*é", "aéé", true), ("é*", "è", false),
    ("[[:alpha:]]", "é", false), ("\\[é]", "[é]", true), ("[\\é]", "é", true), ("[é", "[é", true),
    (".?", ".é", true), ("?é", ".é", false), ("", "", true), ("*", "", true),
  ])
  func `matches characters`(pattern: String, name: String, isMatch: Bool) {
    #expect(NamePattern(pattern).matches(name) == isMatch)
  }

  @Test(
    arguments: [
      ("?", [0xE9], true), ("?", [0xC3], true), ("??", [0xC3, 0x28], true),
      ("?", [0xE2, 0x82], false),
      ("??", [0xE2, 0x82], true), ("?", [0xED, 0xA0, 0x80], false),
      ("???", [0xED, 0xA0, 0x80], true),
      ("??", [0xC0, 0x80], true), ("?", [0xC0, 0x80], false), ("[!a]", [0xFF], true),
      ("é", [0xE9], false),
      ("[\u{80}-\u{10FFFF}]", [0xE9], false), ("*b", [0xFF, 0xC3, 0x62], true),
    ] as [(String, [UInt8], Bool)])
  func `counts each byte that is no UTF-8 as a character`(
    pattern: String, name: [UInt8], isMatch: Bool
  ) {
    #expect(name.withUnsafeBytes { NamePattern(pattern).matches($0) } == isMatch)
  }

  @Test func `matches ASCII as fnmatch does`() {
    let pieces = [
      "a", "b", "-", "]", ".", "*", "*", "?", "[ab]", "[!a]", "[a-c]", "[]a]", "[a-]", "[^b]",
      "\\*",
      "[[:alpha:]]", "[![:punct:]]", "[[=a=]]", "[[.-.]b]", "[\\]]", "[b-a]", "[--a]", "[!-a]",
      "[a-c-]",
    ]
    var random = SeededGenerator(seed: 0xD07)
    for _ in 0..<20_000 {
      let pattern = (0..<Int.random(in: 1...5, using: &random)).map { _ in
        pieces.randomElement(using: &random) ?? ""
      }.joined()
      let name = (0..<Int.random(in: 0...5, using: &random)).map { _ in
        ["a", "b", "c", "-", "]", ".", "*", "1"].randomElement(using: &random) ?? ""
      }.joined()
      // Without a wildcard, a backslash is literal.
      guard NamePattern.hasSigns(pattern) else { continue }
      // FNM_PERIOD would say this of the first dot, but the C library also heeds it after `*?`.
      let isHidden = name.first == "." && pattern.first != "."
      #expect(
        NamePattern(pattern).matches(name) == (fnmatch(pattern, name, 0) == 0 && !isHidden),
        "\(pattern) \(name)")
    }
  }

  @Test func `takes no more than the product of both lengths`() {
    let pattern = NamePattern(String(repeating: "*a", count: 100) + "b")
    #expect(!pattern.matches(String(repeating: "a", count: 255)))
  }
}

// Patterns of parameters: matching whole strings, the dialect, and limits.

import Testing

@testable import Plans

struct RegularExpressionTests {
  private func matches(_ pattern: String, _ text: String) throws(PatternFailure) -> Bool {
    let matcher = PatternMatcher()
    return try RegularExpression(pattern, matcher).matches(text, matcher)
  }

  private func fault(in pattern: String, matching text: String = "") -> PatternFailure? {
    do throws(PatternFailure) {
      _ = try matches(pattern, text)
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: [
    ("[a-z]+", "abc", true), ("[a-z]+", "abc1", false), ("[a-z]+", "", false),
    ("a|b", "a", true), ("a|b", "ab", false), ("a|bc", "bc", true), ("a|ab", "ab", true),
    ("^a$", "a", true), ("a.c", "a\nc", true), ("x", "x\n", false), ("x$", "x\n", false),
    ("v[0-9]{1,3}", "v1234", false), ("[[:alpha:]]*", "", true), ("[[:alpha:]]+", "abc", true),
    ("a", "a\u{0}b", false), ("é", "é", true), (".", "é", true), ("()", "", true),
    (#"\d+"#, "12", true), (#"\d"#, "٣", false), (#"\<a"#, "<a", true), (#"\ba\b"#, "a", true),
    (#"(.)\1"#, "aa", true), ("(?i)ab", "AB", true), ("a{,3}", "aa", false),
    (#"[\\/]"#, "/", true), (#"\p{L}"#, "é", true), ("", "", true),
  ])
  func `a text matches as a whole or not at all`(
    pattern: String, text: String, isMatch: Bool
  ) throws {
    #expect(try matches(pattern, text) == isMatch)
  }

  @Test(arguments: [
    ("(", "missing closing parenthesis", 1),
    ("ab[a", "missing terminating ] for character class", 4),
    ("a{2,1}", "numbers out of order in {} quantifier", 5),
    (#"a\C"#, #"using \C is disabled by the application"#, 3),
  ])
  func `what is no pattern is told with its place`(pattern: String, reason: String, offset: Int) {
    #expect(fault(in: pattern) == PatternFailure(reason: reason, offset: offset))
    #expect(fault(in: "a+") == nil)
  }

  @Test(arguments: [
    (String(repeating: "a", count: 4097), "it is longer than 4096 bytes, which is the limit", nil),
    (
      String(repeating: "(", count: 2000) + String(repeating: ")", count: 2000),
      "parentheses are nested more than 64 levels deep, which is the limit", 65
    ),
    (
      "((((a{1000}){1000}){1000}){1000}){1000}", "it takes more than 64 KiB, which is the limit",
      nil
    ),
  ])
  func `a pattern has limits`(pattern: String, reason: String, offset: Int?) {
    #expect(fault(in: pattern) == PatternFailure(reason: reason, offset: offset))
  }

  @Test(arguments: [
    (
      "(a+)+[bc]", String(repeating: "a", count: 40),
      "matching takes more than 1000000 steps, which is the limit"
    ),
    (
      "(?:(a)|b)*", String(repeating: "ab", count: 1 << 19),
      "matching takes more than 32 MiB, which is the limit"
    ),
  ])
  func `matching has limits`(pattern: String, text: String, reason: String) {
    #expect(fault(in: pattern, matching: text) == PatternFailure(reason: reason))
  }

  @Test func `few values may take long`() throws {
    let matcher = PatternMatcher()
    let slow = try RegularExpression("(?:a?){14}a{14}", matcher)
    var reasons: [String] = []
    for _ in 0..<30 {
      do throws(PatternFailure) {
        #expect(try slow.matches(String(repeating: "a", count: 14), matcher))
      } catch {
        reasons.append(error.reason)
      }
    }
    #expect(
      reasons
        == Array(
          repeating: "more than 4 values take long to match, which is the limit", count: 26))
  }

  @Test func `all patterns of a file together have a limit`() throws {
    let matcher = PatternMatcher()
    var kept: [RegularExpression] = []
    #expect(
      throws: PatternFailure(
        reason: "all patterns together take more than 16 MiB, which is the limit")
    ) {
      for _ in 0..<2000 { kept.append(try RegularExpression("(?:[ab]x){900}", matcher)) }
    }
    #expect(kept.count > 100)
  }

  @Test func `they are no longer than 64 KiB in all: some take long to compile`() throws {
    let matcher = PatternMatcher()
    let pattern = String(repeating: "a", count: 4096)
    for _ in 0..<16 { _ = try RegularExpression(pattern, matcher) }
    #expect(
      throws: PatternFailure(
        reason: "all patterns together are longer than 64 KiB, which is the limit")
    ) { _ = try RegularExpression("a", matcher) }
  }
}

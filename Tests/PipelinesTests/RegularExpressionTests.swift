// Patterns of parameters: whole texts, POSIX extended.

import Testing

@testable import Pipelines

struct RegularExpressionTests {
  @Test(arguments: [
    ("[a-z]+", "abc", true), ("[a-z]+", "abc1", false), ("[a-z]+", "", false),
    ("a|b", "a", true), ("a|b", "ab", false), ("a|bc", "bc", true),
    ("^a$", "a", true), ("a.c", "a\nc", true), ("x", "x\n", false),
    ("v[0-9]{1,3}", "v1234", false), ("[[:alpha:]]*", "", true),
    ("a", "a\u{0}b", false), ("é", "é", true), ("()", "", true),
  ])
  func `a text matches as a whole or not at all`(pattern: String, text: String, matches: Bool) {
    #expect(RegularExpression(pattern).matches(text) == matches)
  }

  @Test func `what is no pattern is told`() {
    #expect(RegularExpression.fault(in: "(") == "unmatched ( or \\(")
    #expect(RegularExpression.fault(in: "[a") == "unmatched [, [^, [:, [., or [=")
    #expect(RegularExpression.fault(in: "a{2,1}") == "invalid content of \\{\\}")
    #expect(RegularExpression.fault(in: "a+") == nil)
  }
}

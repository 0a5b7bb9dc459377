import Foundation
import TestSupport
import Testing

@testable import Expressions

private func isFound(_ pattern: String, in text: String) throws -> Bool? {
  var steps = 1_000_000
  return try TextPattern(pattern).isFound(in: text, steps: &steps)
}

private func fault(_ pattern: String) -> String {
  do throws(TextPatternFailure) {
    _ = try TextPattern(pattern)
    return "none"
  } catch {
    return error.reason
  }
}

struct TextPatternTests {
  @Test(arguments: [
    ("", "", true), ("", "a", true), ("a", "", false), ("a", "bab", true), ("^a", "ba", false),
    ("^a", "ab", true), ("a$", "ab", false), ("b$", "ab", true), ("^$", "", true),
    ("^$", "a", false), ("^", "a", true), ("$", "a", true), ("a^", "a", false), ("a|b", "xb", true),
    ("^(a|b)$", "c", false), ("^(a||b)$", "", true), ("|", "", true), ("^a*$", "aaa", true),
    ("^a*$", "aab", false), ("^a+$", "", false), ("^ab?c$", "ac", true), ("^ab?c$", "abbc", false),
    ("^a{2}$", "aa", true), ("^a{2}$", "aaa", false), ("^a{2,}$", "a", false),
    ("^a{2,}$", "aaaa", true), ("^a{0,2}$", "aa", true), ("^a{0,2}$", "aaa", false),
    ("^a{0}$", "", true), ("^(ab){2}$", "abab", true), ("^(?:ab|c)+$", "abcab", true),
    ("^.$", "\n", true), ("^.$", "ä", true), ("^.$", "👨‍👩‍👧", false), ("^..$", "ä", false),
    ("[a-c]", "xbx", true), ("^[^a-c]+$", "xyz", true), ("^[^a-c]$", "b", false),
    ("^[-a]+$", "-a", true), ("^[a-]+$", "-a", true), (#"^[\]\\]+$"#, #"]\"#, true),
    ("^[.*+]$", ".", true), ("^[.]$", "x", false), (#"^\d\D\w\W\s\S$"#, "1aA- x", true),
    (#"^\d$"#, "٣", false), (#"^[\d_]+$"#, "1_2", true), (#"^[^\W\d]+$"#, "ab", true),
    (#"^[^\W\d]+$"#, "a1", false), (#"^v\d+(\.\d+)*$"#, "v1.20.3", true), (#"\."#, "a", false),
    (#"\n\t\r"#, "\n\t\r", true), (#"^\{\}\(\)\[\]\^\$\|\?\*\+\/\-\"$"#, #"{}()[]^$|?*+/-""#, true),
    ("^[ä-ö]$", "ö", true), ("}", "}", true), ("]", "]", true), ("^(a*)*$", "aaa", true),
    ("^(a*)*b$", "aaac", false), ("(^a|b$)", "cb", true), ("^(|a){3}$", "aa", true),
  ])
  func `a pattern finds what the table says`(pattern: String, text: String, expected: Bool) throws {
    #expect(try isFound(pattern, in: text) == expected)
  }

  @Test(arguments: [
    ("(", "'(' is not closed; write '\\(' for the character"),
    ("a)", "')' closes nothing; write '\\)' for the character"),
    ("[a", "'[' is not closed; write '\\[' for the character"),
    ("[]", "the brackets are empty; write '\\]' for the character"),
    ("[^]", "the brackets are empty; write '\\]' for the character"),
    ("[z-a]", "a range in brackets ends before it begins"),
    ("[\\d-z]", "a range in brackets is from one character to another"),
    ("[[:alpha:]]", "'[:' has no meaning; write a range such as a-z"),
    ("*a", "'*' repeats nothing; write '\\*' for the character"),
    ("(+)", "'+' repeats nothing; write '\\+' for the character"),
    ("a|?", "'?' repeats nothing; write '\\?' for the character"),
    ("{2}", "'{' repeats nothing; write '\\{' for the character"),
    ("a*?", "'?' follows another repetition; put what it repeats in parentheses"),
    ("a++", "'+' follows another repetition; put what it repeats in parentheses"),
    ("a{", "'{' begins a repetition such as {2} or {2,5}; write '\\{' for the character"),
    ("a{x}", "'{' begins a repetition such as {2} or {2,5}; write '\\{' for the character"),
    ("a{1,x}", "'{' begins a repetition such as {2} or {2,5}; write '\\{' for the character"),
    ("a{3,2}", "the repetition {3,…} ends before it begins"),
    ("a{1001}", "a repetition of more than 1000, which is the limit"),
    ("a{99999999999999999999}", "a repetition of more than 1000, which is the limit"),
    ("a\\", "'\\' at its end; write '\\\\' for the character"),
    ("\\1", "'\\1' has no meaning"), ("\\b", "'\\b' has no meaning"),
    ("\\p{L}", "'\\p' has no meaning"),
    ("(?=a)", "'(?' is allowed only in '(?:'; a group begins with '(' or '(?:'"),
    ("(?i)a", "'(?' is allowed only in '(?:'; a group begins with '(' or '(?:'"),
    ("((a{100}){100}){2}", "its repetitions make more than 10000 states, which is the limit"),
    (
      String(repeating: "(", count: 65),
      "groups are nested more than 64 levels deep, which is the limit"
    ),
    (String(repeating: "a", count: 4097), "it is longer than 4096 bytes, which is the limit"),
  ])
  func `what is no pattern says why`(pattern: String, reason: String) {
    #expect(fault(pattern) == reason)
  }

  @Test(arguments: [
    "^(a*)*$", "^(a+)+$", "^(a|aa)+$", "^(a|a)*$", "^(.*)(.*)(.*)(.*)(.*)$", "^((a?){30}){3}a*$",
    "^(a*a*a*a*a*a*)*$", "(x+x+)+y", "^(([a-z])+.)+[A-Z]([a-z])+$",
  ])
  func `patterns that others cannot bear take steps in proportion to the text`(
    pattern: String
  ) throws {
    let compiled = try TextPattern(pattern)
    var used: [Int] = []
    for length in [1_000, 2_000, 4_000] {
      var steps = Int.max
      _ = compiled.isFound(in: String(repeating: "a", count: length) + "!", steps: &steps)
      used.append(Int.max - steps)
    }
    #expect(used[1] < used[0] * 21 / 10)
    #expect(used[2] < used[1] * 21 / 10)
  }

  @Test func `groups that hold nothing take no time, however often they are repeated`() throws {
    let pattern =
      String(repeating: "(", count: 60) + String(repeating: "){1000}", count: 60) + "$"
    #expect(try isFound(pattern, in: "a") == true)
  }

  @Test func `steps that are used up are no answer`() throws {
    let pattern = try TextPattern("(a?){1000}b")
    var steps = 10_000
    #expect(pattern.isFound(in: String(repeating: "a", count: 100), steps: &steps) == nil)
    #expect(steps < 0)
  }

  @Test func `another engine finds the same`() throws {
    var generator = SeededGenerator(seed: 42)
    for _ in 0..<3000 {
      let pattern = randomPattern(depth: 3, &generator)
      let text = String(
        (0..<Int.random(in: 0...7, using: &generator)).map { _ in
          "abc".randomElement(using: &generator) ?? "a"
        })
      let other = try NSRegularExpression(pattern: pattern)
      let range = NSRange(text.startIndex..., in: text)
      let expected = other.firstMatch(in: text, range: range) != nil
      #expect(try isFound(pattern, in: text) == expected, "\(pattern) in \(text)")
    }
  }

  private func randomPattern(depth: Int, _ generator: inout SeededGenerator) -> String {
    let choice = Int.random(in: 0..<(depth > 0 ? 10 : 5), using: &generator)
    func part() -> String { randomPattern(depth: depth - 1, &generator) }
    switch choice {
    case 0: return "a"
    case 1: return "b"
    case 2: return "[^a]"
    case 3: return "."
    case 4: return ["^", "$", "c", "[ab]"].randomElement(using: &generator) ?? "c"
    case 5: return part() + part()
    case 6: return "(\(part())|\(part()))"
    case 7: return "(\(part()))*"
    case 8: return "(?:\(part()))+"
    default: return "(\(part())){0,2}"
    }
  }
}

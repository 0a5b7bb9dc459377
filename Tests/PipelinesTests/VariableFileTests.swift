// `.env` files, line by line.

import Testing

@testable import Pipelines
@testable import Plans

struct VariableFileTests {
  @Test(arguments: [
    ("", ""),
    ("A=1", "A=1"),
    ("A=1\nB=2\n", "A=1|B=2"),
    ("\u{FEFF}A=1", "A=1"),
    ("A=1\r\nB=2\r\n", "A=1|B=2"),
    ("  A = 1  ", "A=1"),
    ("export A=1\nexport\tB=2", "A=1|B=2"),
    ("export=1", "export=1"),
    ("A=", "A="),
    ("A= # nothing", "A="),
    ("A=one two", "A=one two"),
    ("A=one # two", "A=one"),
    ("A=one#two", "A=one#two"),
    ("A=#one", "A="),
    ("# A=1\n  # B=2\nC=3", "C=3"),
    ("A='one # two'", "A=one # two"),
    ("A='it is $B \\n'", "A=it is $B \\n"),
    (#"A="tab\there \"quoted\" \\ \$B \x""#, "A=tab\there \"quoted\" \\ $B \\x"),
    ("A='one\ntwo' # more\nB=3", "A=one\ntwo|B=3"),
    ("A=''", "A="),
    ("A=1\nA=2", "A=1|A=2"),
    ("A=a=b", "A=a=b"),
    ("A_1=é漢", "A_1=é漢"),
    ("A=it's", "A=it's"),
  ])
  func `a file gives these variables`(text: String, expected: String) throws {
    let found = try variables(in: Array(text.utf8))
    #expect(found.map { "\($0)=\($1)" }.joined(separator: "|") == expected)
  }

  @Test(arguments: [
    ("A", "1: '=' is missing after a name"),
    ("A=1\n\nB 2", "3: '=' is missing after a name"),
    ("=1", "1: a line must be NAME=value, a comment or blank"),
    ("1A=1", "1: a line must be NAME=value, a comment or blank"),
    ("A-B=1", "1: '=' is missing after a name"),
    ("export", "1: '=' is missing after a name"),
    ("export =", "1: a line must be NAME=value, a comment or blank"),
    ("A='one\ntwo\nthree", "1: a quote is never closed"),
    (#"A="\""#, "1: a quote is never closed"),
    ("A='x' y", "1: text after a closing quote"),
    ("A='x\n' y", "2: text after a closing quote"),
    ("A=x\u{0}y", "1: the value is not UTF-8, or contains a NUL character"),
  ])
  func `what is wrong is told with its line, and without its text`(text: String, expected: String) {
    #expect(fault(in: Array(text.utf8)) == expected)
  }

  @Test func `bytes that are no text, and files that are too large, are refused`() {
    #expect(fault(in: [65, 61, 0xFF]) == "1: the value is not UTF-8, or contains a NUL character")
    let large = [UInt8](repeating: 10, count: 1 << 20 + 1)
    #expect(fault(in: large) == "1: larger than 1 MiB, which is the limit")
  }

  private func fault(in bytes: [UInt8]) -> String {
    do throws(VariableFileFailure) {
      _ = try variables(in: bytes)
      return "none"
    } catch {
      return "\(error.line): \(error.message)"
    }
  }
}

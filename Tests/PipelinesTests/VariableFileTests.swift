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
    ("A=#one", "A=#one"),
    ("A= #one", "A="),
    ("A=\t# one", "A="),
    ("# A=1\n  # B=2\nC=3", "C=3"),
    ("A='one # two'", "A=one # two"),
    ("A='it is $B \\n'", "A=it is $B \\n"),
    (#"A="tab\there \"quoted\" \\ \$B \x""#, "A=tab\there \"quoted\" \\ $B \\x"),
    ("A='one\ntwo' # more\nB=3", "A=one\ntwo|B=3"),
    ("A=''", "A="),
    ("A=a=b", "A=a=b"),
    ("A_1=é漢", "A_1=é漢"),
    ("A=it's", "A=it's"),
  ])
  func `a file gives these variables`(text: String, expected: String) {
    let file = readVariables(Array(text.utf8))
    #expect(file.variables.map { "\($0.name)=\($0.value)" }.joined(separator: "|") == expected)
    #expect(file.faults == [])
  }

  @Test(arguments: [
    ("A", "2: '=' is missing after a name"),
    ("A=1\n\nB 2", "7: '=' is missing after a name"),
    ("A\r\nB=1", "2: '=' is missing after a name"),
    ("=1", "1: a line must be NAME=value, a comment or blank"),
    ("  1A=1", "3: a line must be NAME=value, a comment or blank"),
    ("A-B=1", "2: '=' is missing after a name"),
    ("export", "7: '=' is missing after a name"),
    ("export =", "8: a line must be NAME=value, a comment or blank"),
    ("A='one\ntwo\nthree", "3: a quote is never closed"),
    (#"A="\""#, "3: a quote is never closed"),
    ("A='x' y", "7: text after a closing quote"),
    ("A='x\n' y", "8: text after a closing quote"),
    ("A=x\u{0}y", "3: the value is not UTF-8, or contains a NUL character"),
    ("A=1\nexport A=2", "12: variable 'A' is set twice, first at 1"),
    (
      "A\nB=1\n?\nB=2\n'",
      "2: '=' is missing after a name|7: a line must be NAME=value, a comment or blank|"
        + "9: variable 'B' is set twice, first at 3|"
        + "13: a line must be NAME=value, a comment or blank"
    ),
  ])
  func `all that is wrong is told with its place, and without its text`(
    text: String, expected: String
  ) {
    #expect(faults(in: Array(text.utf8)) == expected)
  }

  @Test func `bytes that are no text, and files that are too large, are refused`() {
    #expect(faults(in: [65, 61, 0xFF]) == "3: the value is not UTF-8, or contains a NUL character")
    let large = [UInt8](repeating: 10, count: 1 << 20 + 1)
    #expect(faults(in: large) == "1: the file is larger than 1 MiB, which is the limit")
  }

  @Test func `the lines behind a fault are read`() {
    let file = readVariables(Array("A=1\nB\nC=3".utf8))
    #expect(file.variables.map(\.name) == ["A", "C"])
  }

  /// Each with the place where it begins, from 1.
  private func faults(in bytes: [UInt8]) -> String {
    readVariables(bytes).faults.map { fault in
      let first = fault.first.map { ", first at \($0.lowerBound + 1)" } ?? ""
      return "\(fault.place.lowerBound + 1): \(fault.message)\(first)"
    }.joined(separator: "|")
  }
}

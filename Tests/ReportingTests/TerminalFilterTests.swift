import Testing

@testable import Reporting

@Suite struct `Output to a terminal` {
  /// What is shown of a text that arrives in pieces of this many bytes.
  private func shown(_ bytes: [UInt8], keepsColor: Bool = true, pieces: Int = .max) throws -> String
  {
    try written { sink in
      var filter = TerminalFilter(keepsColor: keepsColor)
      var start = 0
      var end = 0
      while start < bytes.count {
        end = min(bytes.count, end + min(pieces, bytes.count))
        bytes[start..<end].withUnsafeBytes {
          start += filter.write($0, isLast: end == bytes.count, to: sink)
        }
      }
    }
  }

  private static let cases: [(String, String)] = [
    ("plain\ttext\n", "plain\ttext\n"),
    ("é 日本 👍\n", "é 日本 👍\n"),
    ("\u{1b}[1;38:5:9mred\u{1b}[m", "\u{1b}[1;38:5:9mred\u{1b}[m"),
    ("\u{1b}[2Jclear", "\\u{1b}[2Jclear"),
    ("\u{1b}]0;title\u{7}", "\\u{1b}]0;title\\u{7}"),
    ("\u{1b}[31", "\\u{1b}[31"),
    ("\u{1b}", "\\u{1b}"),
    ("nul\0 del\u{7f}", "nul\\u{0} del\\u{7f}"),
    ("\u{9b}2J", "\\u{9b}2J"),
    ("a\r\nb\rc\r", "a\nb\nc"),
  ]

  @Test(arguments: cases)
  func `control characters are visible, colour passes`(text: String, visible: String) throws {
    #expect(try shown(Array(text.utf8)) == visible)
  }

  @Test(arguments: cases)
  func `it does not matter where output is cut`(text: String, visible: String) throws {
    #expect(try shown(Array(text.utf8), pieces: 1) == visible)
  }

  @Test func `colour is dropped where it is not wanted`() throws {
    #expect(try shown(Array("\u{1b}[31mred\u{1b}[0m".utf8), keepsColor: false) == "red")
  }

  @Test(
    arguments: [
      ([0xff, 0x41], "\\xffA"), ([0xc3], "\\xc3"), ([0xe2, 0x82], "\\xe2\\x82"),
      ([0xed, 0xa0, 0x80], "\\xed\\xa0\\x80"), ([0xc0, 0x80], "\\xc0\\x80"),
      ([0xf4, 0x90, 0x80, 0x80], "\\xf4\\x90\\x80\\x80"), ([0xe2, 0x41], "\\xe2A"),
    ] as [([UInt8], String)])
  func `what is no UTF-8 is shown byte by byte`(bytes: [UInt8], visible: String) throws {
    #expect(try shown(bytes) == visible)
    #expect(try shown(bytes, pieces: 1) == visible)
  }

  @Test func `an endless sequence is not waited for`() throws {
    let text = "\u{1b}[" + String(repeating: "1", count: 100) + "m"
    #expect(try shown(Array(text.utf8), pieces: 1) == "\\u{1b}" + text.dropFirst())
  }
}

import Diagnostics
import Testing

@testable import Reporting

@Suite struct `Lines on a terminal` {
  private func clipped(_ text: String, to columns: Int?, addsReturns: Bool = false) throws -> String
  {
    try written { sink in
      sink.lineWidth = columns
      sink.addsReturns = addsReturns
      // However a text is cut, the lines are the same.
      for byte in text.utf8 {
        sink.write(byte)
        sink.flush()
      }
    }
  }

  @Test(
    arguments: [
      ("short\n", "short\n"), ("exactly 10\n", "exactly 10\n"), ("eleven cols\n", "eleven co…\n"),
      ("日本語日本\n", "日本語日本\n"), ("日本語日本語\n", "日本語日…\n"), ("a日本語日本語\n", "a日本語日…\n"),
      (
        "e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}eeeee\n",
        "e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}eeeee\n"
      ),
      ("\u{1b}[31mred and long\u{1b}[0m\nx\n", "\u{1b}[31mred and l…\u{1b}[0m\nx\n"),
      ("\u{1}the whole of a line\n", "the whole of a line\n"), ("\n\n", "\n\n"),
    ])
  func `are cut by the columns that they take`(text: String, shown: String) throws {
    #expect(try clipped(text, to: 10) == shown)
    #expect(try clipped(text, to: 10, addsReturns: true) == shown.replacing("\n", with: "\r\n"))
  }

  @Test(
    arguments: [
      ("short\n", "short\n"), ("exactly 10\n", "exactly 10\n"),
      ("eleven cols\n", "eleven\n  cols\n"), ("one two three four\n", "one two\n  three\n  four\n"),
      ("  at its place\n", "  at its\n    place\n"), ("unbreakable-word x\n", "unbreakab…\n  x\n"),
      ("a unbreakable-word\n", "a\n  unbreak…\n"),
      ("ok  many words\n", "ok  many\n    words\n"),
      ("a name  many words\n", "a name \n  many\n  words\n"),
      ("日本語 日本語\n", "日本語\n  日本語\n"),
      ("\u{1b}[31mred and long\u{1b}[0m\nx\n", "\u{1b}[31mred and\n  long\u{1b}[0m\nx\n"),
      ("trailing  \u{1b}[0m \n", "trailing  \u{1b}[0m\n"),
      ("\u{1}the whole of a line\n", "the whole of a line\n"), ("\n\n", "\n\n"),
    ])
  func `go on in further lines where they are folded`(text: String, shown: String) throws {
    let folded = try written { sink in
      sink.lineWidth = 10
      sink.foldsLines = true
      sink.write(text)
    }
    #expect(folded == shown)
  }

  @Test(
    arguments: [
      ("a…z is cut…\n", "a~z is cu~\n"), ("… 6 more\n", "... 6 more\n"), ("  … 6\n", "  ... 6\n"),
      ("ä â\n", "ä â\n"),
    ])
  func `have their ellipses in ASCII`(text: String, shown: String) throws {
    let spelled = try written { sink in
      sink.lineWidth = 10
      sink.spellsInASCII = true
      for byte in text.utf8 {
        sink.write(byte)
        sink.flush()
      }
    }
    #expect(spelled == shown)
  }

  @Test func `elsewhere stay as they are`() throws {
    #expect(
      try clipped("a line that is longer than that\nand", to: nil)
        == "a line that is longer than that\nand")
  }

  @Test(
    arguments: [
      ("build", 8, "build"), ("integration", 8, "inte…ion"), ("日本語の名前", 8, "日本…前"),
      ("abc", 1, "…"), ("abc", 0, "…"), ("abcd", 2, "a…"),
    ])
  func `hold names that are cut in the middle`(name: String, columns: Int, shown: String) {
    #expect(cutInMiddle(name, columns: columns) == shown)
  }
}

// The lines of a block: a function of what is shown and the size of the terminal.

import Diagnostics
import Scheduling
import Testing

@testable import Reporting

struct `The lines of a block` {
  private func shown(
    _ view: LiveView, _ columns: Int, _ rows: Int, color: Bool = false, ascii: Bool = false
  ) -> String {
    let lines = view.lines(
      on: ScreenSize(rows: rows, columns: columns), LiveStyle(isColored: color, usesASCII: ascii))
    for line in lines {
      let text = String(decoding: line.bytes, as: UTF8.self).replacing(/\u{1b}\[[0-9]*m/, with: "")
      #expect(displayWidth(of: text) == line.width)
      #expect(line.width <= columns)
    }
    #expect(lines.count <= max(0, rows - 2))
    return lines.map { String(decoding: $0.bytes, as: UTF8.self) + "\n" }.joined()
  }

  private let gallery: LiveView = {
    var view = LiveView()
    (view.done, view.total, view.running) = (4, 9, 2)
    view.elapsed = 3_100_000_000
    view.left = 3_600_000_000
    view.nameWidth = 13
    var download = LiveView.Row(mark: .opening, name: "download[3]", elapsed: 2_900_000_000)
    download.lastLine = LastLine(text: "61% of 8.4 MB, 2.1 MB/s")
    var build = LiveView.Row(mark: .opening, name: "build", elapsed: 800_000_000)
    build.lastLine = LastLine(text: "Compiling main.swift")
    view.rows = [download, build]
    view.rowCount = 2
    return view
  }()

  @Test func `name what runs, how long, and what it printed last`() {
    #expect(
      shown(gallery, 80, 24) == """
        [4/9] ━━━━━━━━────────────  2 running, 3 waiting  3.1s, about 4s left
          > download[3]  2.9s   61% of 8.4 MB, 2.1 MB/s
          > build        0.8s   Compiling main.swift

        """)
    #expect(
      shown(gallery, 80, 24, ascii: true).hasPrefix(
        "[4/9] ========------------  2 running, 3 waiting  3.1s, about 4s left\n"))
  }

  @Test(arguments: [
    (200, "[4/9] ━━━━━━━━────────────  2 running, 3 waiting  3.1s, about 4s left"),
    (69, "[4/9] ━━━━━━━━────────────  2 running, 3 waiting  3.1s, about 4s left"),
    (60, "[4/9] ━━━━───────  2 running, 3 waiting  3.1s, about 4s left"),
    (56, "[4/9] 2 running, 3 waiting  3.1s, about 4s left"),
    (46, "[4/9] ━━━━━───────  2 running, 3 waiting  3.1s"),
    (40, "[4/9] 2 running, 3 waiting  3.1s"),
    (20, "[4/9] 2 running, 3 …"), (1, "…"),
  ])
  func `leave out the bar, then the estimate, where there is no room`(columns: Int, line: String) {
    #expect(shown(gallery, columns, 24).split(separator: "\n").first.map(String.init) == line)
  }

  @Test func `long names have the room that is there`() {
    let name = "integration-tests-of-everything-that-there-is-and-of-more"
    var view = gallery
    view.rows = [LiveView.Row(mark: .opening, name: name, elapsed: 2_900_000_000)]
    view.rowCount = 1
    #expect(shown(view, 80, 24).hasSuffix("\n  > \(name)  2.9s\n"))
    view.rows[0].lastLine.text = "a"
    #expect(
      shown(view, 80, 24).hasSuffix(
        "\n  > integration-tests-of-…-there-is-and-of-more  2.9s   a\n"))
    #expect(shown(view, 40, 24).hasSuffix("\n  > integrat…of-more  2.9s   a\n"))
  }

  @Test func `are never more than the terminal has rows, but two`() {
    var view = gallery
    view.rows = (1...30).map {
      LiveView.Row(mark: .opening, name: "s\($0)", elapsed: 1_000_000_000)
    }
    view.rowCount = 1000
    view.left = nil
    #expect(
      shown(view, 40, 7) == """
        [4/9] 2 running, 3 waiting  3.1s
          > s1           1.0s
          > s2           1.0s
          > s3           1.0s
          … and 997 more

        """)
    #expect(shown(view, 40, 5).hasSuffix("  > s1           1.0s\n  … and 999 more\n"))
    #expect(shown(view, 40, 4) == "[4/9] 2 running, 3 waiting  3.1s\n  > s1           1.0s\n")
    #expect(shown(view, 40, 3) == "[4/9] 2 running, 3 waiting  3.1s\n")
    #expect(shown(view, 40, 2) == "")
    view.rowCount = 4
    #expect(shown(view, 40, 7).hasSuffix("  > s4           1.0s\n"))
  }

  @Test func `are cut by the columns that characters take`() {
    var view = gallery
    view.rows[0].lastLine.text = "図書館で本を読む人がいる"
    view.rows[1].lastLine.text = "a\u{301}e\u{301} \u{2764}\u{fe0f} 👩‍👩‍👧 \u{1b}[31mred\u{1b}[0m \u{7}"
    #expect(
      shown(view, 30, 24) == """
        [4/9] 2 running, 3 waiting  3…
          > download[3]  2.9s   図書…
          > build        0.8s   a\u{301}e\u{301} \u{2764} …

        """)
    #expect(shown(view, 80, 24).contains("a\u{301}e\u{301} \u{2764} 👩‍👩‍👧 red \\u{7}\n"))
  }

  @Test func `show the end of a line that has none yet`() {
    var view = gallery
    view.rows = [view.rows[0]]
    view.rows[0].lastLine = LastLine(text: "............12", isCutAtStart: true)
    #expect(shown(view, 30, 24).hasSuffix("  > download[3]  2.9s   …...12\n"))
  }

  @Test func `say what failed, and that the run is stopping`() {
    var view = gallery
    view.failed = 1
    #expect(shown(view, 50, 24).hasPrefix("[4/9] 1 failed, 2 running, 3 waiting  3.1s\n"))
    #expect(
      shown(view, 80, 24, color: true).hasPrefix(
        "[4/9] \u{1b}[31m━━━━━"))
    view.isStopping = true
    view.left = nil
    #expect(shown(view, 50, 24).hasPrefix("[4/9] stopping, 1 failed, 2 running  3.1s\n"))
  }
}

struct `The last line of a log` {
  private func last(_ text: String, isCut: Bool = false) -> LastLine {
    Array(text.utf8).withUnsafeBytes { LastLine($0, isCutAtStart: isCut) }
  }

  @Test(arguments: [
    ("", ""), ("a\nb\n", "b"), ("a\n\n \t\n", "a"), ("  a  \n", "a"), ("name? ", "name?"),
    ("10%\r50%\r", "50%"), ("10%\r50%", "50%"), ("50%\r\n", "50%"), ("a\r   \r", "a"),
    ("\u{1b}[31mred\u{1b}[0m\n", "red"), ("|\u{8}/\u{8}-", "-"), ("ä\u{8}o", "o"),
    ("a\u{1b}[2K\u{1b}[1Gb", "b"), ("a\u{1b}[2J", "a"), ("a\u{1b}[Kb", "ab"),
    ("\u{1b}]0;title\u{7}a", "a"), ("\u{1b}]8;;http://x\u{1b}\\a\u{1b}]8;;\u{1b}\\", "a"),
    ("\u{1b}(Ba", "a"), ("a\u{1b}", "a"), ("a\u{1b}[31", "a"), ("a\u{7}b", "ab"),
    ("a\u{1b}[1Ab", "b"),
  ])
  func `is what a terminal would show`(log: String, line: String) {
    #expect(last(log) == LastLine(text: line))
  }

  @Test func `tells where it began before what was read`() {
    #expect(last("abc", isCut: true) == LastLine(text: "abc", isCutAtStart: true))
    #expect(last("abc\ndef", isCut: true) == LastLine(text: "def"))
    #expect(last("abc\n", isCut: true) == LastLine(text: "abc", isCutAtStart: true))
    let rest = Array("ä!".utf8).dropFirst()
    #expect(
      Array(rest).withUnsafeBytes { LastLine($0, isCutAtStart: true) }
        == LastLine(text: "!", isCutAtStart: true))
  }
}

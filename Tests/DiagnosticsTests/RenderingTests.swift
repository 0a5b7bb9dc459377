// Diagnostics as a person sees them: whole paragraphs, carets included.

import Diagnostics
import Testing

/// Renders one diagnostic about the first occurrence of `marked` in `text`.
private func rendered(
  _ text: String, marking marked: String, message: String = "wrong", label: String = "",
  help: String? = nil
) -> String {
  var sources = SourceMap()
  sources.add(path: "a.yml", bytes: Array(text.utf8))
  let diagnostic = Diagnostic(message, at: span(of: marked, in: text), label: label, help: help)
  return render([diagnostic], in: sources)
}

private func span(of marked: String, in text: String, from offset: Int = 0) -> Span {
  let (bytes, wanted) = (Array(text.utf8), Array(marked.utf8))
  for start in offset...(bytes.count - wanted.count)
  where bytes[start..<(start + wanted.count)].elementsEqual(wanted) {
    return Span(start: start, end: start + wanted.count)
  }
  preconditionFailure("\(marked) is not in the text")
}

struct RenderingTests {
  @Test func `a place is shown with its line, underlined, and a help line`() {
    #expect(
      rendered("steps:\n  - idd: a\n", marking: "idd", help: "did you mean 'id'?") == """
        a.yml:2:5: error: wrong
         2 |   - idd: a
           |     ^~~
          help: did you mean 'id'?
        a.yml: 1 error

        """)
  }

  @Test func `the underline counts columns of the terminal, the place counts characters`() {
    #expect(
      rendered("名前: 値 e\u{301}x\n", marking: "e\u{301}x", label: "here") == """
        a.yml:1:7: error: wrong
         1 | 名前: 値 e\u{301}x
           |          ^~ here
        a.yml: 1 error

        """)
    #expect(
      rendered("a: 日本\n", marking: "日本") == """
        a.yml:1:4: error: wrong
         1 | a: 日本
           |    ^~~~
        a.yml: 1 error

        """)
  }

  @Test func `tabs are shown as spaces up to the next stop`() {
    #expect(
      rendered("\ta:\tb\n", marking: "b") == """
        a.yml:1:5: error: wrong
         1 |     a:  b
           |         ^
        a.yml: 1 error

        """)
  }

  @Test func `what would move the cursor or turn the text is escaped`() {
    #expect(
      rendered("a: \u{1b}[2J\u{202e}b\n", marking: "b") == """
        a.yml:1:9: error: wrong
         1 | a: \\u{1b}[2J\\u{202e}b
           |                     ^
        a.yml: 1 error

        """)
  }

  @Test func `a byte order mark and carriage returns are not seen`() {
    #expect(
      rendered("\u{feff}a: 1\r\nb: 2\r\n", marking: "a") == """
        a.yml:1:1: error: wrong
         1 | a: 1
           | ^
        a.yml: 1 error

        """)
    #expect(
      rendered("\u{feff}a: 1\r\nb: 2\r\n", marking: "2\r\n") == """
        a.yml:2:4: error: wrong
         2 | b: 2
           |    ^
        a.yml: 1 error

        """)
  }

  @Test func `a long line is clipped around the place`() {
    let text = String(repeating: "x ", count: 400) + "here" + String(repeating: " y", count: 400)
    let dots = String(repeating: "x ", count: 20)
    let rest = String(repeating: " y", count: 38)
    #expect(
      rendered(text, marking: "here") == """
        a.yml:1:801: error: wrong
         1 | …\(dots)here\(rest)…
           | \(String(repeating: " ", count: 41))^~~~
        a.yml: 1 error

        """)
  }

  @Test func `a long line of wide characters is cut between characters`() {
    let text = String(repeating: "語", count: 1000) + "!" + String(repeating: "語", count: 1000)
    let lines = rendered(text, marking: "!").split(separator: "\n")
    #expect(!rendered(text, marking: "!").contains("\u{FFFD}"))
    #expect(lines[0] == "a.yml:1:1001: error: wrong")
    let caret = displayWidth(of: String(lines[2].prefix { $0 != "^" }))
    #expect(caret == displayWidth(of: String(lines[1].prefix { $0 != "!" })))
  }

  @Test func `bytes that are no UTF-8 keep the underline in place`() {
    var sources = SourceMap()
    sources.add(path: "a.yml", bytes: Array("a: ".utf8) + [0xFF, 0xFE] + Array(" b\n".utf8))
    #expect(
      render([Diagnostic("wrong", at: Span(start: 6, end: 7))], in: sources) == """
        a.yml:1:7: error: wrong
         1 | a: \u{FFFD}\u{FFFD} b
           |       ^
        a.yml: 1 error

        """)
  }

  @Test func `a place over several lines is underlined on its first`() {
    #expect(
      rendered("a:\n  - b\n  - c\n", marking: "- b\n  - c") == """
        a.yml:2:3: error: wrong
         2 |   - b
           |   ^~~
        a.yml: 1 error

        """)
  }

  @Test func `the end of the file is a place`() {
    #expect(
      rendered("a: [\n", marking: "") == """
        a.yml:1:1: error: wrong
         1 | a: [
           | ^
        a.yml: 1 error

        """)
    var sources = SourceMap()
    sources.add(path: "a.yml", bytes: Array("a: [".utf8))
    #expect(
      render([Diagnostic("wrong", at: Span(start: 4, end: 4))], in: sources) == """
        a.yml:1:5: error: wrong
         1 | a: [
           |     ^
        a.yml: 1 error

        """)
  }

  @Test func `further places follow, one source line is shown once`() {
    let text = "a: [b]\n\n\n\n\n\n\n\n\nc: [d, e]\n"
    var sources = SourceMap()
    sources.add(path: "a.yml", bytes: Array(text.utf8))
    let diagnostic = Diagnostic(
      "a cycle", at: span(of: "b", in: text), label: "one",
      secondary: [
        .init(span(of: "d", in: text), "two"), .init(span(of: "e", in: text), "three"),
      ])
    #expect(
      render([diagnostic], in: sources) == """
        a.yml:1:5: error: a cycle
          1 | a: [b]
            |     ^ one
         10 | c: [d, e]
            |     ~ two
            |        ~ three
        a.yml: 1 error

        """)
  }

  private func twoPlaces(_ text: String, _ first: String, _ second: String, columns: Int? = nil)
    -> String
  {
    var sources = SourceMap()
    sources.add(path: "a.yml", bytes: Array(text.utf8))
    let diagnostic = Diagnostic(
      "a cycle", at: span(of: first, in: text), label: "one",
      secondary: [.init(span(of: second, in: text), "two")])
    return render([diagnostic], in: sources, on: DiagnosticTerminal(columns: columns))
  }

  @Test func `a further place is underlined after tabs and wide characters, too`() {
    #expect(
      twoPlaces("日:\t[b,\t語, c]\n", "b", "語") == """
        a.yml:1:5: error: a cycle
         1 | 日: [b, 語, c]
           |      ^ one
           |         ~~ two
        a.yml: 1 error

        """)
    #expect(
      twoPlaces("a: b\nx:\t日本: [c,\n  d]\n", "b", "c,\n  d") == """
        a.yml:1:4: error: a cycle
         1 | a: b
           |    ^ one
         2 | x:  日本: [c,
           |            ~~ two
        a.yml: 1 error

        """)
  }

  @Test func `a further place in a long line is underlined in the part that is shown`() {
    let long = String(repeating: "x ", count: 400)
    let dots = String(repeating: "x ", count: 20)
    let rest = String(repeating: "x ", count: 33)
    #expect(
      twoPlaces("\(long)here and there \(long)", "here", "there") == """
        a.yml:1:801: error: a cycle
         1 | …\(dots)here and there \(rest.dropLast())…
           | \(String(repeating: " ", count: 41))^~~~ one
           | \(String(repeating: " ", count: 50))~~~~~ two
        a.yml: 1 error

        """)
  }

  @Test func `a further place outside of that part has the line again`() {
    let long = String(repeating: "x ", count: 400)
    let lines = twoPlaces("\(long)here \(long)there \(long)", "here", "there")
      .split(separator: "\n")
    #expect(lines.count == 6)
    for (place, line) in [("here", 1), ("there", 3)] {
      let mark = lines[line + 1].prefix { $0 != "^" && $0 != "~" }
      #expect(lines[line].dropFirst(mark.count).hasPrefix(place), "\(lines[line])")
    }
  }

  @Test(arguments: [80, 40, 20])
  func `a source line fits into the terminal, and its underline with it`(columns: Int) {
    let text = "  - {id: pack, depends_on: [a-long-name, another-long-name, 日本語, build]}"
    let lines = twoPlaces(text, "another", "build", columns: columns).split(separator: "\n")
    for line in lines.dropFirst().dropLast() where !line.contains("   |") {
      #expect(displayWidth(of: String(line)) <= columns, "\(line)")
    }
    let mark = lines[2].prefix { $0 != "^" }
    let shown = lines[1].unicodeScalars.reduce(into: (width: 0, text: "")) { result, scalar in
      if result.width >= mark.count { result.text.unicodeScalars.append(scalar) }
      result.width += displayWidth(of: scalar)
    }
    #expect(shown.text.hasPrefix("anoth"), "\(lines)")
  }

  @Test func `a place in another file is shown with that file's name`() {
    var sources = SourceMap()
    sources.add(path: "a.yml", bytes: Array("a: 1\n".utf8))
    let start = sources.add(path: "b.yml", bytes: Array("x: 0\nb: 2\n".utf8))
    let diagnostic = Diagnostic(
      "twice", at: Span(start: start + 5, end: start + 6),
      secondary: [.init(Span(start: 0, end: 1), "first here")])
    #expect(
      render([diagnostic], in: sources) == """
        b.yml:2:1: error: twice
         2 | b: 2
           | ^
          in a.yml
         1 | a: 1
           | ~ first here
        a.yml: 1 error

        """)
  }
}

struct ReportTests {
  private func many(_ count: Int) -> (SourceMap, [Diagnostic]) {
    var sources = SourceMap()
    sources.add(path: "a.yml", bytes: Array(String(repeating: "x\n", count: count).utf8))
    return (
      sources,
      (0..<count).map { Diagnostic("wrong", at: Span(start: 2 * $0, end: 2 * $0 + 1)) }
    )
  }

  @Test func `twenty are shown, the others are counted`() {
    let (sources, diagnostics) = many(33)
    let lines = render(diagnostics, in: sources).split(separator: "\n")
    #expect(lines.count == 20 * 3 + 2)
    #expect(lines.suffix(2) == ["… and 13 more", "a.yml: 33 errors"])
  }

  @Test func `none is no text`() {
    #expect(render([], in: SourceMap()) == "")
  }

  @Test func `the short form is one line each, without a limit`() {
    let (sources, diagnostics) = many(25)
    let text = render(diagnostics, in: sources, format: .short)
    #expect(text.hasPrefix("a.yml:1:1: error: wrong\na.yml:2:1: error: wrong\n"))
    #expect(text.split(separator: "\n").count == 25)
  }

  @Test func `the JSON form holds everything, escaped`() {
    var sources = SourceMap()
    sources.add(path: "a\"b.yml", bytes: Array("x: é\ny: 1\n".utf8))
    let diagnostic = Diagnostic(
      "say \"no\" \u{1b}", at: Span(start: 3, end: 5), label: "here",
      secondary: [.init(Span(start: 6, end: 7), "there")], help: "a\\b")
    #expect(
      render([diagnostic], in: sources, format: .json)
        == #"{"file":"a\"b.yml","line":1,"column":4,"endLine":1,"endColumn":5,"#
        + #""severity":"error","message":"say \"no\" \u001b","label":"here","help":"a\\b","#
        + #""related":[{"file":"a\"b.yml","line":2,"column":1,"message":"there"}]}"# + "\n")
  }

  @Test func `the form for GitHub escapes what would end a property or a line`() {
    var sources = SourceMap()
    sources.add(path: "a,b:c%.yml", bytes: Array("x: é\ny: 1\n".utf8))
    let diagnostic = Diagnostic(
      "50% of 'a:b,\r\n'", at: Span(start: 6, end: 7), help: "write c::d")
    #expect(
      render([diagnostic], in: sources, format: .github)
        == "::error file=a%2Cb%3Ac%25.yml,line=2,col=1,title=invalid pipeline::"
        + "50%25 of 'a:b,%0D%0A'%0Ahelp: write c::d\n")
  }

  @Test func `colours only add`() {
    let (sources, diagnostics) = many(2)
    let plain = render(diagnostics, in: sources)
    let colored = render(diagnostics, in: sources, on: DiagnosticTerminal(isColored: true))
    #expect(colored != plain)
    #expect(colored.replacing(/\u{1b}\[[0-9;]*m/, with: "") == plain)
  }
}

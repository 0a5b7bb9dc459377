// Compares the rule for values in scripts with a second implementation: every position, every
// value.

import Diagnostics
import ExpressionSamples
import Expressions
import Foundation
import Testing

/// Gives one value for every name; members of `matrix` are the author's.
struct OneValue: ExpressionBindings {
  let value: String

  func member(_ name: String, of root: ContextRoot) -> Resolution { .known(.string(value)) }
  func isAuthors(_ name: String, of root: ContextRoot) -> Bool { root == .matrix }
}

func readTemplate(_ text: String) -> Template? {
  let file = SampleFile(text)
  var log = DiagnosticLog()
  return file.sources.withText(at: file.origin.span) { source in
    Template(parsing: file.bytes[...], file.origin, in: source, log: &log)
  }
}

private let shell = ScriptReader(shell: ["/bin/sh", "-e"])

/// The script with the value at every `@`; nil if it is refused.
func inserted(_ value: String, at place: String) throws -> String? {
  let text = place.replacing("@", with: "${{ params.version }}")
  return try? #require(readTemplate(text)).renderedScript(for: shell, with: OneValue(value: value))
}

/// The same, according to the manual: a second implementation, which shares nothing with the first.
func insertedByTheManual(
  _ value: String, at place: String, isShell: Bool = true
) -> String? {
  let safe = Set(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-".unicodeScalars)
  let name = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_".unicodeScalars)
  let ends = Set(" \t\n\r\u{B}\u{C};&|()<>{}'\"`!\\,".unicodeScalars)
  let literals = place.split(separator: "@", omittingEmptySubsequences: false).map(String.init)
  if !isShell, !isNumber(value) {
    guard place.contains("'@'") || place.contains("\"@\""),
      value.unicodeScalars.allSatisfy({ name.contains($0) || $0 == "." || $0 == "-" }),
      let first = value.unicodeScalars.first, let last = value.unicodeScalars.last,
      name.contains(first), name.contains(last)
    else { return nil }
  }
  var text = literals[0]
  var marked = text
  // The rest of the word without its values; nil at its beginning.
  var word = ""
  var isAtStart = true
  /// True after `$name` and `$@`, which may be empty.
  var isBehindName = false
  var isBehindDollar = false
  /// The line has a brace before, which is not that of `${`.
  var isInBraces = false
  func goPast(_ literal: String) {
    for scalar in literal.unicodeScalars {
      if scalar == "{", !isBehindDollar { isInBraces = true }
      if scalar == "\n" { isInBraces = false }
      defer { isBehindDollar = scalar == "$" }
      if ends.contains(scalar) || scalar == "$" {
        word = ""
        isAtStart = true
        isBehindName = scalar == "$"
      } else if isBehindDollar || isBehindName && name.contains(scalar) {
        continue
      } else {
        isBehindName = false
        word.unicodeScalars.append(scalar)
        isAtStart = false
      }
    }
  }
  goPast(literals[0])
  for literal in literals.dropFirst() {
    guard !value.isEmpty, value.unicodeScalars.allSatisfy(safe.contains) else { return nil }
    if isAtStart, value.hasPrefix("-") { return nil }
    let operand = word.unicodeScalars.reversed().drop(while: name.contains)
    if value.unicodeScalars.contains("="),
      operand.first.map({ "[,?:+-*%^~".unicodeScalars.contains($0) }) ?? true
    {
      return nil
    }
    if isInBraces, value.contains(",-") || value.contains(",") && value.contains("=") { return nil }
    isAtStart = value.hasSuffix(",")
    text += value + literal
    marked += "\u{1}" + value + literal
    goPast(literal)
  }
  return isShell && endsCase(marked) || endsDocument(marked) ? nil : text
}

/// Whether a value, which U+0001 precedes, makes a word `esac` after a parenthesis.
private func endsCase(_ marked: String) -> Bool {
  var isBehind = false
  return marked.split(whereSeparator: { " \t\n\r;&|()<>{}'\"`!\\,".contains($0) })
    .contains { word in
      isBehind = isBehind || marked[..<word.startIndex].contains("(")
      return isBehind && word.contains("\u{1}") && word.filter { $0 != "\u{1}" } == "esac"
    }
}

private func isNumber(_ value: String) -> Bool {
  value == "true" || value == "false"
    || value.first != "." && value.allSatisfy { "0123456789.".contains($0) }
}

/// Whether a line with a value, which U+0001 precedes, could be the end of a here-document.
private func endsDocument(_ marked: String) -> Bool {
  func plain(_ text: Substring) -> String {
    String(text.filter { !"'\"\\$\r\u{1}".contains($0) })
      .trimmingCharacters(in: CharacterSet(charactersIn: " \t"))
  }
  return [marked, marked.replacing("\\\n", with: "")].contains { text in
    var words: Set<String> = []
    return text.split(separator: "\n", omittingEmptySubsequences: false).contains { line in
      if let value = line.firstIndex(of: "\u{1}") {
        let (text, before) = (plain(line), plain(line[..<value]).count)
        if words.contains(text) { return true }
        let isLast = text.contains { ")}".contains($0) }
        if isLast, words.contains(where: { $0.count > before && text.hasPrefix($0) }) {
          return true
        }
      }
      for part in line.split(separator: "<<", omittingEmptySubsequences: false).dropFirst() {
        let word = part.drop { $0 == "<" }
        for word in "-~#".contains(word.first ?? " ") ? [word, word.dropFirst()] : [word] {
          let end = plain(word.drop { " \t".contains($0) }.prefix { !" \t;&|()<>`".contains($0) })
          if !end.isEmpty { words.insert(end) }
        }
      }
      return false
    }
  }
}

struct ScriptRuleTests {
  /// The positions; `$${{` is not an expression.
  static let places =
    (valuePlaces + bashValuePlaces + [
      "@@", "p @@", "LD_@", "LD_@@", "x/@", "--define=@", "-D@", "p x@y@", "@=@", "p \\@", "p $h@",
      "p $h/@", "p é@",
      "\u{A0}@", "p [@]", "pip install \"pkg[@]\"", "echo \"[@]\"", "a\r\n@", "{@}", "!@", "#@",
      "print(\"@\")", "x = @", "$h{@}", "p ${x:-@}", "p a,@", "p +@", "p ~@", "p %@", "0@", "_@ p",
    ])
    .filter { !$0.contains("$@") }

  @Test func `every value in every place is as the manual says`() throws {
    var accepted = 0
    for place in Self.places {
      for value in hostileValues + plainHostileValues {
        let expected = insertedByTheManual(value, at: place)
        let found = try inserted(value, at: place)
        #expect(found == expected, "\(place) with \(value)")
        if found != nil { accepted += 1 }
      }
    }
    #expect(accepted > 5_000)
  }

  /// Each single byte, and each beginning of a word.
  @Test func `every character in every neighbourhood is as the manual says`() throws {
    for scalar in (0..<256).compactMap(Unicode.Scalar.init) {
      let text = String(Character(scalar))
      for value in [text, "-\(text)", "\(text)=", "a\(text)"] {
        let found = try inserted(value, at: "p @")
        #expect(found == insertedByTheManual(value, at: "p @"), "\(value)")
      }
      guard text != "@", text != "$" else { continue }
      for value in ["-x", "a=b", "=", "ok"] {
        let found = try inserted(value, at: "p \(text)@")
        #expect(found == insertedByTheManual(value, at: "p \(text)@"), "\(text) and \(value)")
      }
    }
  }

  @Test(arguments: [
    "${{ matrix.os }}", "${{ matrix['os'] }}", "${{ params.version == 'x' ? 'y' : matrix.os }}",
    "${{ fromJSON('null') ?? matrix.os }}",
  ])
  func `what the author wrote may be anything`(text: String) throws {
    for value in hostileValues + plainHostileValues where !value.contains("\0") {
      let template = try #require(readTemplate("p \(text) y"))
      #expect(
        try template.renderedScript(for: shell, with: OneValue(value: value)) == "p \(value) y")
    }
  }

  @Test(arguments: [
    ("${{ params.version == 'v' ? '--release; x' : '' }}", "--release; x"),
    ("${{ params.version == 'w' ? '--release; x' : '' }}", ""),
    ("${{ ['-a b', '-c'][0] }}", "-a b"), ("${{ -1 }}", "-1"), ("${{ \"a\\nb\" }}", "a\nb"),
    ("${{ null ?? '; x' }}", "; x"),
  ])
  func `literals of an expression are the author's`(text: String, result: String) throws {
    let template = try #require(readTemplate("p \(text)"))
    let bindings = OneValue(value: "v")
    #expect(try template.renderedScript(for: shell, with: bindings) == "p \(result)")
    // The same when a part of it was known before.
    let folded = try #require(readTemplate("${{ steps.x }} p \(text)"))
      .folded(with: StepsLater(others: bindings))
    #expect(try folded.renderedScript(for: shell, with: bindings) == "v p \(result)")
  }

  @Test(arguments: [
    "${{ params.version ?? 'x' }}", "${{ true ? params.version : 'x' }}",
    "${{ matrix.os == 'x' ? 'y' : params.version }}", "${{ lower(matrix.os) }}",
    "${{ join([matrix.os, params.version], '') }}", "${{ [matrix.os, params.version][1] }}",
    "${{ [matrix.os, params.version][0] }}", "${{ toJSON(matrix.os) }}", "${{ quote(matrix.os) }}",
    "${{ env.X }}", "${{ steps.x }}", "${{ run.id }}", "${{ host.name }}",
    "${{ fromJSON('\"; x\"') }}", "${{ upper('; x') }}", "${{ quote('x') }}",
  ])
  func `what is made of it is a value`(text: String) throws {
    for place in ["p \(text)", "${{ steps.x }} \(text)"] {
      let template = try #require(readTemplate(place))
      #expect(throws: EvaluationFailure.self) {
        _ = try template.renderedScript(for: shell, with: OneValue(value: "; X"))
      }
      let folded = try template.folded(with: StepsLater(others: OneValue(value: "; X")))
      #expect(throws: EvaluationFailure.self) {
        _ = try folded.renderedScript(for: shell, with: OneValue(value: "; X"))
      }
    }
  }

  @Test func `text of the author counts as written`() throws {
    func script(_ text: String, _ value: String) throws -> String? {
      try? #require(readTemplate(text)).renderedScript(for: shell, with: OneValue(value: value))
    }
    #expect(try script("p a${{ ' ' }}${{ params.v }}", "-x") == nil)
    #expect(try script("p a${{ '/' }}${{ params.v }}", "-x") == "p a/-x")
    #expect(try script("p ${{ '' }}${{ params.v }}", "-x") == nil)
    #expect(try script("p ${{ '' }}${{ params.v }}", "a=b") == nil)
    #expect(try script("p a/${{ '' }}${{ params.v }}", "a=b") == "p a/a=b")
  }

  @Test(arguments: [
    ("cat <<EOF\n@\nEOF", "EOF"), ("cat << 'E F'\nE @\nE F", "F"), ("cat <<\\EOF\n@\nEOF", "EOF"),
    ("cat <<-\"EOF\"\n\t@\n\tEOF", "EOF"), ("cat <<E\\\nOF\n@\nEOF", "EOF"),
    ("cat <<E'O'F;p\n@\nEOF", "EOF"), ("cat <<A <<B\n@\nA\n@\nB", "B"),
    ("cat <<EOF\r\n@\r\nEOF\r", "EOF"), ("cat <<EOF\nE\\\n@\nEOF", "OF"),
    ("cat <<'EOF'\nx\\\n@\nEOF", "EOF"), ("x=$(cat <<EOF)\n@\nEOF\n", "EOF"),
    ("cat <<${{ 'EOF' }}\n@\nEOF", "EOF"), ("x=$(cat <<EOF\n@) @\nEOF\n)", "EOF"),
    ("x=$(cat <<EOF\n@F x ) y\nEOF\n)", "EO"), ("x=$(cat <<EOF\nE\\\n@) y\nEOF\n)", "OF"),
    ("cat <<EOF\nC:\\\\\nE\\\n@\nEOF", "OF"), ("cat <<EOF\n#\\\nE\\\n@\nEOF", "OF"),
    ("cat <\\\n<EOF\n@\nEOF", "EOF"), ("cat <<~EOF\n~@\n~EOF", "EOF"),
    ("cat <<#EOF\n@\nEOF", "EOF"),
    ("eval 'cat <<'\\''EOF'\\''\n@\nEOF'", "EOF"), ("cat <<EOO\nE@@\nEOO", "O"),
  ])
  func `a value cannot end a here-document`(place: String, value: String) throws {
    #expect(try inserted(value, at: place) == nil)
    #expect(try inserted("x" + value, at: place) != nil)
  }

  @Test(arguments: [
    ("(case x in\n@)\np a\n;;\nesac)", "esac"), ("x=$(case x in e@) p a;; esac)", "sac"),
    ("x=$(case x in @@) p a;; esac)", "es"), ("(case x in a) ;; @) p;; esac)", "esac"),
  ])
  func `a value cannot end a case`(place: String, value: String) throws {
    let more = value == "es" ? "${{ 'ac' }}" : ""
    let place = more.isEmpty ? place : "x=$(case x in @\(more)) p a;; esac)"
    #expect(try inserted(value, at: place) == nil)
    #expect(try inserted("x" + value, at: place) != nil)
    #expect(try inserted("esac", at: "p @ a.@") != nil)
  }

  @Test(arguments: [
    ("p {a,@}", "-rf"), ("p {@}", "a,-rf"), ("p {x/@}", "a,b=c"), ("p {${x},@}", "a,-rf"),
    ("p {a,\\\n@}", "b,-rf"), ("p {@@}", "a,-b"), ("p $*@", "-rf"), ("p a$@@", "-rf"),
  ])
  func `a value cannot begin a word between braces as an option`(place: String, value: String)
    throws
  {
    let text = place.replacing("$@@", with: "$\u{1}@")
      .replacing("@", with: "${{ params.version }}").replacing("\u{1}", with: "@")
    let template = try #require(readTemplate(text))
    #expect(throws: EvaluationFailure.self) {
      _ = try template.renderedScript(for: shell, with: OneValue(value: value))
    }
    #expect(try template.renderedScript(for: shell, with: OneValue(value: "a,b")) != "")
  }

  @Test func `a value is no glob qualifier of zsh`() throws {
    func script(_ place: String, _ program: String) -> String? {
      let text = place.replacing("@", with: "${{ params.version }}")
      return try? #require(readTemplate(text)).renderedScript(
        for: ScriptReader(shell: [program]), with: OneValue(value: "e:id:"))
    }
    for place in [
      "p *(@)", "p *(.@)", "p $x(@@)", "p a(N@)", "p ${x}(@)", "p @(@)", "p ${{ 'a' }}(@)",
    ] {
      #expect(script(place, "/bin/zsh") == nil, "\(place)")
      #expect(script(place, "bash") != nil, "\(place)")
    }
    for place in ["p (@)", "p $(@)", "x=(@ a)", "p $(p @)", "p a(b) @", "p *(a b) @", "p a(b)@"] {
      #expect(script(place, "zsh") != nil, "\(place)")
    }
  }

  @Test(arguments: [
    ("cat <<EOF\n@ x\nx@\nx\nEOF\n@ x", "EOF"), ("@\ncat <<EOF\nEOF", "EOF"),
    ("cat <<EOF\n@\n@\nEOF", "hello"), ("cat <<EOF\n@\nEOF", "E"), ("x=$((1 << 2))\n@", "EOF"),
    ("cat < EOF\n@", "EOF"), ("read a <<<\"$x\"\nx=$(p @)", "a"),
    ("read a <<<$x\nx=$(p \\\n @)", "a"),
    ("cat <<EOF\nEOG (@)\nEOF", "EOF"), ("cat <<EOF\n@ x\nEOF", "EOF"),
  ])
  func `other values in here-documents are data`(place: String, value: String) throws {
    #expect(try inserted(value, at: place) == place.replacing("@", with: value))
  }

  @Test(arguments: [
    "[", "1,", "1?", "${x:", "1+", "-", "2*", "2%", "2^", "~", "a[1,", "a[i", "1,P",
  ])
  func `no value sets a variable in arithmetic`(before: String) throws {
    #expect(try inserted("PATH=0", at: "p \(before)@") == nil)
    #expect(try inserted("PATH", at: "p \(before)@") != nil)
  }

  @Test func `NUL is never let in`() throws {
    #expect(try inserted("a\0b", at: "p @") == nil)
  }
}

/// Bindings in which outputs of steps are not known.
private struct StepsLater: ExpressionBindings {
  let others: OneValue

  func member(_ name: String, of root: ContextRoot) -> Resolution {
    root == .steps ? .later : others.member(name, of: root)
  }
  func isAuthors(_ name: String, of root: ContextRoot) -> Bool {
    others.isAuthors(name, of: root)
  }
}

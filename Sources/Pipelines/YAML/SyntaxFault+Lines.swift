// Mistakes that can be seen in the lines around the place where libyaml gives up: a missing space,
// a missing colon, a wrong indentation. Files that can be parsed are not examined here.

import Diagnostics
import Expressions

extension SyntaxFault {
  /// A line as a person reads it: perhaps the dash of an item, a key, and the rest.
  private struct Line {
    let start: Int
    let indentation: Int
    let hasDash: Bool
    /// The letters, digits and `_` of the key.
    let key: Range<Int>
    /// The rest of the line, without blanks at its end.
    let rest: Slice<UnsafeBufferPointer<UInt8>>
    let name: String

    init(_ text: UnsafeBufferPointer<UInt8>, from start: Int) {
      var line = text[start...].prefix { $0 != UInt8(ascii: "\n") }
      while let last = line.last, last == UInt8(ascii: " ") || last == UInt8(ascii: "\r") {
        line.removeLast()
      }
      let words = line.drop { $0 == UInt8(ascii: " ") }
      let content = words.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "-") }
      let key = content.prefix(while: isWordByte)
      self.start = start
      indentation = words.startIndex - start
      hasDash = words.first == UInt8(ascii: "-")
      self.key = key.startIndex..<key.endIndex
      rest = content[key.endIndex...]
      name = String(decoding: key, as: UTF8.self)
    }

    /// The column in which the key begins.
    var column: Int { key.lowerBound - start }
    /// True if the line contains only spaces, or a comment.
    var isEmpty: Bool { key.isEmpty && !hasDash && (rest.first ?? 0x23) == UInt8(ascii: "#") }
    /// True if the key has its colon.
    var isPair: Bool {
      !key.isEmpty && (rest.elementsEqual(":".utf8) || rest.starts(with: ": ".utf8))
    }
    var isOfStep: Bool { StepKey.table.rows.contains { $0.key == name } }
    var isOfFile: Bool { PipelineKey.table.rows.contains { $0.key == name } }
  }

  private func line(with span: Span) -> Line {
    let offset = min(Int(span.start) - base, text.count)
    return Line(text, from: text[..<offset].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0)
  }

  /// The last line above that is not empty.
  private func line(above line: Line) -> Line? {
    var start = line.start
    while start > 0 {
      let end = start - 1
      start = text[..<end].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
      let above = Line(text, from: start)
      if !above.isEmpty { return above }
    }
    return nil
  }

  private func span(_ range: Range<Int>) -> Span {
    Span(start: base + range.lowerBound, end: base + range.upperBound)
  }

  /// The mistake in the line of the fault or in the one above, if that explains the fault.
  var slipOfLine: Diagnostic? {
    let isOpen = fault.problem == "could not find expected ':'"
    let isColon = fault.problem == "mapping values are not allowed in this context"
    let here = line(with: isOpen ? opening : place)
    let above = line(above: here)
    let lines = [above, here].compactMap { $0 }
    if let odd = lines.lazy.compactMap({ oddSpace($0) }).first { return odd }
    guard isOpen || isColon || fault.problem.hasPrefix("did not find expected ") else { return nil }
    if let above, let missing = missingIndentation(here, below: above) { return missing }
    if let dash = lines.lazy.compactMap({ tightDash($0) }).first { return dash }
    if isOpen { return missingColon(here) }
    guard isColon else { return nil }
    if let value = colonInValue(here) { return value }
    guard let above else { return nil }
    if let missing = missingSpace(above) { return missing }
    guard here.indentation >= above.column else { return nil }
    return missingColon(above) ?? extraIndentation(here, below: above)
  }

  /// Explains text that should be further right than the key of the `|` or `>` above it.
  private func missingIndentation(_ line: Line, below above: Line) -> Diagnostic? {
    let sign = above.rest.dropFirst().drop { $0 == UInt8(ascii: " ") }
    guard above.isPair, line.indentation <= above.column,
      sign.first == UInt8(ascii: "|") || sign.first == UInt8(ascii: ">"), sign.count < 4
    else { return nil }
    let opening = above.name + ": " + String(decoding: sign, as: UTF8.self)
    return Diagnostic(
      "the text below \(quoted(opening)) is not indented",
      at: span(line.start + line.indentation..<line.rest.endIndex),
      secondary: [.init(span(above.key.lowerBound..<above.rest.endIndex), "the text of this key")],
      help: "indent it by 2 more than \(quoted(above.name))")
  }

  /// Explains a dash without a space after it, as in `-id: a`.
  private func tightDash(_ line: Line) -> Diagnostic? {
    let dash = line.start + line.indentation
    guard line.hasDash, line.isPair, line.key.lowerBound == dash + 1 else { return nil }
    let item = String(decoding: text[line.key.lowerBound..<line.rest.endIndex], as: UTF8.self)
    return Diagnostic(
      "no space after '-'", at: span(dash..<dash + 1), help: "write \(quoted("- " + item))")
  }

  /// Explains a known key without a colon, as in `id a`.
  private func missingColon(_ line: Line) -> Diagnostic? {
    guard line.isOfStep || line.isOfFile, (line.rest.first ?? 0x20) == UInt8(ascii: " "),
      !line.rest.contains(UInt8(ascii: ":"))
    else { return nil }
    let pair = line.name + ":" + String(decoding: line.rest, as: UTF8.self)
    return Diagnostic(
      "':' is missing after \(quoted(line.name))",
      at: span(line.key.upperBound..<line.key.upperBound), help: "write \(quoted(pair))")
  }

  /// Explains a second colon in a value without quotes, as in `run: echo a: b`.
  private func colonInValue(_ line: Line) -> Diagnostic? {
    let colon = Int(place.start) - base
    guard line.isPair, colon > line.key.upperBound else { return nil }
    let value = String(decoding: line.rest.dropFirst(2), as: UTF8.self)
    let isAtEnd = colon + 1 == line.rest.endIndex
    return Diagnostic(
      "the value of \(quoted(line.name)) \(isAtEnd ? "ends with ':'" : "contains ': '"), which YAML takes for a key",
      at: place,
      help: line.name == StepKey.run.row.key
        ? "put the command on a line of its own below 'run: |', indented further"
        : "put it in quotes: \(yamlScalar(value))")
  }

  /// Explains a key without a space after its colon, as in `id:build`. To libyaml that is a string,
  /// which the next line continues.
  private func missingSpace(_ line: Line) -> Diagnostic? {
    guard !line.isPair, !line.key.isEmpty, line.rest.first == UInt8(ascii: ":"),
      !line.rest.starts(with: "://".utf8)
    else { return nil }
    let colon = line.key.upperBound
    return Diagnostic(
      "no space after ':'", at: span(colon..<colon + 1),
      help: "a key is followed by ': ', as in '\(line.name): …'")
  }

  private func extraIndentation(_ line: Line, below above: Line) -> Diagnostic? {
    guard above.isPair, line.indentation > above.column,
      base + line.key.upperBound == place.start
    else { return nil }
    return Diagnostic(
      "this line is indented further than \(quoted(above.name)) above it", at: span(line.key),
      help: "indent it like \(quoted(above.name)), or put a string of several lines below '|'")
  }

  /// Explains a space that YAML takes for a letter.
  private func oddSpace(_ line: Line) -> Diagnostic? {
    guard line.key.isEmpty, line.rest.starts(with: [0xC2, 0xA0]) else { return nil }
    return Diagnostic(
      "this is a no-break space (U+00A0), which YAML reads as a letter",
      at: span(line.key.lowerBound..<line.key.lowerBound + 2), help: "write an ordinary space")
  }

  /// The number of columns by which the first key of the list item above is further right than this
  /// line, if this line begins in the column of the item's dash.
  var distanceToItem: Int? {
    let here = line(with: place)
    var above = line(above: here)
    while let line = above {
      if line.indentation <= here.indentation {
        return line.hasDash && line.indentation == here.indentation
          ? line.column - line.indentation : nil
      }
      above = self.line(above: line)
    }
    return nil
  }

  /// Explains a key whose indentation is that of no map above.
  var oddIndentation: Diagnostic? {
    let here = line(with: place)
    guard here.isPair, !here.hasDash, base + here.key.lowerBound == place.start else { return nil }
    let maps = mapsOpen(above: here)
    let fitting = [
      maps.last { $0.column > here.column }, maps.first { $0.column < here.column },
    ].compactMap { $0 }
    guard !fitting.isEmpty else { return nil }
    return Diagnostic(
      "\(quoted(here.name)) has \(spaces(here.column)) before it, which fits nothing above",
      at: span(here.key),
      help: fitting.map {
        "\(spaces($0.column)) \($0.column == 1 ? "makes" : "make") it a key of \($0.owner)"
      }.joined(separator: ", "))
  }

  /// The help that puts an item into the column of the others in its list, which begins at `opening`.
  var columnOfItems: String? {
    line(with: place).hasDash
      ? "the other items have \(spaces(line(with: opening).indentation)) before them" : nil
  }

  private func spaces(_ count: Int) -> String {
    count == 0 ? "none" : count == 1 ? "1 space" : "\(count) spaces"
  }

  /// The maps in which a line could be, innermost first, each with its column and owner; those that
  /// have no such key are left out.
  private func mapsOpen(above line: Line) -> [(column: Int, owner: String)] {
    var maps: [(column: Int, owner: String)] = []
    /// The column of the keys that were read last, and whose owner is further up.
    var column: Int?
    var leftmost = Int.max
    var next = self.line(above: line)
    while let above = next, leftmost > 0 {
      next = self.line(above: above)
      guard above.indentation < leftmost else { continue }
      leftmost = above.indentation
      if above.hasDash {
        let isStep = above.name == StepKey.id.row.key
        if above.isPair, above.column <= column ?? above.column, !isStep || line.isOfStep {
          let id = String(decoding: above.rest.dropFirst(2), as: UTF8.self)
          maps.append((above.column, isStep ? "step \(quoted(id))" : "the item above"))
        }
        column = nil
        continue
      }
      if let column, above.rest.elementsEqual(":".utf8) {
        maps.append((column, quoted(above.name)))
      }
      column = above.isPair ? above.column : nil
      if column == 0, line.isOfFile { maps.append((0, "the file")) }
    }
    return maps
  }
}

// Texts of random form: formatting them changes no meaning, loses no comment and settles at once.

import Formatting
import TestSupport
import Testing

@Suite struct `Texts of random form` {
  @Test(arguments: 0..<8)
  func `keep their meaning and their comments`(seed: UInt64) throws {
    for number in 0..<100 {
      var writer = RandomText(seed: seed * 1000 + UInt64(number))
      let text = writer.text()
      // It throws if a reader would see anything else.
      let result = try formatted(text)
      #expect(try formatted(result) == result, "\(text)")
      #expect(comments(in: result) == comments(in: text), "\(text)")
      let hasBlock = text.contains("|") || text.contains(">")
      #expect(hasBlock || !result.contains("\n\n\n"), "\(text)")
    }
  }

  /// Comments have numbers, and nothing else has a number sign.
  private func comments(in text: String) -> [Substring] {
    text.split(separator: "\n").compactMap { line in
      line.firstIndex(of: "#").map { line[$0...] }
    }
  }
}

/// Writes YAML in the most various forms.
private struct RandomText {
  private var random: SeededGenerator
  private var result = ""
  private var number = 0
  private var anchors: [String] = []

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  mutating func text() -> String {
    writeMap(at: below(3), depth: 0)
    writeEmptyLines(at: 0)
    return result
  }

  private mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

  private mutating func spaces(_ count: Int) -> String { String(repeating: " ", count: count) }

  private mutating func name() -> String {
    number += 1
    return ["a", "key-", "ä", "x_"][below(4)] + String(number)
  }

  private mutating func writeEmptyLines(at column: Int) {
    for _ in 0..<below(3) {
      switch below(4) {
      case 0:
        number += 1
        result += spaces(below(column + 3)) + "# comment \(number)\n"
      case 1: result += "\n"
      case 2: result += spaces(below(4)) + "\n"
      default: break
      }
    }
  }

  private mutating func endLine() {
    if below(6) == 0 {
      number += 1
      result += spaces(1 + below(3)) + "# beside \(number)"
    }
    result += "\n"
  }

  private mutating func writeMap(at column: Int, depth: Int, isBegun: Bool = false) {
    for index in 0...below(4) {
      if index > 0 || !isBegun {
        writeEmptyLines(at: column)
        result += spaces(column)
      }
      result += name() + spaces(below(8) == 0 ? 1 : 0) + ":"
      writeValue(in: column, depth: depth, isInMap: true)
    }
  }

  private mutating func writeList(at column: Int, depth: Int, isBegun: Bool = false) {
    for index in 0...below(3) {
      if index > 0 || !isBegun {
        writeEmptyLines(at: column)
        result += spaces(column)
      }
      result += "-"
      let inset = 1 + below(4)
      if depth < 4, below(2) == 0 {
        result += spaces(inset)
        let isMap = below(2) == 0
        let inner = column + 1 + inset
        if isMap {
          writeMap(at: inner, depth: depth + 1, isBegun: true)
        } else {
          writeList(at: inner, depth: depth + 1, isBegun: true)
        }
      } else {
        writeValue(in: column, depth: depth, isInMap: false)
      }
    }
  }

  private mutating func writeValue(in column: Int, depth: Int, isInMap: Bool) {
    let kind = below(depth < 4 ? 9 : 6)
    if kind < 6 || below(3) > 0 { writeAnchor() }
    switch kind {
    case 0: writeBlock(in: column)
    case 1: result += spaces(1 + below(3)) + "[" + flow(column, 0) + "]"
    case 2:
      result += " one\n" + spaces(column + 1 + below(4)) + "two\n\n" + spaces(column + 2) + "three"
    case 3:
      result += " \"one \\\n" + spaces(column + 1 + below(4)) + "two\n\n  \(spaces(column))x\""
    case 4 where !anchors.isEmpty && !result.hasSuffix(" "):
      result +=
        result.last.map { $0 == ":" || $0 == "-" } == true
        ? " *" + anchors[below(anchors.count)] : " 1"
    case 4, 5:
      result += spaces(1 + below(3)) + ["plain", "'it''s'", "\"\\u0041\"", "1.0", "~"][below(5)]
    case 6, 7:
      endLine()
      writeMap(at: column + 1 + below(5), depth: depth + 1)
      return
    default:
      endLine()
      writeList(at: column + (isInMap ? 0 : 1) + below(4), depth: depth + 1)
      return
    }
    if kind > 0 { endLine() }
  }

  private mutating func writeAnchor() {
    guard below(8) == 0 else { return }
    let anchor = "n\(number)"
    result += spaces(1 + below(2)) + "&" + anchor
    if below(2) == 0 { anchors.append(anchor) }
  }

  private mutating func writeBlock(in column: Int) {
    let chomping = ["", "-", "+"][below(3)]
    let inset = 1 + below(5)
    let isIndented = below(3) == 0
    result += " " + ["|", ">"][below(2)] + (isIndented ? "\(inset)" : "") + chomping + "\n"
    result += spaces(column + inset) + (isIndented ? "   " : "") + "line one  \n"
    for _ in 0..<below(4) {
      result +=
        [spaces(column + inset) + spaces(below(3)) + "more", "", spaces(below(3))][below(3)] + "\n"
    }
  }

  private mutating func flow(_ column: Int, _ depth: Int) -> String {
    var items: [String] = []
    for _ in 0..<below(4) {
      let gap = [" ", "", "\n" + spaces(column + 1 + below(5))][below(3)]
      switch below(depth < 2 ? 4 : 2) {
      case 0: items.append(gap + name())
      case 1: items.append(gap + name() + [" : ", ": "][below(2)] + name() + spaces(below(2)))
      case 2: items.append(gap + "{" + spaces(below(2)) + flow(column, depth + 1) + "}")
      default: items.append(gap + "[" + flow(column, depth + 1) + spaces(below(2)) + "]")
      }
    }
    return items.joined(separator: ",")
  }
}

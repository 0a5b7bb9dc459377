// What a script, read once, says about the values in it: where each of them stands, and which words
// and lines they make together.

/// Belongs to a template, whatever becomes of its values.
enum ScriptReading: Sendable {
  /// Each value is a part of a plain word or stands in quotes: a bit for each of those that do.
  case plain(quoted: UInt64)
  case scanned(ScriptScan)

  /// Of the parts of a template.
  init(_ text: ArraySlice<UInt8>, _ parts: [Template.Part]) {
    self =
      PlainScript.quotedValues(text, parts).map { .plain(quoted: $0) }
      ?? .scanned(ScriptScan(text, parts))
  }

  func place(_ number: Int) -> ShellPlace {
    switch self {
    case .plain(let quoted):
      ShellPlace(context: quoted >> UInt64(number) & 1 == 0 ? .word : .quotes)
    case .scanned(let scan): scan.places[number]
    }
  }

  /// What together can mean something that no value does alone; nil if nothing can.
  var joined: ScriptScan? {
    if case .scanned(let scan) = self, scan.hasJoinedValues { scan } else { nil }
  }
}

/// What the scanner says of a script that is not plain.
final class ScriptScan: Sendable {
  let places: [ShellPlace]
  private let lines: [DocumentLine]
  private let commandWords: [CommandWord]
  /// The script with marks where values go; empty unless words or lines are to be looked at.
  private let marked: [UInt8]
  /// Offsets of the marks.
  private let marks: [Int]

  fileprivate init(_ text: ArraySlice<UInt8>, _ parts: [Template.Part]) {
    var marked: [UInt8] = []
    marked.reserveCapacity(text.count)
    var marks: [Int] = []
    for part in parts {
      if part.isLiteral {
        marked += text[part.range]
      } else {
        marks.append(marked.count)
        marked.append(valueMark)
      }
    }
    var scanner = ShellScanner(marked)
    scanner.scan()
    let isComplete = scanner.places.count == marks.count
    places =
      isComplete
      ? scanner.places : Array(repeating: ShellPlace(refusal: .unclear), count: marks.count)
    lines = scanner.lines
    commandWords = scanner.commandWords
    let isNeeded = !lines.isEmpty || !commandWords.isEmpty
    self.marked = isNeeded ? marked : []
    self.marks = isNeeded ? marks : []
  }

  var hasJoinedValues: Bool { !marks.isEmpty }

  /// To values that together make a word or a line which means something else; and the number of the
  /// first of them. Nil is a value that is not known.
  func objection(to values: [[UInt8]?]) -> (FaultWords, Int)? {
    for line in lines {
      guard let text = inserting(values, in: line.range) else { continue }
      let joined = String(decoding: text, as: UTF8.self).replacing("\\\n", with: "")
      if line.isEnd(text) || line.isEnd(Array(joined.utf8)) {
        let delimiter = String(decoding: line.delimiter, as: UTF8.self)
        return (
          ExpressionMessage.endsDocument(delimiter), firstMark(atOrAfter: line.range.lowerBound)
        )
      }
    }
    for word in commandWords {
      if let text = inserting(values, in: word.range), word.isForbidden(text) {
        let text = String(decoding: text, as: UTF8.self)
        return (ExpressionMessage.shellWord(text), firstMark(atOrAfter: word.range.lowerBound))
      }
    }
    return nil
  }

  /// Nil if one of the values is not known.
  private func inserting(_ values: [[UInt8]?], in range: Range<Int>) -> [UInt8]? {
    var result: [UInt8] = []
    var number = firstMark(atOrAfter: range.lowerBound)
    for byte in marked[range] {
      if byte == valueMark {
        guard let value = values[number] else { return nil }
        result += value
        number += 1
      } else {
        result.append(byte)
      }
    }
    return result
  }

  private func firstMark(atOrAfter offset: Int) -> Int {
    var low = 0
    var high = marks.count
    while low < high {
      let middle = (low + high) / 2
      if marks[middle] < offset { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

// Checks a script while it is put together from literal text and values: each value by itself, then
// the meaning that its line gives it. docs/expressions.md, “Values in scripts”.

import Diagnostics

struct ScriptChecker {
  private let reader: ScriptReader
  private let isShell: Bool
  private var word = WordStart.nothing
  private var place = ShellPlace()
  /// The text so far; nil as long as its lines do not matter.
  private var text: InsertedText?

  init(for reader: ScriptReader) {
    self.reader = reader
    isShell = reader.isShell
    if !isShell { text = InsertedText() }
  }

  /// Moves past text that the author wrote.
  mutating func append(_ literal: UnsafeBufferPointer<UInt8>) {
    word.append(literal)
    if isShell { place.append(literal) }
    // Before these characters there is no here-document, and no parenthesis.
    if text == nil,
      literal.contains(where: { $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: "(") })
    {
      text = InsertedText()
    }
    text?.append(literal)
  }

  /// The objection to the next piece, whatever follows it.
  mutating func objection(to piece: TextPiece) -> UnlocatedFailure? {
    switch piece {
    case .authors(var text, _):
      return text.withUTF8 { bytes in
        append(bytes)
        return bytes.contains(0) ? ScriptMessage.nul : nil
      }
    case .value(let value):
      defer {
        word.append(value)
        place.appendValue()
      }
      text?.append(value)
      return ScriptRule.objection(to: value, in: .script(word, reader))
        ?? place.objection(to: value, reader)
    case .unknown:
      // The value may turn out to be the author's own text; the run checks again.
      word = .other
      place.appendValue()
      text?.append(CollectionOfOne(InsertedText.unknown))
      return nil
    }
  }

  /// Checks the lines after the last piece. Fails for a value that is more than data on its line.
  func checkLines() throws(EvaluationFailure) {
    guard let text, !text.values.isEmpty else { return }
    if let value = text.valueThatEndsDocument(isShell: isShell) {
      throw value.refusal(ScriptMessage.endOfDocument(value, reader))
    }
    if isShell {
      guard let value = text.valueThatEndsCase else { return }
      throw value.refusal(ScriptMessage.endOfCase(value, reader))
    }
    switch text.valueThatIsCode {
    case (let value, .outside)?: throw value.refusal(ScriptMessage.outsideQuotes(value, reader))
    case (let value, .inText)?: throw value.refusal(ScriptMessage.notWholeString(value, reader))
    case (let value, .unsafe(let found))?:
      throw value.refusal(ScriptMessage.unsafe(value, found: found, reader))
    case nil: break
    }
  }
}

extension InsertedValue {
  fileprivate func refusal(_ words: UnlocatedFailure) -> EvaluationFailure {
    EvaluationFailure(words, in: expression, at: expression.range(of: expression.root))
  }
}

/// A script with the positions of its values.
struct InsertedText {
  /// The byte for a value that is not known: no script contains it.
  static let unknown: UInt8 = 0

  private(set) var bytes: [UInt8] = []
  private(set) var values: [(range: Range<Int>, value: InsertedValue)] = []

  mutating func append(_ text: some Collection<UInt8>) { bytes += text }

  mutating func append(_ value: InsertedValue) {
    let start = bytes.count
    bytes += value.text.utf8
    values.append((start..<bytes.count, value))
  }

  struct Line {
    let bytes: ArraySlice<UInt8>
    let values: ArraySlice<(range: Range<Int>, value: InsertedValue)>
  }

  /// The lines, with the values in them.
  var lines: some Sequence<Line> {
    var start = 0
    var number = 0
    return sequence(state: ()) { _ in
      guard start <= bytes.count else { return nil }
      let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
      let first = number
      while number < values.count, values[number].range.lowerBound <= end { number += 1 }
      defer { start = end + 1 }
      return Line(bytes: bytes[start..<end], values: values[first..<number])
    }
  }
}

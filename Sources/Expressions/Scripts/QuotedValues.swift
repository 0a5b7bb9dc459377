// Values in code that no shell reads. In most languages a bare word is code, and so is what stands
// between operators such as `qx,…,`: only numbers may be outside of quotes. It knows no language,
// only what their strings have in common.

extension InsertedText {
  /// The first value that is neither a number nor data in a string; if it is in a string, with the
  /// character that could end it, or mean something in it.
  var valueThatIsCode: (value: InsertedValue, unsafe: Character?)? {
    var strings = OpenStrings()
    for line in lines {
      var values = line.values
      /// Accepted, if its string ends on this line.
      var pending: InsertedValue?
      for (index, byte) in zip(line.bytes.indices, line.bytes) {
        if let next = values.first, next.range.lowerBound == index {
          values.removeFirst()
          let unsafe = next.value.text.first { !$0.utf8.allSatisfy(Self.isPlain) }
          if !Self.isNumberOrTruth(next.value.text), unsafe != nil || strings.quote == nil {
            return (next.value, strings.quote.flatMap { _ in unsafe })
          }
          pending = next.value
        }
        strings.read(byte)
        if strings.isEmpty { pending = nil }
      }
      if let pending { return (pending, nil) }
      strings.endLine()
    }
    return nil
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    isNameByte(byte) || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-")
  }

  private static func isNumberOrTruth(_ text: String) -> Bool {
    if text == "true" || text == "false" { return true }
    guard let first = text.utf8.first, first != UInt8(ascii: ".") else { return false }
    return text.utf8.allSatisfy {
      $0 == UInt8(ascii: ".") || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0
    }
  }
}

/// The strings that are open at a place of a line, one in the other as in `"it's"`.
private struct OpenStrings {
  /// The quotes that opened them, and how much code with an end of its own is open behind each:
  /// `#{…}`, `\(…)`.
  private var open: [(quote: UInt8, codeCount: Int)] = []
  private var previous: UInt8 = 0
  /// A quote in such code could end the string around it, or begin another one.
  private var isAmbiguous = false
  /// The quotes of which earlier lines have an odd number: one may be open.
  private var unpaired: Set<UInt8> = []

  /// The quote that ends the innermost; nil outside, in code within a string, and in doubt.
  var quote: UInt8? {
    guard let last = open.last, last.codeCount == 0, !isAmbiguous,
      !open.contains(where: { unpaired.contains($0.quote) })
    else { return nil }
    return last.quote
  }

  mutating func read(_ byte: UInt8) {
    let isEscaped = previous == UInt8(ascii: "\\")
    let isBehindDollar = previous == UInt8(ascii: "$")
    previous = isEscaped && byte == UInt8(ascii: "\\") ? 0 : byte
    switch byte {
    case UInt8(ascii: "'"), UInt8(ascii: "\""):
      if !isEscaped { readQuote(byte) }
    case UInt8(ascii: "("):
      if isEscaped || isBehindDollar || isInCode { addCode(1) }
    case UInt8(ascii: "{"): addCode(1)
    case UInt8(ascii: "}"), UInt8(ascii: ")"): addCode(-1)
    default: break
    }
  }

  var isEmpty: Bool { open.isEmpty }

  private var isInCode: Bool { open.last.map { $0.codeCount > 0 } ?? false }

  private mutating func readQuote(_ quote: UInt8) {
    guard let place = open.lastIndex(where: { $0.quote == quote }) else {
      open.append((quote, 0))
      return
    }
    if open[place...].contains(where: { $0.codeCount > 0 }) { isAmbiguous = true }
    open.removeSubrange(place...)
  }

  private mutating func addCode(_ change: Int) {
    guard let last = open.indices.last else { return }
    open[last].codeCount = max(0, open[last].codeCount + change)
  }

  mutating func endLine() {
    if let quote = open.first?.quote { unpaired.formSymmetricDifference([quote]) }
    open = []
    previous = 0
    isAmbiguous = false
  }
}

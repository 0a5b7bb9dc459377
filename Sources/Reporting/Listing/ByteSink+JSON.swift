// Writes JSON objects to a sink, field by field.

import Diagnostics

extension ByteSink {
  /// Writes a string literal as `jsonString` makes it.
  package func write(json text: String) { write(ownJSON: masked(text)) }

  /// Writes a word of oprun as a string literal.
  package func write(ownJSON text: String) {
    write(UInt8(ascii: "\""))
    let isInScript = isInScript
    write(
      own: text,
      plain: { isPlainInQuotes($0) && !(isInScript && $0 == UInt8(ascii: "<")) },
      writeInQuotes)
    write(UInt8(ascii: "\""))
  }

  /// Writes a character of a string literal that may not be plain ASCII.
  private func writeInQuotes(_ scalar: Unicode.Scalar) {
    switch scalar {
    case "\n": write("\\n")
    // The escape exists only in strings; so nothing in a script can end its element, or begin a
    // comment.
    case "<": write("\\u003c")
    default: write(own: String(jsonString(String(scalar)).dropFirst().dropLast()))
    }
  }

  /// Writes `"name":`, after a comma unless it is the first of its object.
  package func write(field name: StaticString, isFirst: Bool = false) {
    if !isFirst { write(",") }
    write("\"")
    write(name)
    write("\":")
  }

  /// Writes a list of elements, each written by the closure.
  package func write<Element>(
    jsonList elements: some Sequence<Element>, _ writeElement: (Element) -> Void
  ) {
    var isFirst = true
    write("[")
    for element in elements {
      if !isFirst { write(",") }
      isFirst = false
      writeElement(element)
    }
    write("]")
  }
}

/// True if a byte is printable ASCII except quotes and backslashes, which is the same in JSON and in DOT.
func isPlainInQuotes(_ byte: UInt8) -> Bool {
  (0x20..<0x7f).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
}

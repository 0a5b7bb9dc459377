// JSON objects onto a sink, field by field.

extension ByteSink {
  /// A string literal. Control characters are escaped, so the text can be printed as it is.
  func write(json text: String) {
    var text = text
    write(UInt8(ascii: "\""))
    let isPlain = text.withUTF8 { bytes in
      guard bytes.allSatisfy(isPlainInQuotes) else { return false }
      write(UnsafeRawBufferPointer(bytes))
      return true
    }
    if !isPlain { for scalar in text.unicodeScalars { write(json: scalar) } }
    write(UInt8(ascii: "\""))
  }

  private func write(json scalar: Unicode.Scalar) {
    switch scalar {
    case "\"": write("\\\"")
    case "\\": write("\\\\")
    case "\n": write("\\n")
    case "\t": write("\\t")
    case "\r": write("\\r")
    case _ where scalar.value < 0x20 || (0x7f..<0xa0).contains(scalar.value):
      write("\\u00")
      write(hexadecimal: UInt8(scalar.value))
    default: write(String(scalar))
    }
  }

  /// `"name":`, after a comma unless it is the first of its object.
  func write(field name: StaticString, isFirst: Bool = false) {
    if !isFirst { write(",") }
    write("\"")
    write(name)
    write("\":")
  }

  /// A list of elements, each written by the closure.
  func write<Element>(jsonList elements: some Sequence<Element>, _ writeElement: (Element) -> Void)
  {
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

/// Printable ASCII without quotes and backslashes: the same in JSON and in DOT.
func isPlainInQuotes(_ byte: UInt8) -> Bool {
  (0x20..<0x7f).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
}

// Appends text and numbers to a sink, without a string in between.

extension ByteSink {
  package func write(_ text: StaticString) {
    if text.hasPointerRepresentation {
      write(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    } else {
      text.withUTF8Buffer { write(UnsafeRawBufferPointer($0)) }
    }
  }

  /// Writes a text, which is a value where the output is a format. A literal is not: it takes the function above.
  @_disfavoredOverload
  package func write(_ text: String) {
    if isFormat { write(own: masked(text)) } else { write(own: text) }
  }

  /// Writes oprun's own words in a format, or a value that is masked.
  package func write(own text: String) {
    let isWritten: Void? = text.utf8.withContiguousStorageIfAvailable {
      write(UnsafeRawBufferPointer($0))
    }
    if isWritten == nil { for byte in text.utf8 { write(byte) } }
  }

  /// Writes text whose plain bytes, which are ASCII, are written as they are. All other characters
  /// are written one by one by `writeOther`.
  @inline(__always)
  func write(
    own text: String, plain isPlain: (UInt8) -> Bool, _ writeOther: (Unicode.Scalar) -> Void
  ) {
    var text = text
    text.withUTF8 { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let end = rest.firstIndex { !isPlain($0) } ?? rest.endIndex
        if end > rest.startIndex {
          write(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: rest[..<end])))
        }
        rest = rest[end...]
        guard let first = rest.first else { return }
        let length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
        let scalar = String(decoding: rest.prefix(length), as: UTF8.self).unicodeScalars.first
        if let scalar { writeOther(scalar) }
        rest = rest.dropFirst(length)
      }
    }
  }

  package func write(decimal number: Int) {
    if number < 0 { write(UInt8(ascii: "-")) }
    let magnitude = number.magnitude
    let count = digitCount(magnitude)
    write(atMost: count) { digits in
      var rest = magnitude
      for place in (0..<count).reversed() {
        let digit = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
        digits.storeBytes(of: digit, toByteOffset: place, as: UInt8.self)
        rest /= 10
      }
      return count
    }
  }

  /// Writes a count for people: `1,000`.
  package func write(grouped number: Int) {
    guard number >= 1000 else { return write(decimal: number) }
    write(grouped: number / 1000)
    write(UInt8(ascii: ","))
    let rest = number % 1000
    if rest < 100 { write(UInt8(ascii: "0")) }
    if rest < 10 { write(UInt8(ascii: "0")) }
    write(decimal: rest)
  }

  /// Writes a count and its noun: `1 step`, `2 steps`.
  package func write(_ count: Int, _ noun: StaticString, plural: StaticString? = nil) {
    write(grouped: count)
    write(UInt8(ascii: " "))
    guard count != 1 else { return write(noun) }
    write(plural ?? noun)
    if plural == nil { write(UInt8(ascii: "s")) }
  }

  package func write(spaces count: Int) { write(UInt8(ascii: " "), times: count) }

  package func writeNewline() { write(UInt8(ascii: "\n")) }
}

/// The number of decimal digits of a number.
func digitCount(_ number: UInt) -> Int {
  var count = 1
  var rest = number
  while rest >= 10 {
    rest /= 10
    count += 1
  }
  return count
}

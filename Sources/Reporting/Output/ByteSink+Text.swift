// How text and numbers are appended to a sink, without a string in between.

extension ByteSink {
  package func write(_ text: StaticString) {
    if text.hasPointerRepresentation {
      write(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    } else {
      text.withUTF8Buffer { write(UnsafeRawBufferPointer($0)) }
    }
  }

  package func write(_ text: String) {
    var text = text
    text.withUTF8 { write(UnsafeRawBufferPointer($0)) }
  }

  package func write(decimal number: Int) {
    if number < 0 { write(UInt8(ascii: "-")) }
    var rest = number.magnitude
    withUnsafeTemporaryAllocation(byteCount: 20, alignment: 1) { digits in
      var start = 20
      repeat {
        start -= 1
        digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      } while rest > 0
      write(UnsafeRawBufferPointer(rebasing: digits[start...]))
    }
  }

  /// `1,000`: for counts that people read.
  package func write(grouped number: Int) {
    guard number >= 1000 else { return write(decimal: number) }
    write(grouped: number / 1000)
    write(UInt8(ascii: ","))
    let rest = number % 1000
    if rest < 100 { write(UInt8(ascii: "0")) }
    if rest < 10 { write(UInt8(ascii: "0")) }
    write(decimal: rest)
  }

  /// A count and its noun: `1 step`, `2 steps`.
  package func write(_ count: Int, _ noun: StaticString, plural: StaticString? = nil) {
    write(grouped: count)
    write(UInt8(ascii: " "))
    guard count != 1 else { return write(noun) }
    write(plural ?? noun)
    if plural == nil { write(UInt8(ascii: "s")) }
  }

  package func write(spaces count: Int) {
    for _ in 0..<max(0, count) { write(UInt8(ascii: " ")) }
  }

  package func writeNewline() { write(UInt8(ascii: "\n")) }
}

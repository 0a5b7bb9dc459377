// Durations and sizes as people write them: in pipeline files, on command lines, for built-in
// steps. This is the only parser of both. It knows bytes, but nothing about keys or messages.

/// Parses `250ms`, `30s`, `1h30m`, `7d`: whole numbers with units, the largest first, each unit
/// once. Nil if the text is not a duration, or one that does not fit into 64 bits.
package func nanoseconds(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
  var rest = text[...]
  var total: Int64 = 0
  var lastUnit = Int64.max
  repeat {
    guard let count = takeNumber(from: &rest), let unit = takeUnit(from: &rest), unit < lastUnit
    else { return nil }
    let (part, isPartTooLong) = count.multipliedReportingOverflow(by: unit)
    let (sum, isSumTooLong) = total.addingReportingOverflow(part)
    if isPartTooLong || isSumTooLong { return nil }
    total = sum
    lastUnit = unit
  } while !rest.isEmpty
  return total
}

package func nanoseconds(_ text: String) -> Int64? {
  var text = text
  return text.withUTF8 { nanoseconds($0) }
}

/// Parses `512K`, `2M`, `1G`, `1T`: bytes in powers of 1024. Nil if the text is not a size, or one
/// that does not fit into 64 bits.
package func byteCount(_ text: UnsafeBufferPointer<UInt8>) -> Int? {
  var rest = text[...]
  guard let count = takeNumber(from: &rest), rest.count == 1,
    let shift = shift(of: rest[rest.startIndex])
  else { return nil }
  let (bytes, isTooMuch) = Int(count).multipliedReportingOverflow(by: 1 << shift)
  return isTooMuch ? nil : bytes
}

package func byteCount(_ text: String) -> Int? {
  var text = text
  return text.withUTF8 { byteCount($0) }
}

private func shift(of unit: UInt8) -> Int? {
  switch unit {
  case UInt8(ascii: "K"): 10
  case UInt8(ascii: "M"): 20
  case UInt8(ascii: "G"): 30
  case UInt8(ascii: "T"): 40
  default: nil
  }
}

/// Takes only digits: no sign, no spaces.
private func takeNumber(from rest: inout Slice<UnsafeBufferPointer<UInt8>>) -> Int64? {
  let digits = rest.prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
  guard !digits.isEmpty else { return nil }
  var value: Int64 = 0
  for digit in digits {
    let (product, isTooLarge) = value.multipliedReportingOverflow(by: 10)
    let (sum, isSumTooLarge) = product.addingReportingOverflow(Int64(digit - UInt8(ascii: "0")))
    if isTooLarge || isSumTooLarge { return nil }
    value = sum
  }
  rest = rest[digits.endIndex...]
  return value
}

/// The unit in nanoseconds.
private func takeUnit(from rest: inout Slice<UnsafeBufferPointer<UInt8>>) -> Int64? {
  let letters = rest.prefix { $0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z") }
  rest = rest[letters.endIndex...]
  if letters.elementsEqual("ms".utf8) { return 1_000_000 }
  guard letters.count == 1 else { return nil }
  switch letters.first {
  case UInt8(ascii: "s"): return 1_000_000_000
  case UInt8(ascii: "m"): return 60_000_000_000
  case UInt8(ascii: "h"): return 3_600_000_000_000
  case UInt8(ascii: "d"): return 86_400_000_000_000
  default: return nil
  }
}

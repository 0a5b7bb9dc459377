// Durations and sizes as people write them: in pipeline files, on command lines, for built-in
// steps. This is the only parser of both. It knows bytes, but nothing about keys or messages.

/// The longest duration that can be written, 10,000 days in nanoseconds. Ten of them can be added
/// without exceeding 64 bits.
package let longestTime: Int64 = 10_000 * 86_400_000_000_000

/// The largest size that can be written, a million TiB in bytes.
package let largestSize = 1_000_000 << 40

/// Parses `250ms`, `30s`, `1h30m`, `7d`: whole numbers with units, the largest first, each unit
/// once. Nil if the text is not a duration, or longer than `longestTime`.
package func nanoseconds(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
  time(text).flatMap { $0 <= longestTime ? $0 : nil }
}

package func nanoseconds(_ text: String) -> Int64? {
  var text = text
  return text.withUTF8 { nanoseconds($0) }
}

/// Parses `512K`, `2M`, `1G`, `1T`: bytes in powers of 1024. Nil if the text is not a size, or
/// larger than `largestSize`.
package func byteCount(_ text: UnsafeBufferPointer<UInt8>) -> Int? {
  size(text).flatMap { $0 <= largestSize ? $0 : nil }
}

package func byteCount(_ text: String) -> Int? {
  var text = text
  return text.withUTF8 { byteCount($0) }
}

/// The limit that a duration or a size exceeds, in words; nil if the text is neither, or within it.
package func exceededLimit(_ text: UnsafeBufferPointer<UInt8>) -> String? {
  if let time = time(text), time > longestTime { return "the longest duration is 10000d" }
  if let size = size(text), size > largestSize { return "the largest size is 1000000T" }
  return nil
}

package func exceededLimit(_ text: String) -> String? {
  var text = text
  return text.withUTF8 { exceededLimit($0) }
}

/// A duration of any length; the largest number if it exceeds 64 bits.
private func time(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
  var rest = text[...]
  var total: Int64 = 0
  var lastUnit = Int64.max
  repeat {
    guard let count = takeNumber(from: &rest), let unit = takeUnit(from: &rest), unit < lastUnit
    else { return nil }
    total = sum(total, product(count, unit))
    lastUnit = unit
  } while !rest.isEmpty
  return total
}

/// A size of any number of bytes; the largest number if it exceeds 64 bits.
private func size(_ text: UnsafeBufferPointer<UInt8>) -> Int? {
  var rest = text[...]
  guard let count = takeNumber(from: &rest), rest.count == 1,
    let shift = shift(of: rest[rest.startIndex])
  else { return nil }
  return Int(product(count, 1 << Int64(shift)))
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

/// Takes digits only: no sign, no spaces.
private func takeNumber(from rest: inout Slice<UnsafeBufferPointer<UInt8>>) -> Int64? {
  let digits = rest.prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
  guard !digits.isEmpty else { return nil }
  var value: Int64 = 0
  for digit in digits { value = sum(product(value, 10), Int64(digit - UInt8(ascii: "0"))) }
  rest = rest[digits.endIndex...]
  return value
}

/// The product of two numbers that are not negative; the largest number if it exceeds 64 bits.
private func product(_ one: Int64, _ other: Int64) -> Int64 {
  let (product, isTooLarge) = one.multipliedReportingOverflow(by: other)
  return isTooLarge ? .max : product
}

/// The sum of two numbers that are not negative; the largest number if it exceeds 64 bits.
private func sum(_ one: Int64, _ other: Int64) -> Int64 {
  let (sum, isTooLarge) = one.addingReportingOverflow(other)
  return isTooLarge ? .max : sum
}

/// Takes a unit and returns it in nanoseconds.
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

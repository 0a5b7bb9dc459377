// Parses numbers and ids. It knows bytes, but nothing about nodes or keys.

/// A plain decimal integer: an optional sign and digits.
func parseInteger(_ text: UnsafeBufferPointer<UInt8>) -> Int? {
  var digits = text[...]
  let isNegative = digits.first == UInt8(ascii: "-")
  if isNegative || digits.first == UInt8(ascii: "+") { digits.removeFirst() }
  guard !digits.isEmpty, !beginsWithSpareZero(digits) else { return nil }
  var value = 0
  for digit in digits {
    guard let next = appending(digit, to: value) else { return nil }
    value = next
  }
  return isNegative ? -value : value
}

/// A decimal number in units of 10 to the power of −`decimals`; nil if it has more decimal places,
/// is negative or too large.
func parseDecimal(_ text: UnsafeBufferPointer<UInt8>, decimals: Int) -> Int? {
  var value = 0
  var places: Int?
  var digitCount = 0
  for byte in text {
    if byte == UInt8(ascii: "."), places == nil {
      places = 0
      continue
    }
    guard let next = appending(byte, to: value) else { return nil }
    value = next
    digitCount += 1
    places = places.map { $0 + 1 }
  }
  guard digitCount > 0, places != 0, (places ?? 0) <= decimals else { return nil }
  for _ in 0..<(decimals - (places ?? 0)) {
    let (product, overflow) = value.multipliedReportingOverflow(by: 10)
    if overflow { return nil }
    value = product
  }
  return value
}

/// True if a number is written like `007`, which is another number for YAML 1.1 and for many people.
func beginsWithSpareZero(_ text: some Collection<UInt8>) -> Bool {
  text.count > 1 && text.first == UInt8(ascii: "0") && text.dropFirst().first != UInt8(ascii: ".")
}

private func appending(_ digit: UInt8, to value: Int) -> Int? {
  guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else { return nil }
  let (product, overflow) = value.multipliedReportingOverflow(by: 10)
  let (sum, overflowToo) = product.addingReportingOverflow(Int(digit - UInt8(ascii: "0")))
  return overflow || overflowToo ? nil : sum
}

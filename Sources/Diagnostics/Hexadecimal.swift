// Numbers in base 16.

/// A number in base 16, with leading zeros up to `digits` digits.
package func hexadecimal(_ value: UInt64, digits: Int, uppercase: Bool = false) -> String {
  let count = max(digits, (67 - value.leadingZeroBitCount) / 4, 1)
  let ten = UInt8(ascii: uppercase ? "A" : "a")
  return String(unsafeUninitializedCapacity: count) { bytes in
    for place in 0..<count {
      let digit = UInt8(truncatingIfNeeded: value >> (4 * (count - 1 - place))) & 15
      bytes[place] = digit < 10 ? UInt8(ascii: "0") + digit : ten + digit - 10
    }
    return count
  }
}

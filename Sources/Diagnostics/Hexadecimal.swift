// Numbers in base 16.

/// A number in base 16 with leading zeros, so that it has at least so many digits.
package func hexadecimal(_ value: UInt64, digits: Int, uppercase: Bool = false) -> String {
  let text = String(value, radix: 16, uppercase: uppercase)
  return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
}

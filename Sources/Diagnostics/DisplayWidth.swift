// How text is displayed in a terminal: the columns that a character takes, and the replacement for
// one that must not be printed as it is.

/// The columns that a scalar takes in a terminal: 2 for wide ones, 0 for marks that combine.
package func displayWidth(of scalar: Unicode.Scalar) -> Int {
  if scalar.value < 0x300 { return 1 }
  switch scalar.properties.generalCategory {
  case .nonspacingMark, .enclosingMark, .format: return 0
  default: return isWide(scalar.value) ? 2 : 1
  }
}

/// The columns that a string takes in a terminal.
package func displayWidth(of text: String) -> Int {
  let bits = text.utf8.withContiguousStorageIfAvailable { bytes in
    var bits: UInt8 = 0
    for byte in bytes { bits |= byte }
    return bits
  }
  if let bits, bits < 0x80 { return text.utf8.count }
  return text.unicodeScalars.reduce(0) { $0 + displayWidth(of: $1) }
}

/// Unicode 16, EastAsianWidth W and F.
private let wideRanges: [ClosedRange<UInt32>] = [
  0x1100...0x115F, 0x231A...0x231B, 0x2329...0x232A, 0x23E9...0x23EC, 0x23F0...0x23F0,
  0x23F3...0x23F3, 0x25FD...0x25FE, 0x2614...0x2615, 0x2648...0x2653, 0x267F...0x267F,
  0x2693...0x2693, 0x26A1...0x26A1, 0x26AA...0x26AB, 0x26BD...0x26BE, 0x26C4...0x26C5,
  0x26CE...0x26CE, 0x26D4...0x26D4, 0x26EA...0x26EA, 0x26F2...0x26F3, 0x26F5...0x26F5,
  0x26FA...0x26FA, 0x26FD...0x26FD, 0x2705...0x2705, 0x270A...0x270B, 0x2728...0x2728,
  0x274C...0x274C, 0x274E...0x274E, 0x2753...0x2755, 0x2757...0x2757, 0x2795...0x2797,
  0x27B0...0x27B0, 0x27BF...0x27BF, 0x2B1B...0x2B1C, 0x2B50...0x2B50, 0x2B55...0x2B55,
  0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F,
  0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF00...0xFF60,
  0xFFE0...0xFFE6, 0x16FE0...0x16FE4, 0x17000...0x18CD5, 0x1B000...0x1B2FB, 0x1F004...0x1F004,
  0x1F0CF...0x1F0CF, 0x1F18E...0x1F18E, 0x1F191...0x1F19A, 0x1F200...0x1F265,
  0x1F300...0x1F320, 0x1F32D...0x1F335, 0x1F337...0x1F37C, 0x1F37E...0x1F393,
  0x1F3A0...0x1F3CA, 0x1F3CF...0x1F3D3, 0x1F3E0...0x1F3F0, 0x1F3F4...0x1F3F4,
  0x1F3F8...0x1F43E, 0x1F440...0x1F440, 0x1F442...0x1F4FC, 0x1F4FF...0x1F53D,
  0x1F54B...0x1F54E, 0x1F550...0x1F567, 0x1F57A...0x1F57A, 0x1F595...0x1F596,
  0x1F5A4...0x1F5A4, 0x1F5FB...0x1F64F, 0x1F680...0x1F6C5, 0x1F6CC...0x1F6CC,
  0x1F6D0...0x1F6D2, 0x1F6D5...0x1F6D7, 0x1F6DC...0x1F6DF, 0x1F6EB...0x1F6EC,
  0x1F6F4...0x1F6FC, 0x1F7E0...0x1F7EB, 0x1F7F0...0x1F7F0, 0x1F90C...0x1F93A,
  0x1F93C...0x1F945, 0x1F947...0x1F9FF, 0x1FA70...0x1FAF8, 0x20000...0x3FFFD,
]

private func isWide(_ value: UInt32) -> Bool {
  var low = 0
  var high = wideRanges.count
  while low < high {
    let middle = (low + high) / 2
    if wideRanges[middle].upperBound < value { low = middle + 1 } else { high = middle }
  }
  return low < wideRanges.count && wideRanges[low].contains(value)
}

/// The escape for a scalar that would move the cursor, hide text or change its direction, such as
/// `\u{1b}` or `\n`; nil for one that can be printed. The zero-width joiner stays, because it joins
/// emoji.
package func escape(_ scalar: Unicode.Scalar) -> String? {
  if scalar.value >= 0x20, scalar.value < 0x7F { return nil }
  switch scalar.properties.generalCategory {
  case .control, .lineSeparator, .paragraphSeparator: break
  case .format where scalar.value != 0x200D: break
  default: return nil
  }
  return switch scalar {
  case "\n": "\\n"
  case "\t": "\\t"
  default: "\\u{\(String(scalar.value, radix: 16))}"
  }
}

/// A string from outside in the form in which it may appear in a message: on one line, at most 80
/// characters.
package func printable(_ text: String) -> String { shortened(withoutHidden(text)) }

/// Shortens a string from outside in the same way, if it is also a name: nothing in it is hidden.
package func shortened(_ text: String, to length: Int = 80) -> String {
  var result = ""
  var count = 0
  for scalar in text.unicodeScalars {
    if count == length { return result + "…" }
    if let escaped = escape(scalar) {
      result += escaped
    } else {
      result.unicodeScalars.append(scalar)
    }
    count += 1
  }
  return result
}

/// A user's name in a message: `'build'`.
package func quoted(_ name: String) -> String { "'\(printable(name))'" }

// Colours as people write them.

import Diagnostics

/// A colour with eight bits per channel.
package struct Color: Hashable, Sendable {
  package var red: UInt8
  package var green: UInt8
  package var blue: UInt8
  /// The opacity; 255 is opaque.
  package var alpha: UInt8

  /// The names of the colours that have one, for messages.
  package static var knownNames: [String] { names.map(\.0) }

  package static let wanted =
    "'#rrggbb', '#rrggbbaa' or one of \(names.map(\.0).joined(separator: ", "))"

  package init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
    self.red = red
    self.green = green
    self.blue = blue
    self.alpha = alpha
  }

  private static let names: [(String, Color)] = [
    ("white", Color(red: 255, green: 255, blue: 255)),
    ("black", Color(red: 0, green: 0, blue: 0)),
    ("gray", Color(red: 128, green: 128, blue: 128)),
    ("red", Color(red: 255, green: 0, blue: 0)),
    ("green", Color(red: 0, green: 128, blue: 0)),
    ("blue", Color(red: 0, green: 0, blue: 255)),
    ("yellow", Color(red: 255, green: 255, blue: 0)),
    // Where transparency is impossible, it becomes white.
    ("transparent", Color(red: 255, green: 255, blue: 255, alpha: 0)),
  ]
}

extension Color {
  package init?(_ text: String) {
    let word = text.lowercased()
    if let named = Color.names.first(where: { $0.0 == word })?.1 {
      self = named
      return
    }
    let digits = word.utf8.dropFirst().compactMap { digit -> UInt8? in
      switch digit {
      case 0x30...0x39: digit - 0x30
      case 0x61...0x66: digit - 0x61 + 10
      default: nil
      }
    }
    guard word.hasPrefix("#"), digits.count == word.utf8.count - 1,
      [3, 6, 8].contains(digits.count)
    else { return nil }
    let wide = digits.count == 3 ? digits.flatMap { [$0, $0] } : digits
    let bytes = stride(from: 0, to: wide.count, by: 2).map { wide[$0] << 4 | wide[$0 + 1] }
    self.init(
      red: bytes[0], green: bytes[1], blue: bytes[2], alpha: bytes.count > 3 ? bytes[3] : 255)
  }
}

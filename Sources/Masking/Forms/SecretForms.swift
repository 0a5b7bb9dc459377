// The forms in which a secret appears: as it is, and as common tools write it into other texts.
// Other forms are not found: compressed, encrypted, hashed, reversed, split by other text.

import Diagnostics

struct SecretForms {
  /// Forms that are searched as they are, none shorter than four bytes.
  var texts: Set<[UInt8]> = []
  /// Forms that tools break into lines: white space in them is skipped. None is shorter than
  /// `shortestBroken`.
  var broken: Set<[UInt8]> = []

  /// The shortest of these forms; shorter ones would often be found by coincidence.
  static let shortestBroken = 8

  /// The total size in bytes of the secrets, the shortest ones first, that have every form. A
  /// secret of special characters has some 300 forms, and each byte of a form takes 17 bytes: for
  /// all of the 128 KiB that secrets may have, that would be gigabytes, and half a minute before
  /// anything is printed.
  static let mostWithEveryForm = 8 << 10

  /// The forms of values and, if `withLines`, of each line of a value that has several.
  init(of secrets: [[UInt8]], withLines: Bool) {
    var rest = Self.mostWithEveryForm
    for secret in secrets.sorted(by: { $0.count < $1.count })
    where characterCount(of: secret) >= Masker.fewestCharacters {
      rest -= secret.count
      add(secret, withLines: withLines, everyForm: rest >= 0)
    }
  }

  private mutating func add(_ secret: [UInt8], withLines: Bool, everyForm: Bool) {
    let wholes = Set([secret, Self.trimmed(secret[...])])
      .filter { characterCount(of: $0) >= Masker.fewestCharacters }
    for text in wholes.union(withLines ? Self.lines(of: secret) : []) {
      texts.insert(text)
      texts.formUnion(Self.percentEncoded(text, everyForm))
      texts.formUnion(Self.jsonEscaped(text, everyForm))
      texts.formUnion(Self.xmlEscaped(text, everyForm))
      texts.formUnion(Self.shellQuoted(text))
      texts.formUnion(Self.withDoubledQuotes(text))
      texts.formUnion(Self.writtenByOprun(text))
    }
    for encoded in wholes.flatMap({ Self.base64($0) + Self.inHexadecimal($0) }) {
      if encoded.count >= Self.shortestBroken {
        broken.insert(encoded)
      } else if encoded.count >= 4 {
        texts.insert(encoded)
      }
    }
  }

  /// The lines of a value with several lines, if they have at least four characters. Surrounding
  /// white space is removed, because it reveals nothing, unless too little would be left.
  static func lines(of secret: [UInt8]) -> [[UInt8]] {
    guard secret.contains(UInt8(ascii: "\n")) else { return [] }
    return secret.split(separator: UInt8(ascii: "\n")).compactMap { line in
      let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
      let bare = trimmed(line)
      let kept = characterCount(of: bare) >= Masker.fewestCharacters ? bare : Array(line)
      return bare.isEmpty || characterCount(of: kept) < Masker.fewestCharacters ? nil : kept
    }
  }

  private static func trimmed(_ line: ArraySlice<UInt8>) -> [UInt8] {
    let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || (0x09...0x0D).contains(byte) }
    guard let first = line.firstIndex(where: { !isBlank($0) }),
      let last = line.lastIndex(where: { !isBlank($0) })
    else { return [] }
    return Array(line[first...last])
  }

  /// The text in every style, each different result once. A style returns the replacement of a
  /// byte; nil leaves the byte unchanged.
  static func rewritten<Style>(
    _ text: [UInt8], in styles: [Style], _ replacement: (UInt8, Style) -> String?
  ) -> [[UInt8]] {
    let present = Set(text)
    var seen: Set<[UInt8: String]> = []
    var results: [[UInt8]] = []
    for style in styles {
      var replacements: [UInt8: String] = [:]
      for byte in present { replacements[byte] = replacement(byte, style) }
      guard seen.insert(replacements).inserted else { continue }
      results.append(replacements.isEmpty ? text : replacing(text, replacements))
    }
    return results
  }

  private static func replacing(_ text: [UInt8], _ replacements: [UInt8: String]) -> [UInt8] {
    let table = (0...255).map { replacements[$0].map { Array($0.utf8) } ?? [$0] }
    var result: [UInt8] = []
    result.reserveCapacity(2 * text.count)
    for byte in text { result.append(contentsOf: table[Int(byte)]) }
    return result
  }
}

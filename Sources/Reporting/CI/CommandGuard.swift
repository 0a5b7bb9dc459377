// Text that a CI runner would take for a command of its own, made harmless: a space is put inside
// the command. It works on bytes, split at any position.

/// Breaks the commands in a stream.
///
/// Runners of .NET compare text by the rules of a language, for which invisible characters do not
/// exist. So such characters never end a command here.
struct CommandGuard {
  /// The kinds of text that a runner takes for a command.
  struct Rules: OptionSet {
    let rawValue: UInt8

    /// `##[group]`, `##vso[task.setvariable]`, `##teamcity[message]`, anywhere in a line.
    static let brackets = Rules(rawValue: 1)
    /// `::error::`, after white space.
    static let colons = Rules(rawValue: 2)
    /// `--- `, `+++ `, `~~~ ` and `^^^ +++`, where a line begins.
    static let headings = Rules(rawValue: 4)
  }

  /// The prefix of a line that is a command of oprun's own: the rest of it passes. No text that is
  /// shown contains this character.
  static let ownCommand: UInt8 = 2

  private enum Escape {
    case none, begun, sequence
  }

  private let rules: Rules
  private var isLineEmpty = true
  private var isOwn = false
  /// The number of `#` seen, at most two, with letters after them.
  private var hashes = 0
  private var escape = Escape.none
  /// True while only `lead` was seen in the line, `leadCount` times.
  private var isLeading = true
  private var lead: UInt8 = 0
  private var leadCount = 0
  private var isIndented = false

  init(_ rules: Rules) { self.rules = rules }

  mutating func pass(_ bytes: UnsafeRawBufferPointer, into result: inout [UInt8]) {
    result.reserveCapacity(result.count + bytes.count)
    for byte in bytes { pass(byte, into: &result) }
  }

  private mutating func pass(_ byte: UInt8, into result: inout [UInt8]) {
    // Runners that read lines end them at either character.
    if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") {
      self = CommandGuard(rules)
      return result.append(byte)
    }
    if isLineEmpty, byte == Self.ownCommand {
      isOwn = true
      isLineEmpty = false
      return
    }
    isLineEmpty = false
    if !isOwn, !isPartOfEscape(byte), !Self.isUnseen(byte), completesCommand(byte) {
      result.append(UInt8(ascii: " "))
    }
    result.append(byte)
  }

  /// True for control characters, and everything beyond ASCII, some of which is invisible.
  private static func isUnseen(_ byte: UInt8) -> Bool { byte < 0x20 || byte >= 0x7F }

  /// True for a byte of a colour sequence of oprun's own messages.
  private mutating func isPartOfEscape(_ byte: UInt8) -> Bool {
    switch escape {
    case .none:
      guard byte == 0x1B else { return false }
      escape = .begun
      hashes = 0
    case .begun: escape = byte == UInt8(ascii: "[") ? .sequence : .none
    case .sequence: if (0x40...0x7E).contains(byte) { escape = .none }
    }
    return true
  }

  private mutating func completesCommand(_ byte: UInt8) -> Bool {
    let completesLead = isLeading && self.completesLead(byte)
    return completesBracket(byte) || completesLead
  }

  private mutating func completesBracket(_ byte: UInt8) -> Bool {
    guard rules.contains(.brackets) else { return false }
    switch byte {
    case UInt8(ascii: "#"): hashes = min(2, hashes + 1)
    case UInt8(ascii: "[") where hashes == 2:
      hashes = 0
      return true
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"):
      if hashes < 2 { hashes = 0 }
    default: hashes = 0
    }
    return false
  }

  private mutating func completesLead(_ byte: UInt8) -> Bool {
    if leadCount == 0, byte == UInt8(ascii: " ") {
      isIndented = true
      return false
    }
    guard let wanted = longestLead(of: byte), leadCount == 0 || byte == lead else {
      isLeading = false
      return false
    }
    lead = byte
    leadCount += 1
    guard leadCount == wanted else { return false }
    isLeading = false
    return true
  }

  /// The number of repetitions of a character that begin a command.
  private func longestLead(of byte: UInt8) -> Int? {
    switch byte {
    case UInt8(ascii: ":") where rules.contains(.colons): 2
    case UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "~"), UInt8(ascii: "^"):
      rules.contains(.headings) && !isIndented ? 3 : nil
    default: nil
    }
  }
}

extension CommandGuard {
  /// A text for a command of oprun's own.
  static func harmless(_ text: String, _ rules: Rules) -> String {
    var stream = CommandGuard(rules)
    var result: [UInt8] = []
    var text = text
    text.withUTF8 { stream.pass(UnsafeRawBufferPointer($0), into: &result) }
    return String(decoding: result, as: UTF8.self)
  }
}

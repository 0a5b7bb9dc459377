// The meaning that the text before a value gives it in a shell, besides the word that the value
// begins or continues. It knows no grammar: braces and parentheses count wherever they are.

import Diagnostics

/// The text before a value, as far as it matters.
struct ShellPlace {
  /// True after a brace on the same line: a comma may begin another word.
  private var isInBraces = false
  /// True if only parts of a word are between the value and a parenthesis that follows a word: for
  /// zsh, the value may be in the qualifiers of a pattern, `*(e:command:)`.
  private var isInQualifiers = false
  private var last: UInt8?

  /// Moves past text that the author wrote.
  mutating func append(_ text: UnsafeBufferPointer<UInt8>) {
    guard let end = text.last else { return }
    readBraces(in: text)
    readParentheses(in: text)
    last = end
  }

  mutating func appendValue() { last = UInt8(ascii: "0") }

  private mutating func readBraces(in text: UnsafeBufferPointer<UInt8>) {
    var place = text.count
    while place > 0 {
      place -= 1
      let byte = text[place]
      guard byte == UInt8(ascii: "{") || byte == UInt8(ascii: "\n") else { continue }
      let previous = place > 0 ? text[place - 1] : last
      if byte == UInt8(ascii: "{"), previous != UInt8(ascii: "$") {
        isInBraces = true
        return
      }
      if byte == UInt8(ascii: "\n"), previous != UInt8(ascii: "\\") {
        isInBraces = false
        return
      }
    }
  }

  private mutating func readParentheses(in text: UnsafeBufferPointer<UInt8>) {
    var place = text.count
    var closed = 0
    while place > 0 {
      place -= 1
      switch text[place] {
      case 9...13, UInt8(ascii: " "):
        isInQualifiers = false
        return
      case UInt8(ascii: ")"): closed += 1
      case UInt8(ascii: "(") where closed > 0: closed -= 1
      case UInt8(ascii: "("):
        let previous = place > 0 ? text[place - 1] : last
        isInQualifiers = previous.map(Self.precedesQualifiers) ?? false
        return
      default: break
      }
    }
    if closed > 0 { isInQualifiers = false }
  }

  /// True if qualifiers can follow this byte: not after the start of a command, a substitution or an array.
  private static func precedesQualifiers(_ byte: UInt8) -> Bool {
    switch byte {
    case 9...13, UInt8(ascii: " "), UInt8(ascii: ";"), UInt8(ascii: "&"), UInt8(ascii: "|"),
      UInt8(ascii: "("), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "$"),
      UInt8(ascii: "="), UInt8(ascii: "!"), UInt8(ascii: "`"):
      false
    default: true
    }
  }

  func objection(to value: InsertedValue, _ reader: ScriptReader) -> UnlocatedFailure? {
    if isInQualifiers, reader.hasGlobQualifiers {
      return ScriptMessage.qualifier(value, reader)
    }
    guard isInBraces, value.text.utf8.contains(UInt8(ascii: ",")) else { return nil }
    let isFree = value.text.containsText(",-") || value.text.utf8.contains(UInt8(ascii: "="))
    return isFree ? ScriptMessage.wordsInBraces(value, reader) : nil
  }
}

extension InsertedText {
  /// The first value that makes a word `esac` after a parenthesis: within parentheses, it can end a
  /// `case` instead of being its first pattern, and the commands after it are run.
  var valueThatEndsCase: InsertedValue? {
    let word = Array("esac".utf8)
    for (range, value) in values where range.count <= word.count {
      var start = range.lowerBound
      var end = range.upperBound
      while start > 0, end - start <= word.count, !WordStart.begins(bytes[start - 1]) { start -= 1 }
      while end < bytes.count, end - start <= word.count, !WordStart.begins(bytes[end]) { end += 1 }
      if bytes[start..<end].elementsEqual(word), bytes[..<start].contains(UInt8(ascii: "(")) {
        return value
      }
    }
    return nil
  }
}

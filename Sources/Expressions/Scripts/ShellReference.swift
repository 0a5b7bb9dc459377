// The reference to a variable that replaces an expression in a shell script. Only advice depends on
// it: it looks at quotes and here-documents in the text before, and knows nothing else about
// shells.

/// The quotation that is open where an expression begins.
package enum ShellSurroundings {
  case nothing
  case singleQuotes, doubleQuotes
  case hereDocument

  /// The state after a text, which may contain other expressions.
  package init(after text: some Sequence<UInt8>) {
    self = .nothing
    var isEscaped = false
    var angleCount = 0
    var announcesDocument = false
    for byte in text {
      defer { angleCount = byte == UInt8(ascii: "<") ? angleCount + 1 : 0 }
      if isEscaped {
        isEscaped = false
        continue
      }
      switch (self, byte) {
      case (.nothing, UInt8(ascii: "\\")), (.doubleQuotes, UInt8(ascii: "\\")): isEscaped = true
      case (.nothing, UInt8(ascii: "'")): self = .singleQuotes
      case (.nothing, UInt8(ascii: "\"")): self = .doubleQuotes
      case (.singleQuotes, UInt8(ascii: "'")), (.doubleQuotes, UInt8(ascii: "\"")): self = .nothing
      case (.nothing, UInt8(ascii: "\n")) where announcesDocument:
        self = .hereDocument
        return
      case (.nothing, UInt8(ascii: "<")): break
      case (.nothing, _): if angleCount == 2 { announcesDocument = true }
      case (.singleQuotes, _), (.doubleQuotes, _), (.hereDocument, _): break
      }
    }
  }

  /// The variable as one word, or as part of the quoted text.
  package func reference(to name: String) -> String {
    switch self {
    case .nothing: "\"$\(name)\""
    case .singleQuotes: "'\"$\(name)\"'"
    case .doubleQuotes, .hereDocument: name.utf8.count > 1 ? "${\(name)}" : "$\(name)"
    }
  }
}

// Makes paths of results from a pattern such as 'thumbs/{name}-{width}.{ext}'. A name that comes
// from elsewhere can never lead out of the directory that the pattern names.

import Diagnostics

private let slash = UInt8(ascii: "/")

/// A parsed pattern.
package struct PathPattern: Hashable, Sendable {
  package enum Field: String, CaseIterable, Sendable { case name, ext, width, height, index }

  package enum Piece: Hashable, Sendable {
    case text(String)
    case field(Field)

    package var isField: Bool { if case .field = self { true } else { false } }
  }

  /// The values of the fields.
  package struct Values: Hashable, Sendable {
    /// The name of the item, without its extension; it may be anything.
    package var name: String
    package var ext: String
    /// The size as requested.
    package var box: Box
    /// The number of the item, counted from 1.
    package var index: Int

    package init(name: String, ext: String, box: Box, index: Int) {
      self.name = name
      self.ext = ext
      self.box = box
      self.index = index
    }
  }

  package let pieces: [Piece]

  /// Parses a pattern with any of these fields. `{{` and `}}` are literal braces.
  package init(_ text: String, fields: [Field] = Field.allCases) throws(StepInputFailure) {
    var pieces: [Piece] = []
    var literal = ""
    var rest = text[...]
    while let character = rest.popFirst() {
      if character == "{" || character == "}", rest.first == character {
        rest.removeFirst()
        literal.append(character)
      } else if character == "{" {
        guard let end = rest.firstIndex(of: "}"),
          let field = fields.first(where: { $0.rawValue == rest[..<end] })
        else { throw .badField(in: text, at: rest, wanted: fields) }
        rest = rest[rest.index(after: end)...]
        if !literal.isEmpty { pieces.append(.text(literal)) }
        literal = ""
        pieces.append(.field(field))
      } else if character == "}" {
        throw .strayBrace(in: text)
      } else {
        literal.append(character)
      }
    }
    if !literal.isEmpty { pieces.append(.text(literal)) }
    self.pieces = pieces
    guard !text.utf8.contains(0), text.utf8.last != slash else { throw .noFileName(in: text) }
  }

  package func uses(_ field: Field) -> Bool { pieces.contains(.field(field)) }

  /// The extension at the end of the pattern; nil if the format determines it.
  package var writtenExtension: String? {
    guard case .text(let text)? = pieces.last, let dot = text.lastIndex(of: ".") else { return nil }
    let ext = text[text.index(after: dot)...]
    return ext.isEmpty || ext.utf8.contains(slash) ? nil : String(ext)
  }

  /// The directory before the first field, with its slash; "" means the one in which the program runs.
  package var folder: String {
    guard case .text(let start)? = pieces.first, let end = start.utf8.lastIndex(of: slash) else {
      return ""
    }
    return String(start[..<start.utf8.index(after: end)])
  }

  package func path(_ values: Values) -> String {
    var path = ""
    for (index, piece) in pieces.enumerated() {
      // A name without an extension needs no dot.
      if piece == .field(.ext), values.ext.isEmpty, path.hasSuffix("."), path != ".",
        !path.hasSuffix("/.")
      {
        path.removeLast()
      }
      let text = text(of: piece, values)
      let isWhole = startsComponent(after: path) && endsComponent(index)
      // An empty component would move the rest of the path into another directory: the root, if
      // nothing comes before it.
      path += text.isEmpty && piece.isField && isWhole ? "_" : text
    }
    return path
  }

  private func startsComponent(after path: String) -> Bool {
    path.isEmpty || path.utf8.last == slash
  }

  /// True if nothing follows a piece in its component of the path.
  private func endsComponent(_ index: Int) -> Bool {
    guard index + 1 < pieces.count else { return true }
    guard case .text(let next) = pieces[index + 1] else { return false }
    return next.utf8.first == slash
  }

  private func text(of piece: Piece, _ values: Values) -> String {
    switch piece {
    case .text(let text): text
    case .field(.name): PathPattern.harmless(values.name)
    case .field(.ext): values.ext.isEmpty ? "" : PathPattern.harmless(values.ext)
    case .field(.width): values.box.width.map(String.init) ?? "auto"
    case .field(.height): values.box.height.map(String.init) ?? "auto"
    case .field(.index): String(values.index)
    }
  }

  /// The name as a single component of a path: no slash, no control character, no leading dot,
  /// never empty, and short enough for the rest of the name (a name has at most 255 bytes on
  /// Linux).
  package static func harmless(_ name: String) -> String {
    var safe = ""
    for scalar in name.unicodeScalars {
      let isBad = scalar == "/" || scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
      let next = isBad ? "_" : String(Character(scalar))
      if safe.utf8.count + next.utf8.count > 150 { break }
      safe += next
    }
    if safe.utf8.first == UInt8(ascii: ".") { return "_" + String(safe.unicodeScalars.dropFirst()) }
    return safe.isEmpty ? "_" : safe
  }
}

/// The requested size: a side that is not given follows from the proportions.
package struct Box: Hashable, Sendable {
  package var width: Int?
  package var height: Int?

  package init(width: Int? = nil, height: Int? = nil) {
    self.width = width
    self.height = height
  }

  package var words: String {
    "\(width.map(String.init) ?? "auto") × \(height.map(String.init) ?? "auto")"
  }
}

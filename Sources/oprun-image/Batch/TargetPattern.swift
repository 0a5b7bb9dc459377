// Where the result of an item goes: the path that was given, with what is known of the item filled in.

import Diagnostics

/// `thumbs/{name}-{width}.{ext}`.
struct TargetPattern: Hashable, Sendable {
  private enum Piece: Hashable, Sendable {
    case text(String)
    case field(String)
  }

  let text: String
  private let pieces: [Piece]

  /// Throws the first field that is not among `fields`.
  init(_ text: String, fields: [String]) throws(UnknownField) {
    self.text = text
    var pieces: [Piece] = []
    var rest = text[...]
    while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
      let field = String(rest[rest.index(after: open)..<close])
      guard fields.contains(field) else { throw UnknownField(name: field) }
      pieces += [.text(String(rest[..<open])), .field(field)]
      rest = rest[rest.index(after: close)...]
    }
    self.pieces = pieces + [.text(String(rest))]
  }

  struct UnknownField: Error { let name: String }

  var hasFields: Bool { pieces.count > 1 }

  func uses(_ field: String) -> Bool { pieces.contains(.field(field)) }

  func path(_ values: [String: String]) -> String {
    pieces.map { piece in
      switch piece {
      case .text(let text): text
      case .field(let name): values[name] ?? ""
      }
    }.joined()
  }

  /// The folder before the first field, with its slash; "" is the one that the program runs in.
  var folder: String {
    guard case .text(let start)? = pieces.first, let slash = start.lastIndex(of: "/") else {
      return ""
    }
    return String(start[...slash])
  }
}

/// The name and the ending that the last part of a path has, fit for a file: nothing in it leads to
/// another folder, hides the file or moves a cursor.
func fileName(ofPath path: String) -> (name: String, ext: String) {
  let last = path.split(separator: "/").last ?? ""
  var safe = ""
  for scalar in last.unicodeScalars {
    safe.unicodeScalars.append(escape(scalar) == nil && scalar != "\\" ? scalar : "_")
    if safe.utf8.count >= 180 { break }
  }
  if safe.hasPrefix(".") { safe = "_" + safe.dropFirst() }
  if safe.isEmpty { return ("index", "") }
  guard let dot = safe.lastIndex(of: "."), dot != safe.startIndex else { return (safe, "") }
  return (String(safe[..<dot]), String(safe[safe.index(after: dot)...]))
}

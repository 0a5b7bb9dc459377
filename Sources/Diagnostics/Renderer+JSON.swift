// Writes JSON: escaped strings, and diagnostics as objects.

/// A JSON string literal. Control characters, and those that change the direction of text, are
/// escaped, so the line can be printed as it is.
package func jsonString(_ text: String) -> String {
  var result = "\""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "\"": result += "\\\""
    case "\\": result += "\\\\"
    case "\n": result += "\\n"
    case "\t": result += "\\t"
    case "\r": result += "\\r"
    default:
      if escape(scalar) != nil, scalar.value <= 0xFFFF {
        result += "\\u" + hexadecimal(UInt64(scalar.value), digits: 4)
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
  }
  return result + "\""
}

extension Renderer {
  func json(_ diagnostic: Diagnostic) -> String {
    let start = location(of: diagnostic.primary.span)
    let end = location(at: Int(diagnostic.primary.span.end))
    var fields = [
      "\"file\":\(shown(sources.files[start.file].path))",
      "\"line\":\(start.line)", "\"column\":\(start.column)",
      "\"endLine\":\(end.line)", "\"endColumn\":\(end.column)",
      "\"severity\":\"\(diagnostic.severity.rawValue)\"",
      "\"message\":\(shown(diagnostic.message))",
    ]
    let label = diagnostic.primary.text
    if !label.isEmpty { fields.append("\"label\":\(shown(label))") }
    if let help = diagnostic.help { fields.append("\"help\":\(shown(help))") }
    if !diagnostic.secondary.isEmpty {
      fields.append("\"related\":[\(diagnostic.secondary.map(related).joined(separator: ","))]")
    }
    return "{\(fields.joined(separator: ","))}"
  }

  private func related(_ label: Diagnostic.Label) -> String {
    let place = location(of: label.span)
    return "{\"file\":\(shown(sources.files[place.file].path)),\"line\":\(place.line),"
      + "\"column\":\(place.column),\"message\":\(shown(label.text))}"
  }

  /// A JSON string with secrets hidden in it, for values that the user wrote; the rest of the
  /// output is the format's own.
  private func shown(_ text: String) -> String { jsonString(withoutHidden(text)) }
}

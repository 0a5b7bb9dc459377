// Diagnostics as workflow commands of GitHub Actions, which shows them next to the lines of the
// file.

extension Renderer {
  /// `::error file=…,line=…,col=…,title=…::message`, with the help on a separate line.
  func annotation(_ diagnostic: Diagnostic) -> String {
    let place = location(of: diagnostic.primary.span)
    let path = escaped(sources.files[place.file].path, isProperty: true)
    let message = [diagnostic.message, diagnostic.help.map { "help: \($0)" }].compactMap { $0 }
    let title = diagnostic.severity == .error ? "invalid pipeline" : "notice about the pipeline"
    return "::\(diagnostic.severity.rawValue) file=\(path),line=\(place.line),col=\(place.column)"
      + ",title=\(title)::"
      + escaped(message.joined(separator: "\n"), isProperty: false)
  }

  private func escaped(_ text: String, isProperty: Bool) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "%": result += "%25"
      case "\r": result += "%0D"
      case "\n": result += "%0A"
      case ":" where isProperty: result += "%3A"
      case "," where isProperty: result += "%2C"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}

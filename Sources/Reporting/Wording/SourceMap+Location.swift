// The location of a span, as messages show it.

import Diagnostics

extension SourceMap {
  /// `file:line`; empty without a file.
  func location(of span: Span) -> String {
    files.isEmpty ? "" : position(of: span).location
  }
}

extension Position {
  /// `file:line`.
  var location: String { "\(path):\(line)" }
}

// The location of a span, as messages show it.

import Diagnostics

extension SourceMap {
  /// `file:line`; empty without a file.
  func location(of span: Span) -> String {
    guard !files.isEmpty else { return "" }
    let position = position(of: span)
    return "\(position.path):\(position.line)"
  }
}

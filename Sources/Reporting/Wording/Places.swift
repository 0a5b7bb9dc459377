// TEMPORARY: Where a span is, as `file:line`.
package import Diagnostics

extension SourceMap {
  package func place(of span: Span) -> String {
    guard let file = files.first else { return "" }
    let line = 1 + file.bytes.prefix(Int(span.start)).count { $0 == 10 }
    return "\(file.path):\(line)"
  }
}

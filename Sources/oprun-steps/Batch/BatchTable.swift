// The table at the end of a batch, for people: all items of a small one, only the failed ones of a
// large one; then one line for all of them.

import Diagnostics

struct BatchTable {
  let items: [ItemResult]
  /// The noun for an item: `image` or `file`.
  let noun: String
  let nanoseconds: Int64

  static let shownCount = 20
  private static let widestName = 48

  init(items: [ItemResult], noun: String, nanoseconds: Int64) {
    self.items = items
    self.noun = noun
    self.nanoseconds = nanoseconds
  }

  /// The table of a batch that ends now.
  init(_ items: [ItemResult], noun: String, since started: Int64) {
    self.init(items: items, noun: noun, nanoseconds: monotonicTime() - started)
  }

  var text: String {
    let shown = items.count <= Self.shownCount ? items : items.filter { $0.error != nil }
    let rows = shown.prefix(Self.shownCount).map(row)
    var text = Self.aligned(rows)
    if shown.count > rows.count { text += "… and \(shown.count - rows.count) more\n" }
    return text + summary + "\n"
  }

  private func row(_ item: ItemResult) -> [String] {
    let name = Self.clipped(item.files.first?.path ?? item.origin)
    if let error = item.error { return [name, "failed: \(error)"] }
    let sizes = item.files.compactMap { file in
      file.width.flatMap { width in file.height.map { "\(width)×\($0)" } }
    }
    let byteCount = item.files.reduce(0) { $0 + $1.byteCount }
    let how = item.isCached ? "cached" : item.attemptCount > 1 ? "attempt \(item.attemptCount)" : ""
    var cells = [name, shownBytes(byteCount), "\(item.milliseconds)ms"]
    cells += [sizes.joined(separator: " "), how, item.note ?? ""].filter { !$0.isEmpty }
    return cells
  }

  private var summary: String {
    let failed = items.count { $0.error != nil }
    let cached = items.count { $0.isCached }
    let received = items.reduce(0) { $0 + $1.receivedByteCount }
    var parts = ["\(items.count) \(noun)\(items.count == 1 ? "" : "s")"]
    if failed > 0 { parts.append("\(failed) failed") }
    if cached > 0 { parts.append("\(cached) cached") }
    if received > 0 { parts.append("\(shownBytes(received)) received") }
    return parts.joined(separator: ", ") + " in \(shownDuration(nanoseconds))"
  }

  private static func clipped(_ name: String) -> String {
    let name = nameAtLineStart(printable(name))
    guard name.count > widestName else { return name }
    return "…" + name.suffix(widestName - 1)
  }

  /// Aligns rows: all columns except the last are as wide as their widest cell.
  private static func aligned(_ rows: [[String]]) -> String {
    var widths: [Int] = []
    for row in rows {
      for (column, cell) in row.dropLast().enumerated() {
        if column == widths.count { widths.append(0) }
        widths[column] = max(widths[column], displayWidth(of: cell))
      }
    }
    return rows.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        line += cell
        guard column + 1 < row.count else { break }
        line += String(repeating: " ", count: widths[column] - displayWidth(of: cell) + 2)
      }
      return line + "\n"
    }.joined()
  }
}

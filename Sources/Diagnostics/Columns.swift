// Formats tables of two columns, for help texts.

private let widestFirstColumn = 28

/// Formats one line for each row. If a first column is wider than most, the second one goes on its
/// own line. With `all`, the rows are part of a longer table, which determines the columns.
package func twoColumns(_ rows: [(String, String)], of all: [(String, String)]? = nil) -> String {
  let widest = min(widestFirstColumn, (all ?? rows).map { displayWidth(of: $0.0) }.max() ?? 0)
  return rows.map { first, second in
    let width = displayWidth(of: first)
    let gap =
      width > widest
      ? "\n" + String(repeating: " ", count: widest + 4)
      : String(repeating: " ", count: widest - width + 2)
    return "  \(first)\(gap)\(second)\n"
  }.joined()
}

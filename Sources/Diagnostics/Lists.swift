// Lists in sentences.

/// The items as a list in a sentence: `a, b or c`.
package func inWords(_ items: [String], last conjunction: String = "or") -> String {
  guard items.count > 1, let last = items.last else { return items.joined() }
  return items.dropLast().joined(separator: ", ") + " \(conjunction) " + last
}

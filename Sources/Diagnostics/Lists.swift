// Lists in sentences.

/// The items as a list in a sentence: `a, b or c`.
package func inWords(_ items: [String], last conjunction: String = "or") -> String {
  guard items.count > 1, let last = items.last else { return items.joined() }
  return items.dropLast().joined(separator: ", ") + " \(conjunction) " + last
}

/// Lists the first names, and the number of the others: `a, b and 3 more`.
package func firstNames(of names: some Collection<String>, most: Int) -> String {
  let shown = names.prefix(most).joined(separator: ", ")
  return names.count > most ? "\(shown) and \(names.count - most) more" : shown
}

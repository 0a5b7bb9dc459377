// Anchors, and the cost of their aliases.

/// A value that aliases may stand for.
struct Anchored {
  let node: NodeIndex
  /// The number of nodes that it stands for; aliases in it count as their values.
  var size: Int
  /// The levels of nesting in it, including aliases.
  var height: Int
  /// False while the value is being read: it cannot contain itself.
  var isComplete: Bool
}

/// The anchors of a document. A later anchor of the same name replaces an earlier one.
struct Anchors {
  static let maxCount = 200_000

  private var slots: [String: Int] = [:]
  private(set) var entries: [Anchored] = []

  var count: Int { entries.count }

  /// Adds an anchor; returns a number for `complete`.
  mutating func add(_ name: String, _ value: Anchored) -> Int {
    slots[name] = entries.count
    entries.append(value)
    return entries.count - 1
  }

  mutating func complete(_ slot: Int, size: Int, height: Int) {
    entries[slot].size = size
    entries[slot].height = height
    entries[slot].isComplete = true
  }

  subscript(name: String) -> Anchored? { slots[name].map { entries[$0] } }

  var names: some Sequence<String> { slots.keys }
}

// Values by name, in the order they were added.

/// Each name occurs once. A few names are compared, many are hashed: most maps are small, and
/// making a table for them would cost more than it saves.
package struct OrderedMap<Element> {
  package private(set) var names: [String] = []
  package var values: [Element] = []
  /// The positions by name; empty while there are only a few.
  private var places: [ExactText: Int] = [:]

  package init() {}

  package var count: Int { names.count }

  package mutating func reserveCapacity(_ count: Int) {
    names.reserveCapacity(count)
    values.reserveCapacity(count)
  }

  /// Setting nil changes nothing. O(1).
  package subscript(name: String) -> Element? {
    get { place(of: name).map { values[$0] } }
    set {
      guard let newValue else { return }
      if let place = place(of: name) {
        values[place] = newValue
      } else {
        names.append(name)
        values.append(newValue)
        addPlace()
      }
    }
  }

  private func place(of name: String) -> Int? {
    places.isEmpty
      ? names.firstIndex { areSameBytes($0, name) } : places[ExactText(text: name)]
  }

  /// Adds the position of the last name.
  private mutating func addPlace() {
    if !places.isEmpty {
      places[ExactText(text: names[count - 1])] = count - 1
    } else if count > 8 {
      for (place, name) in names.enumerated() { places[ExactText(text: name)] = place }
    }
  }
}

extension OrderedMap: Sendable where Element: Sendable {}

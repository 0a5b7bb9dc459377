// Names in order, and the position of each.

/// Names in order. A few names are compared, many are hashed: most maps are small, and making a
/// table for them would cost more than it saves. The type is not generic, so other modules look
/// names up as fast as this one.
package struct OrderedNames: Hashable, Sendable {
  package private(set) var all: [String] = []
  /// The positions by name; empty while there are only a few.
  private var places: [ExactText: Int] = [:]

  package init() {}

  /// Makes an order of these names. If two are equal, the first one is found.
  package init(_ names: [String]) {
    all = names
    if names.count > Self.few { addPlaces() }
  }

  /// The number of names up to which they are compared.
  private static let few = 8

  package mutating func reserveCapacity(_ count: Int) { all.reserveCapacity(count) }

  /// The position of a name; nil if it is not there. O(1).
  package func place(of name: String) -> Int? {
    places.isEmpty ? all.firstIndex { areSameBytes($0, name) } : places[ExactText(text: name)]
  }

  /// Adds a name that is not there yet.
  package mutating func append(_ name: String) {
    all.append(name)
    if !places.isEmpty {
      places[ExactText(text: name)] = all.count - 1
    } else if all.count > Self.few {
      addPlaces()
    }
  }

  private mutating func addPlaces() {
    places = Dictionary(
      zip(all.lazy.map(ExactText.init), all.indices), uniquingKeysWith: { first, _ in first })
  }
}

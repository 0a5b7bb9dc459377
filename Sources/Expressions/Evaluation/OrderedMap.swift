// Values by name, in the order they were added.

package struct OrderedMap<Element> {
  private var order = OrderedNames()
  package var values: [Element] = []

  package init() {}

  package var names: [String] { order.all }
  package var count: Int { order.all.count }

  /// The value of a name. Setting nil changes nothing. O(1).
  package subscript(name: String) -> Element? {
    get { order.place(of: name).map { values[$0] } }
    set {
      guard let newValue else { return }
      if let place = order.place(of: name) {
        values[place] = newValue
      } else {
        order.append(name)
        values.append(newValue)
      }
    }
  }
}

extension OrderedMap: Sendable where Element: Sendable {}

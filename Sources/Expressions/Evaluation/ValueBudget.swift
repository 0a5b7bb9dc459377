// How much expressions may make and read. Knows no expression.

/// What all expressions of a file may still cost together; while running, those of one step.
package final class ValueBudget {
  /// An item of a list or a map, beside its text.
  private static let itemByteCount = 64

  private var made = 64 << 20
  private var read = 512 << 20

  package init() {}

  /// Nothing more can be made.
  var isSpent: Bool { made < 0 }

  /// Counts a value that a function has made; false once there were too many.
  package func allows(making value: Value) -> Bool {
    made -= Self.byteCount(of: value)
    return made >= 0
  }

  /// Counts a value that is looked at as a whole; false once there were too many.
  package func allows(reading value: Value) -> Bool {
    read -= Self.byteCount(of: value)
    return read >= 0
  }

  private static func byteCount(of value: Value) -> Int {
    switch value {
    case .null, .bool, .number: 0
    case .string(let text): text.utf8.count
    case .list(let items): items.reduce(0) { $0 + itemByteCount + byteCount(of: $1) }
    case .map(let map):
      zip(map.names, map.values).reduce(0) {
        $0 + itemByteCount + $1.0.utf8.count + byteCount(of: $1.1)
      }
    }
  }
}

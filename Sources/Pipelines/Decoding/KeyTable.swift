// What a table of keys is: one row for each key that an object of the file may have. Decoding,
// messages, documentation and the JSON schema all come from the same rows.

/// One key of an object.
package struct KeyRow: Sendable {
  package enum Support: Sendable {
    case supported
    /// Known, and refused at its place until it is built.
    case notYet
  }

  package let name: StaticString
  package let type: ValueType
  /// One line, for the reference and the schema.
  package let doc: String
  /// As it would be written; nil when the key is required or has no default.
  package let defaultValue: String?
  package let support: Support

  init(
    _ name: StaticString, _ type: ValueType, _ doc: String, default defaultValue: String? = nil,
    _ support: Support = .supported
  ) {
    self.name = name
    freeName = nil
    self.type = type
    self.doc = doc
    self.defaultValue = defaultValue
    self.support = support
  }

  package var key: String { freeName ?? name.description }

  /// Of a key that the user named.
  private let freeName: String?

  /// A row that is in no table: for a value below a name of the user's own.
  init(named name: String, _ type: ValueType) {
    self.name = ""
    freeName = name
    self.type = type
    doc = ""
    defaultValue = nil
    support = .supported
  }
}

/// What a value must be.
package indirect enum ValueType: Hashable, Sendable {
  case text
  case identifier
  case boolean
  case integer(ClosedRange<Int>)
  /// Not negative, with at most six decimals.
  case amount
  case duration
  case size
  case choice([String])
  /// One whole text, with what it looks like.
  case pattern(String)
  case list(ValueType)
  /// Any names, one type of value.
  case map(ValueType)
  /// A map with the keys of a table.
  case object(String)
  case either([ValueType])
  /// Text that is one expression in `${{ }}`.
  case expression
  case anything

  /// In a sentence: "must be …".
  package var words: String {
    switch self {
    case .text: "text"
    case .identifier: "an id"
    case .boolean: "true or false"
    case .integer(let range): Self.words(for: range)
    case .amount: "a number"
    case .duration: "a duration such as 30s"
    case .size: "a size such as 2M"
    case .choice(let names): names.count == 1 ? "'\(names[0])'" : "one of " + Self.list(names)
    case .pattern(let example): example
    case .list(let item): "a list of \(item.plural)"
    case .map(let value): "a map of names to \(value.plural)"
    case .object(let name): name
    case .either(let types): Self.list(types.map(\.words), last: " or ")
    case .expression: "an expression in ${{ }}"
    case .anything: "anything"
    }
  }

  private var plural: String {
    switch self {
    case .identifier: "ids"
    case .amount, .integer: "numbers"
    case .object(let name): name.hasPrefix("a map") ? "maps" : name
    case .either(let types): Self.list(types.map(\.plural), last: " or ")
    default: words
    }
  }

  private static func words(for range: ClosedRange<Int>) -> String {
    switch (range.lowerBound, range.upperBound) {
    case (1, 1): "1"
    case (let low, 1_000_000...): "a whole number of at least \(low)"
    case (let low, let high): "a whole number from \(low) to \(high)"
    }
  }

  private static func list(_ names: [String], last: String = ", ") -> String {
    guard names.count > 1, let final = names.last else { return names.joined() }
    return names.dropLast().joined(separator: ", ") + last + final
  }
}

/// The keys of one kind of object.
package protocol ObjectKey: RawRepresentable<UInt8>, CaseIterable, Sendable {
  var row: KeyRow { get }
  /// Whether `x-…` keys may stand beside.
  static var allowsExtensions: Bool { get }
}

extension ObjectKey {
  package static var allowsExtensions: Bool { false }
}

/// Finds a key by its bytes: no text is made of the keys of a file.
struct KeyTable<Key: ObjectKey>: Sendable {
  private static var slotCount: Int { 256 }

  let rows: [KeyRow]
  private let keys: [Key]
  /// Row numbers by hash; 255 is a free slot.
  private let slots: [UInt8]
  /// A bit for each key that is not supported yet.
  let unsupported: UInt64

  init() {
    let keys = Array(Key.allCases)
    let rows = keys.map(\.row)
    self.keys = keys
    self.rows = rows
    precondition(keys.count <= 40, "the keys of an object must fit its Fields")
    var slots = [UInt8](repeating: 255, count: Self.slotCount)
    for (number, row) in rows.enumerated() {
      var slot = Self.hash(row.bytes)
      while slots[slot] != 255 { slot = (slot + 1) % Self.slotCount }
      slots[slot] = UInt8(truncatingIfNeeded: number)
    }
    self.slots = slots
    unsupported = keys.reduce(0) { bits, key in
      rows[Int(key.rawValue)].support == .notYet ? bits | 1 << UInt64(key.rawValue) : bits
    }
  }

  func find(_ name: UnsafeBufferPointer<UInt8>) -> Key? {
    guard let first = name.baseAddress else { return nil }
    var slot = Self.hash(name)
    while slots[slot] != 255 {
      let row = Int(slots[slot])
      let bytes = rows[row].bytes
      if bytes.count == name.count, let start = bytes.baseAddress,
        areEqual(start, first, count: name.count)
      {
        return keys[row]
      }
      slot = (slot + 1) % Self.slotCount
    }
    return nil
  }

  private static func hash(_ name: UnsafeBufferPointer<UInt8>) -> Int {
    guard let first = name.first, let last = name.last else { return 0 }
    return (name.count &* 37 &+ Int(first) &* 11 &+ Int(last)) & (slotCount - 1)
  }
}

extension KeyRow {
  fileprivate var bytes: UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
  }
}

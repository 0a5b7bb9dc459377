// Tables of keys, with one row for each key that an object of the file may have. Decoding,
// messages, documentation and the JSON schema all come from the same rows.

import Expressions

/// One key of an object.
package struct KeyRow: Sendable {
  package let name: StaticString
  package let type: ValueType
  /// The description of the key, and one that several keys share, which is added only when somebody reads it.
  private let summary: String
  private let addition: String
  /// The default as it would be written; nil if the key is required or has none.
  package let defaultValue: String?
  /// An example; nil if the type is enough.
  package let example: String?
  package let isRequired: Bool
  /// True if the row is that of one item of a list; the key is that of the list.
  let isItem: Bool

  init(
    _ name: StaticString, _ type: ValueType, _ summary: String, _ addition: String = "",
    default defaultValue: String? = nil, example: String? = nil, isRequired: Bool = false
  ) {
    self.name = name
    freeName = nil
    self.type = type
    self.summary = summary
    self.addition = addition
    self.defaultValue = defaultValue
    self.example = example
    self.isRequired = isRequired
    isItem = false
  }

  /// One line of documentation, for the reference and the schema.
  package var doc: String { addition.isEmpty ? summary : "\(summary) \(addition)" }

  package var key: String { freeName ?? name.description }

  /// The name of a key that the user chose.
  private let freeName: String?

  /// Makes a row that is in no table, for a value under a name that the user chose.
  init(named name: String, _ type: ValueType, isItem: Bool = false) {
    self.name = ""
    freeName = name
    self.type = type
    summary = ""
    addition = ""
    defaultValue = nil
    example = nil
    isRequired = false
    self.isItem = isItem
  }
}

/// The value that a key wants, for messages about another one.
struct WantedValue {
  let key: String
  /// The type in words: `a list of strings`.
  let words: String
  /// True if the value is an item of a list, which has the key.
  var isItem = false
}

extension KeyRow {
  var wanted: WantedValue { WantedValue(key: key, words: type.words, isItem: isItem) }
}

/// The keys of one kind of object.
package protocol ObjectKey: RawRepresentable<UInt8>, CaseIterable, Sendable {
  var row: KeyRow { get }
  /// True if `x-…` keys are allowed as well.
  static var allowsExtensions: Bool { get }
  /// The keys by the names that other tools use.
  static var elsewhere: [String: Self] { get }
  /// Replacements for keys that this object does not have.
  static var advice: [String: String] { get }
  /// Keys that have no counterpart here, by the tool to which they belong.
  static var foreign: [String: ForeignFile] { get }
}

extension ObjectKey {
  package static var allowsExtensions: Bool { false }
  package static var elsewhere: [String: Self] { [:] }
  package static var advice: [String: String] { [:] }
  package static var foreign: [String: ForeignFile] { [:] }
}

/// Finds a key by its bytes: no string is made for the keys of a file.
struct KeyTable<Key: ObjectKey>: Sendable {
  /// The maximum number of keys of one object, for this table and its `Fields`.
  static var mostKeys: Int { 48 }

  let rows: [KeyRow]
  private let keys: [Key]
  private let names: NameTable

  init() {
    let keys = Array(Key.allCases)
    let rows = keys.map(\.row)
    self.keys = keys
    self.rows = rows
    precondition(keys.count <= Self.mostKeys, "the keys of an object must fit its Fields")
    names = NameTable(rows.map(\.name))
  }

  func find(_ name: UnsafeBufferPointer<UInt8>) -> Key? { names.find(name).map { keys[$0] } }
}

// The knowledge about a value before it exists: which of the six types it may have, and what it
// contains. It knows nothing about expressions.

import Diagnostics

package struct ExpressionType: Hashable, Sendable {
  /// The types that a value may have.
  package struct Kinds: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let null = Kinds(rawValue: 1)
    package static let bool = Kinds(rawValue: 2)
    package static let number = Kinds(rawValue: 4)
    package static let string = Kinds(rawValue: 8)
    package static let list = Kinds(rawValue: 16)
    package static let map = Kinds(rawValue: 32)
    package static let all: Kinds = [.null, .bool, .number, .string, .list, .map]
    /// The types that can be inserted into a string.
    package static let text: Kinds = [.bool, .number, .string]
  }

  package let kinds: Kinds
  /// The contents of a list, map or string; empty if nothing more is known, because most types are
  /// copied often, and contain nothing more.
  private let structure: [Structure]

  private struct Structure: Hashable, Sendable {
    let items: [ExpressionType]
    let members: Members?
    let choices: Choices?
  }

  /// The type of a list's items, one or none; none means unknown.
  private var items: [ExpressionType] { structure.first?.items ?? [] }
  /// The members of a map; nil means unknown.
  package var members: Members? { structure.first?.members }
  /// The only values that a string may have; nil if it may have any.
  package var choices: Choices? { structure.first?.choices }

  /// The strings, in the order in which they are reported.
  package struct Choices: Hashable, Sendable {
    package let texts: [String]
    private let all: Set<ExactText>

    package init(_ texts: [String]) {
      self.texts = texts
      all = Set(texts.lazy.map(ExactText.init))
    }

    package func contains(_ text: String) -> Bool { all.contains(ExactText(text: text)) }
  }

  /// The members of a map.
  package struct Members: Hashable, Sendable {
    private let order: OrderedNames
    package let types: [ExpressionType]
    /// True if there may be other members, of any type.
    package let isOpen: Bool

    package init(names: [String], types: [ExpressionType], isOpen: Bool) {
      order = OrderedNames(names)
      self.types = types
      self.isOpen = isOpen
    }

    package var names: [String] { order.all }

    package subscript(name: String) -> ExpressionType? { order.place(of: name).map { types[$0] } }
  }

  package init(
    _ kinds: Kinds, items: ExpressionType? = nil, members: Members? = nil, choices: Choices? = nil
  ) {
    self.kinds = kinds
    let isPlain = items == nil && members == nil && choices == nil
    structure =
      isPlain
      ? [] : [Structure(items: items.map { [$0] } ?? [], members: members, choices: choices)]
  }

  /// The type of a value that is unknown until the run.
  package static let any = ExpressionType(.all)
  package static let null = ExpressionType(.null)
  package static let bool = ExpressionType(.bool)
  package static let number = ExpressionType(.number)
  package static let string = ExpressionType(.string)
  /// A map about which nothing is known.
  package static let openMap = ExpressionType(.map)

  /// The type of a string that is one of these.
  package static func string(_ choices: [String]) -> ExpressionType {
    ExpressionType(.string, choices: Choices(choices))
  }

  package static func list(of item: ExpressionType) -> ExpressionType {
    ExpressionType(.list, items: item)
  }

  package static func map(
    _ members: [(String, ExpressionType)], isOpen: Bool = false
  ) -> ExpressionType {
    ExpressionType(
      .map,
      members: Members(names: members.map(\.0), types: members.map(\.1), isOpen: isOpen))
  }

  /// The type of the items in a list; `any` if nothing is known about them.
  package var item: ExpressionType { items.first ?? .any }

  /// The type with null added.
  package var optional: ExpressionType {
    ExpressionType(kinds.union(.null), items: items.first, members: members, choices: choices)
  }

  /// The type without null.
  var unwrapped: ExpressionType {
    ExpressionType(
      kinds.subtracting(.null), items: items.first, members: members, choices: choices)
  }

  /// The type of a value that has either of the two types.
  package func union(_ other: ExpressionType) -> ExpressionType {
    if self == other { return self }
    let hasList = (kinds.contains(.list), other.kinds.contains(.list))
    let hasMap = (kinds.contains(.map), other.kinds.contains(.map))
    let item: ExpressionType? =
      switch hasList {
      case (true, true): items.first.flatMap { one in other.items.first.map(one.union) }
      case (true, false): items.first
      case (false, true): other.items.first
      case (false, false): nil
      }
    let members =
      hasMap.0 && hasMap.1
      ? self.members == other.members ? self.members : nil : hasMap.0 ? self.members : other.members
    return ExpressionType(
      kinds.union(other.kinds), items: item, members: members, choices: unitedChoices(other))
  }

  /// The maximum number of choices in a union: beyond it, each union would copy what the ones
  /// before it have found.
  private static let maxUnitedChoices = 1000

  private func unitedChoices(_ other: ExpressionType) -> Choices? {
    guard kinds.contains(.string) else { return other.choices }
    guard other.kinds.contains(.string) else { return choices }
    guard let choices, let more = other.choices,
      choices.texts.count + more.texts.count <= Self.maxUnitedChoices
    else { return nil }
    return Choices(choices.texts + more.texts.filter { !choices.contains($0) })
  }

  /// The type of a known value.
  package init(of value: Value) {
    switch value {
    case .list(let values):
      let types = Set(values.prefix(64).map(ExpressionType.init(of:)))
      let item = values.count <= 64 ? types.reduce(nil) { $0?.union($1) ?? $1 } : nil
      self.init(.list, items: item)
    case .map(let map):
      let types = map.values.map(ExpressionType.init(of:))
      self.init(.map, members: Members(names: map.names, types: types, isOpen: false))
    case .null, .bool, .number, .string: self.init(value.type)
    }
  }

  /// The type in words: `a string or a number`.
  package var words: String { kinds.words }
}

extension ExpressionType.Kinds {
  package var words: String {
    if self == .all { return "any value" }
    let names: [(Self, String)] = [
      (.string, "a string"), (.number, "a number"), (.bool, "true or false"), (.list, "a list"),
      (.map, "a map"), (.null, "null"),
    ]
    return inWords(names.filter { contains($0.0) }.map(\.1))
  }
}

// A JSON document, written so that people can read it, too. It knows no schema.

import Diagnostics

/// A JSON value. The members of an object stay in the order in which they are added.
package enum JSONValue: Hashable, Sendable {
  case null
  case boolean(Bool)
  /// A number as it is written.
  case number(String)
  case string(String)
  case list([JSONValue])
  case object(JSONObject)
}

package struct JSONObject: Hashable, Sendable {
  fileprivate(set) var members: [JSONMember] = []

  init(_ members: [JSONMember] = []) { self.members = members }

  mutating func add(_ name: String, _ value: JSONValue) {
    members.append(JSONMember(name: name, value: value))
  }

  mutating func drop(_ name: String) { members.removeAll { $0.name == name } }

  mutating func add(_ other: JSONObject) { members += other.members }
}

package struct JSONMember: Hashable, Sendable {
  let name: String
  let value: JSONValue
}

extension JSONObject: ExpressibleByDictionaryLiteral {
  package init(dictionaryLiteral elements: (String, JSONValue)...) {
    members = elements.map { JSONMember(name: $0, value: $1) }
  }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  package init(stringLiteral text: String) { self = .string(text) }
  package init(booleanLiteral value: Bool) { self = .boolean(value) }
  package init(integerLiteral value: Int) { self = .number(String(value)) }
  package init(arrayLiteral elements: JSONValue...) { self = .list(elements) }
  package init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(JSONObject(elements.map { JSONMember(name: $0, value: $1) }))
  }
}

extension JSONValue {
  private static let width = 100

  /// The text: a value that fits on a line is on one line; others are indented by two spaces.
  package var text: String { text(indent: 0, used: 0) + "\n" }

  private var compact: String {
    switch self {
    case .null: "null"
    case .boolean(let value): value ? "true" : "false"
    case .number(let text): text
    case .string(let text): jsonString(text)
    case .list(let items): "[" + items.map(\.compact).joined(separator: ", ") + "]"
    case .object(let object) where object.members.isEmpty: "{}"
    case .object(let object):
      "{ "
        + object.members.map { "\(jsonString($0.name)): \($0.value.compact)" }
        .joined(separator: ", ") + " }"
    }
  }

  /// The text of the value. `used` is the number of columns of the line that are already taken.
  private func text(indent: Int, used: Int) -> String {
    let line = compact
    if used + line.unicodeScalars.count <= Self.width { return line }
    let margin = String(repeating: " ", count: indent + 2)
    let end = "\n" + String(repeating: " ", count: indent)
    switch self {
    case .null, .boolean, .number, .string: return line
    case .list(let items):
      let lines = items.map { margin + $0.text(indent: indent + 2, used: indent + 3) }
      return "[\n" + lines.joined(separator: ",\n") + end + "]"
    case .object(let object):
      let lines = object.members.map { member in
        let name = "\(jsonString(member.name)): "
        let used = indent + 3 + name.unicodeScalars.count
        return margin + name + member.value.text(indent: indent + 2, used: used)
      }
      return "{\n" + lines.joined(separator: ",\n") + end + "}"
    }
  }
}

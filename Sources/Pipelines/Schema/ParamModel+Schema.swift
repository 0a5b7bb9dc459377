// The rule that `default` and `enum` of a parameter must match its `type`.

import Plans

extension ParamModel {
  static var rules: [JSONValue] {
    let isRequired: JSONValue = [
      "if": has("required", true), "then": ["properties": ["default": false]],
    ]
    let takesRest: JSONValue = ["if": has("rest", true), "then": has("type", "list")]
    return Kind.allCases.map(rule) + [isRequired, takesRest]
  }

  /// The rule for a kind. A parameter without a type has that of its default, or is a string.
  private static func rule(of kind: Kind) -> JSONValue {
    let type = JSONValue.object(kind.valueType.schema)
    var bare: JSONObject = [
      "not": ["required": ["type"]], "properties": ["default": defaults(of: kind)],
    ]
    if kind != .string { bare.add("required", ["default"]) }
    return [
      "if": ["anyOf": [has("type", .string(kind.rawValue)), .object(bare)]],
      "then": ["properties": ["default": type, "enum": ["items": type]]],
    ]
  }

  /// The defaults that make a parameter without a type one of this kind.
  private static func defaults(of kind: Kind) -> JSONValue {
    switch kind {
    case .string: ["type": "string"]
    case .int: ["type": "integer"]
    case .number: ["type": "number", "not": ["type": "integer"]]
    case .bool: ["type": "boolean"]
    case .list: ["type": "array"]
    }
  }

  private static func has(_ key: String, _ value: JSONValue) -> JSONValue {
    [
      "properties": .object(JSONObject([JSONMember(name: key, value: ["const": value])])),
      "required": [.string(key)],
    ]
  }
}

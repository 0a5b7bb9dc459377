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

  /// The rule for a kind. A parameter without a type is a string.
  private static func rule(of kind: Kind) -> JSONValue {
    let type = JSONValue.object(kind.valueType.schema)
    let isOfKind = has("type", .string(kind.rawValue))
    let condition: JSONValue =
      kind == .string ? ["anyOf": [isOfKind, ["not": ["required": ["type"]]]]] : isOfKind
    return [
      "if": condition, "then": ["properties": ["default": type, "enum": ["items": type]]],
    ]
  }

  private static func has(_ key: String, _ value: JSONValue) -> JSONValue {
    [
      "properties": .object(JSONObject([JSONMember(name: key, value: ["const": value])])),
      "required": [.string(key)],
    ]
  }
}

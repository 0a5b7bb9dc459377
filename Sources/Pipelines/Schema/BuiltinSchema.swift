// The schema of `with` of a built-in step, from the table that its program uses, too. A value with
// an expression is known later, and may be anything here.

import BuiltinSteps

extension BuiltinStep {
  /// The name of its definition in the schema.
  var definition: String { "with_\(name)" }

  var schema: JSONObject {
    var properties = JSONObject()
    for key in keys { properties.add(key.name, .object(key.schema)) }
    var schema: JSONObject = [
      "description": .string(summary), "type": "object", "properties": .object(properties),
      "additionalProperties": false,
    ]
    let required = keys.filter(\.isRequired).map { JSONValue.string($0.name) }
    if !required.isEmpty { schema.add("required", .list(required)) }
    if !groups.isEmpty { schema.add("allOf", .list(groups.map(\.schema))) }
    return schema
  }

  /// The rule for a map that has `uses` and `with`.
  var rule: JSONValue {
    let isUsed: JSONValue = [
      "properties": ["uses": ["const": .string(name)]], "required": ["uses"],
    ]
    var consequence: JSONObject = [
      "properties": ["with": ["$ref": .string("#/definitions/\(definition)")]]
    ]
    if !groups.isEmpty || keys.contains(where: \.isRequired) {
      consequence.add("required", ["with"])
    }
    return ["if": isUsed, "then": .object(consequence)]
  }
}

extension KeyGroup {
  fileprivate var schema: JSONValue {
    let choices = JSONValue.list(keys.map { ["required": [.string($0)]] })
    return switch rule {
    case .exactlyOne: ["oneOf": choices]
    case .atLeastOne: ["anyOf": choices]
    }
  }
}

extension BuiltinKey {
  fileprivate var schema: JSONObject {
    var schema: JSONObject = ["description": .string(summary)]
    if let value = defaultValue.flatMap(JSONValue.init(yaml:)) { schema.add("default", value) }
    schema.add(type.schema)
    return schema
  }
}

extension BuiltinType {
  fileprivate var schema: JSONObject {
    switch self {
    case .text: ValueType.filledTemplate.schema
    case .list(let item):
      [
        "anyOf": [
          .object(item.schema),
          ["type": "array", "items": .object(item.schema), "minItems": 1],
        ]
      ]
    case .boolean, .integer, .duration, .size, .sha256, .url, .server, .color, .choice, .map:
      ["anyOf": .list(forms + [.object(ValueType.expression.schema)])]
    }
  }

  /// The accepted forms; numbers and booleans may be in quotes.
  private var forms: [JSONValue] {
    switch self {
    case .text, .list: []
    case .boolean: [["type": "boolean"], ["enum": ["true", "false"]]]
    case .integer(let range):
      [
        .object(ValueType.integer(range).schema),
        ["type": "string", "pattern": "^(0|-?[1-9][0-9]*)$"],
      ]
    case .duration: [.object(ValueType.durationOrZero.schema)]
    case .size: [.object(ValueType.size.schema)]
    case .sha256: [Self.string("^[0-9A-Fa-f]{64}$")]
    case .url: [Self.string("^[Hh][Tt][Tt][Pp][Ss]?://[^/?# ][^ ]*$")]
    case .server: [Self.string("^[^/@?# ]+:[0-9]{1,5}$")]
    case .color:
      [Self.string("^(#([0-9A-Fa-f]{3}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})|\(Self.colors))$")]
    case .choice(let words): [["enum": .list(words.map { .string($0) })]]
    case .map:
      [["type": "object", "additionalProperties": .object(ValueType.template.schema)]]
    }
  }

  private static let colors = Color.knownNames.joined(separator: "|")

  private static func string(_ pattern: String) -> JSONValue {
    ["type": "string", "pattern": .string(pattern)]
  }
}

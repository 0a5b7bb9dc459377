// What `with` of a built-in step must be: from the table that its program has, too. A value with an
// expression in it is known later, and is anything here.

import BuiltinSteps

extension BuiltinStep {
  /// Under this name among the definitions.
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

  /// Of a map that has `uses` and `with`.
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
    case .boolean, .integer, .duration, .size, .choice, .map:
      ["anyOf": .list(forms + [.object(ValueType.expression.schema)])]
    }
  }

  /// Numbers and booleans may stand in quotes.
  private var forms: [JSONValue] {
    switch self {
    case .text, .list: []
    case .boolean: [["type": "boolean"], ["enum": ["true", "false"]]]
    case .integer(let range):
      [
        .object(ValueType.integer(range).schema),
        ["type": "string", "pattern": "^-?[0-9]+$"],
      ]
    case .duration: [.object(ValueType.durationOrZero.schema)]
    case .size: [.object(ValueType.size.schema)]
    case .choice(let words): [["enum": .list(words.map { .string($0) })]]
    case .map:
      [["type": "object", "additionalProperties": .object(ValueType.template.schema)]]
    }
  }
}

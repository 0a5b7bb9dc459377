// The JSON schema of single values: what each type of the key tables accepts, as exactly as the
// decoder reads it. Draft 7, and patterns that mean the same in ECMA 262 and in Python.

/// Parts that several keys refer to.
enum SharedSchema: String, CaseIterable {
  case arguments, command, shell, hook

  var reference: JSONValue { ["$ref": .string("#/definitions/\(rawValue)")] }
}

extension ValueType {
  /// The keywords that a value of this type must satisfy.
  var schema: JSONObject {
    switch self {
    case .text: Self.text(pattern: Self.noExpression)
    case .filledText: Self.text(pattern: Self.noExpression, isFilled: true)
    case .template: ["type": Self.scalar]
    case .filledTemplate: ["type": Self.scalar, "minLength": 1]
    case .identifier: Self.string(matching: "^\(Self.name)$", "an id: \(Self.nameInWords)")
    case .boolean: ["type": "boolean"]
    case .integer(let range) where range.count == 1: ["const": .number("\(range.lowerBound)")]
    case .integer(let range): Self.integer(in: range)
    case .amount: ["type": "number", "minimum": 0, "maximum": .number("9223372036854.775807")]
    case .factor: ["type": "number", "minimum": 1, "maximum": 1000]
    case .duration: Self.string(matching: Self.duration(isZeroAllowed: false), words)
    case .durationOrZero: Self.string(matching: Self.duration(isZeroAllowed: true), words)
    case .size: Self.string(matching: "^[0-9]+[KMGT]$", words)
    case .choice(let names): ["enum": .list(names.map { .string($0) })]
    case .pattern(let words, let expression): Self.string(matching: expression, words)
    case .command: ["$ref": "#/definitions/command"]
    case .shell: ["$ref": "#/definitions/shell"]
    case .hook: ["$ref": "#/definitions/hook"]
    case .list(let item): ["type": "array", "items": .object(item.schema)]
    case .filledList(let item): ["type": "array", "items": .object(item.schema), "minItems": 1]
    case .map(let value, let names): Self.map(of: value, names: names)
    case .object(let kind): ["$ref": .string("#/definitions/\(kind.rawValue)")]
    case .either(let types): ["anyOf": .list(types.map { .object($0.schema) })]
    case .anything: [:]
    }
  }

  private static func text(pattern: String, isFilled: Bool = false) -> JSONObject {
    var schema: JSONObject = ["type": scalar]
    if isFilled { schema.add("minLength", 1) }
    schema.add("pattern", .string(pattern))
    schema.add("patternErrorMessage", "no expression can stand here")
    return schema
  }

  /// `patternErrorMessage` is what editors with VS Code's JSON service show instead of the pattern.
  private static func string(matching pattern: String, _ words: String) -> JSONObject {
    [
      "type": "string", "pattern": .string(pattern),
      "patternErrorMessage": .string("must be \(words)"),
    ]
  }

  private static func integer(in range: ClosedRange<Int>) -> JSONObject {
    [
      "type": "integer", "minimum": .number("\(range.lowerBound)"),
      "maximum": .number("\(range.upperBound)"),
    ]
  }

  private static func map(of value: ValueType, names: NameRule) -> JSONObject {
    var schema: JSONObject = ["type": "object"]
    switch names {
    case .any: break
    case .identifier: schema.add("propertyNames", ["pattern": .string("^\(name)$")])
    case .queue:
      // The queue `default` is always there.
      schema.add("propertyNames", ["pattern": .string("^(?!default$)\(name)$")])
    case .variable: schema.add("propertyNames", ["pattern": "^[^=]+$"])
    }
    schema.add("additionalProperties", .object(value.schema))
    return schema
  }

  /// A text is any scalar but nothing: `run: true` runs the program `true`.
  private static let scalar: JSONValue = ["string", "number", "boolean"]

  private static let noExpression = #"^(?![\s\S]*\$\{\{)"#
  private static let name = "[A-Za-z_][A-Za-z0-9_-]{0,127}"
  private static let nameInWords = "a letter or '_', then letters, digits, '_' and '-'"

  private static func duration(isZeroAllowed: Bool) -> String {
    let condition = isZeroAllowed ? "(?=[0-9])" : "(?=.*[1-9])"
    return "^\(condition)([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?$"
  }
}

extension SharedSchema {
  var schema: JSONObject {
    let script = JSONValue.object(ValueType.filledText.schema)
    return switch self {
    case .arguments: Self.argumentsSchema
    case .command: ["anyOf": [script, Self.arguments.reference]]
    case .shell:
      [
        "anyOf": [
          [
            "type": ["string", "number", "boolean"],
            "pattern": #"^(?![\s\S]*\$\{\{)[^ ]+$"#,
            "patternErrorMessage": "must be one word or a list",
          ], Self.arguments.reference,
        ]
      ]
    case .hook: Self.hookSchema
    }
  }

  /// The first text names a program: a blank in it is a mistake unless it is a path.
  private static var argumentsSchema: JSONObject {
    [
      "type": "array", "minItems": 1,
      "items": [
        [
          "type": ["string", "number", "boolean"],
          "pattern": #"^(?![\s\S]*\$\{\{)([^ ]+|[\s\S]*/[\s\S]*)$"#,
          "patternErrorMessage": "must be the name of a program",
        ]
      ],
      "additionalItems": .object(ValueType.text.schema),
    ]
  }

  private static var hookSchema: JSONObject {
    let script = JSONValue.object(ValueType.filledText.schema)
    let one = [script, arguments.reference, .object(ValueType.object(.hook).schema)]
    let several: JSONValue = [
      "type": "array", "items": ["anyOf": .list(one)], "contains": ["type": ["array", "object"]],
    ]
    return ["anyOf": .list(one + [several])]
  }
}

// The JSON schema of single values, which accepts the same values for each type of the key tables
// as the decoder does. It is draft 7, with patterns that have the same meaning in ECMA 262 and in
// Python.

import BuiltinSteps

/// Definitions that several keys refer to.
enum SharedSchema: String, CaseIterable {
  case arguments, words, command, shell, hook, constant

  var reference: JSONObject { ["$ref": .string("#/definitions/\(rawValue)")] }
  var value: JSONValue { .object(reference) }
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
    case .stepID: Self.string(matching: "^\(Self.id)$", "an id: \(Self.idInWords)")
    case .dependency: Self.string(matching: "^\(Self.id)([\\[/].+)?$", "the id of a step")
    case .boolean: ["type": "boolean"]
    case .wholeNumber: ["type": "integer"]
    case .number: ["type": "number"]
    case .integer(let range) where range.count == 1: ["const": .number("\(range.lowerBound)")]
    case .integer(let range): Self.integer(in: range)
    case .amount: ["type": "number", "minimum": 0, "maximum": .number("9223372036854.775807")]
    case .quantity:
      [
        "anyOf": [
          .object(Self.amount.schema), .object(Self.size.schema), .object(Self.duration.schema),
        ]
      ]
    case .factor: ["type": "number", "minimum": 1, "maximum": 1000]
    case .duration: Self.string(matching: Self.duration(isZeroAllowed: false), words)
    case .durationOrZero: Self.string(matching: Self.duration(isZeroAllowed: true), words)
    case .size: Self.string(matching: "^[0-9]+[KMGT]$", words)
    case .choice(let names): ["enum": .list(names.map { .string($0) })]
    case .pattern(let words, let expression): Self.string(matching: expression, words)
    case .command: SharedSchema.command.reference
    case .shell: SharedSchema.shell.reference
    case .hook: SharedSchema.hook.reference
    case .condition: ["type": ["string", "boolean"], "minLength": 1]
    case .expression: ["type": "string", "pattern": #"\$\{\{"#]
    case .uses: ["anyOf": [.object(Self.builtIns), .object(Self.file), .object(Self.section)]]
    case .builtIn: Self.builtIns
    case .constant:
      ["type": ["string", "number", "boolean", "array"], "allOf": [SharedSchema.constant.value]]
    case .constantList: ["type": "array", "allOf": [SharedSchema.constant.value]]
    case .matrix: Self.matrixSchema
    case .stepOutputs: Self.map(of: .template, names: .identifier)
    case .list(let item): ["type": "array", "items": .object(item.schema)]
    case .filledList(let item): ["type": "array", "items": .object(item.schema), "minItems": 1]
    case .map(let value, let names): Self.map(of: value, names: names)
    case .object(let kind): ["$ref": .string("#/definitions/\(kind.rawValue)")]
    case .either(let types): ["anyOf": .list(types.map { .object($0.schema) })]
    case .anything: [:]
    case .early(let type):
      // `$${{` does not begin an expression.
      [
        "anyOf": [
          .object(type.schema), .object(["type": "string", "pattern": #"(^|[^\x24])\$\{\{"#]),
        ]
      ]
    }
  }

  private static func text(pattern: String, isFilled: Bool = false) -> JSONObject {
    var schema: JSONObject = ["type": scalar]
    if isFilled { schema.add("minLength", 1) }
    schema.add("pattern", .string(pattern))
    schema.add("patternErrorMessage", "an expression is not allowed here")
    return schema
  }

  /// A string that matches a pattern. Editors with VS Code's JSON service show
  /// `patternErrorMessage` instead of the pattern.
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
      // The queue `default` always exists.
      schema.add("propertyNames", ["pattern": .string("^(?!default$)\(name)$")])
    case .variable: schema.add("propertyNames", ["pattern": "^[^=]+$"])
    }
    schema.add("additionalProperties", .object(value.schema))
    return schema
  }

  private static let matrixSchema: JSONObject = {
    let expression = JSONValue.object(ValueType.expression.schema)
    let combinations: JSONValue = [
      "anyOf": [["type": "array", "items": ["type": "object"]], expression]
    ]
    return [
      "type": "object", "properties": ["include": combinations, "exclude": combinations],
      "propertyNames": ["pattern": .string("^\(name)$")],
      "additionalProperties": ["anyOf": [["type": "array"], expression]],
      "minProperties": 1,
      // Something must be left to exclude from.
      "not": ["required": ["exclude"], "maxProperties": 1],
    ]
  }()

  /// The types of a text, which is any scalar that has a value: `run: true` runs the program `true`.
  private static let scalar: JSONValue = ["string", "number", "boolean"]

  private static let noExpression = #"^(?![\s\S]*\$\{\{)"#
  static let file = string(
    matching: noExpression + #"(?!#)[\s\S]*(/[\s\S]*|\.ya?ml)$"#, "the path of a pipeline file")
  static let section = string(matching: "^#\(name)$", "'#' and the name of a pipeline")
  /// The type of `allow_failure` of a step that stands for several.
  static let wholeAllowance = ValueType.either([.boolean, .expression])
  private static let builtIns: JSONObject = [
    "enum": .list(BuiltinStep.all.map { .string($0.name) })
  ]
  private static let name = "[A-Za-z_][A-Za-z0-9_-]{0,127}"
  private static let id = "[A-Za-z_][A-Za-z0-9_.:-]{0,127}"
  private static let idInWords = "a letter or '_', then letters, digits, '_', '-', '.' and ':'"
  private static let nameInWords = "a letter or '_', then letters, digits, '_' and '-'"

  private static func duration(isZeroAllowed: Bool) -> String {
    let condition = isZeroAllowed ? "(?=[0-9])" : "(?=.*[1-9])"
    return "^\(condition)([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?$"
  }
}

extension SharedSchema {
  var schema: JSONObject {
    switch self {
    case .arguments: Self.list(withProgram: #"^([^ ]+|[\s\S]*(/|\$\{\{)[\s\S]*)$"#, rest: .template)
    case .words:
      Self.list(
        withProgram: #"^(?![\s\S]*\$\{\{)([^ ]+|[\s\S]*/[\s\S]*)$"#, rest: .text)
    case .command: ["anyOf": [Self.script, Self.arguments.value]]
    case .shell: ["anyOf": [.object(Self.shellProgram), Self.words.value]]
    case .hook: Self.hookSchema
    case .constant: Self.constantSchema
    }
  }

  /// A list whose first string names a program: a space in it is a mistake unless it is a path.
  private static func list(withProgram pattern: String, rest: ValueType) -> JSONObject {
    [
      "type": "array", "minItems": 1,
      "items": [
        [
          "type": ["string", "number", "boolean"], "pattern": .string(pattern),
          "patternErrorMessage": "must be the name of a program",
        ]
      ],
      "additionalItems": .object(rest.schema),
    ]
  }

  private static let script = JSONValue.object(ValueType.filledTemplate.schema)

  private static let shellProgram: JSONObject = [
    "type": ["string", "number", "boolean"], "pattern": #"^(?![\s\S]*\$\{\{)[^ ]+$"#,
    "patternErrorMessage": "must be one word or a list",
  ]

  /// The schema of a constant. Keywords restrict only values of their own type, so one schema is
  /// enough for every value.
  private static var constantSchema: JSONObject {
    var schema = ValueType.text.schema
    schema.drop("type")
    schema.add("items", constant.value)
    schema.add("additionalProperties", constant.value)
    return schema
  }

  private static var hookSchema: JSONObject {
    let one = [script, arguments.value, .object(ValueType.object(.hook).schema)]
    let several: JSONValue = [
      "type": "array", "items": ["anyOf": .list(one)], "contains": ["type": ["array", "object"]],
    ]
    return ["anyOf": .list(one + [several])]
  }
}

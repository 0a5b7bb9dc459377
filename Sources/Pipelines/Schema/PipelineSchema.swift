// The JSON schema of pipeline files, for editors. It is made from the key tables, so it lists
// exactly the keys of the decoder.

import BuiltinSteps
import Plans

/// The schema as `oprun schema` prints it.
package var pipelineSchema: String {
  var schema: JSONObject = [
    "$schema": "http://json-schema.org/draft-07/schema#",
    "title": "oprun pipeline",
    "description": "A pipeline: steps, and what each of them waits for.",
  ]
  schema.add(ObjectKind.pipeline.schema)
  var definitions = JSONObject()
  for kind in ObjectKind.allCases where kind != .pipeline {
    definitions.add(kind.rawValue, .object(kind.schema))
  }
  for step in BuiltinStep.all { definitions.add(step.definition, .object(step.schema)) }
  for part in SharedSchema.allCases { definitions.add(part.rawValue, .object(part.schema)) }
  schema.add("definitions", .object(definitions))
  return JSONValue.object(schema).text
}

/// The schema of files with tests, as `oprun schema tests` prints it.
package var testSchema: String {
  var schema: JSONObject = [
    "$schema": "http://json-schema.org/draft-07/schema#",
    "title": "oprun tests",
    "description": "Tests of a pipeline: runs that are rehearsed, and their expected results.",
  ]
  schema.add(ObjectKind.testFile.schema)
  var definitions = JSONObject()
  for kind in ObjectKind.ofTests where kind != .testFile {
    definitions.add(kind.rawValue, .object(kind.schema))
  }
  schema.add("definitions", .object(definitions))
  return JSONValue.object(schema).text
}

extension ObjectKind {
  /// The schema of a map with the keys of the table.
  fileprivate var schema: JSONObject {
    var properties = JSONObject()
    for row in rows { properties.add(row.key, .object(row.schema)) }
    var schema: JSONObject = ["type": "object", "properties": .object(properties)]
    if allowsExtensions { schema.add("patternProperties", ["^x-": true]) }
    schema.add("additionalProperties", false)
    let choices = alternatives.filter { name in rows.contains { $0.key == name } }
    let required = rows.filter(\.isRequired).map(\.key) + (choices.count == 1 ? choices : [])
    if !required.isEmpty { schema.add("required", .list(required.map { .string($0) })) }
    if choices.count > 1 {
      schema.add("oneOf", .list(choices.map { ["required": [.string($0)]] }))
    }
    if !companions.isEmpty {
      let needs = companions.map { JSONMember(name: $0.key, value: [.string($0.needs)]) }
      schema.add("dependencies", .object(JSONObject(needs)))
    }
    if let conditional { schema.add(conditional.schema) }
    let rules = rules
    if !rules.isEmpty { schema.add("allOf", .list(rules)) }
    return schema
  }
}

extension ObjectKind {
  /// The rules that depend on the value of a key.
  private var rules: [JSONValue] {
    switch self {
    case .param: ParamModel.rules
    case .step: BuiltinStep.all.map(\.rule) + Self.rulesOfPipelineUses
    case .hook: BuiltinStep.all.map(\.rule)
    case .pipeline, .secret, .queue, .defaults, .dependency, .retry, .stop, .allowFailure, .wait,
      .section, .background, .mutex, .cache, .slurm, .stepSlurm, .testFile, .testCase, .testStub,
      .testExpectation:
      []
    }
  }

  /// The rules for steps that use a pipeline: its own steps specify how they run.
  private static var rulesOfPipelineUses: [JSONValue] {
    let others = StepKey.allCases.filter { !$0.isOfPipelineUse }.map(\.row.key)
    let usesPipeline: JSONValue = [
      "properties": ["uses": ["anyOf": [.object(ValueType.file), .object(ValueType.section)]]],
      "required": ["uses"],
    ]
    var none = JSONObject(others.map { JSONMember(name: $0, value: false) })
    none.add("allow_failure", .object(ValueType.wholeAllowance.schema))
    none.add("background", .object(ValueType.boolean.schema))
    let rule: JSONValue = ["properties": .object(none)]
    let types: JSONValue = ["properties": ["outputs": .object(ValueType.outputTypes.schema)]]
    let noOutputs: JSONValue = ["properties": ["outputs": false]]
    return [
      ["if": usesPipeline, "then": ["allOf": [rule, noOutputs]]],
      ["if": ["required": ["steps"]], "then": rule, "else": types],
    ]
  }
}

extension ConditionalKey {
  fileprivate var schema: JSONObject {
    let isMet = JSONValue.object([
      "properties": .object(JSONObject([JSONMember(name: ifKey, value: ["const": .string(has)])])),
      "required": [.string(ifKey)],
    ])
    let isAbsent = JSONObject([JSONMember(name: key, value: false)])
    return [
      "if": isMet, "then": ["required": [.string(key)]],
      "else": ["properties": .object(isAbsent)],
    ]
  }
}

extension KeyRow {
  fileprivate var schema: JSONObject {
    var schema: JSONObject = ["description": .string(doc)]
    if let value = defaultValue.flatMap(JSONValue.init(yaml:)) { schema.add("default", value) }
    if let value = example.flatMap(JSONValue.init(yaml:)) { schema.add("examples", [value]) }
    let type = type.schema
    // Draft 7 ignores everything next to a reference.
    if type.isReference {
      schema.add("allOf", [.object(type)])
    } else {
      schema.add(type)
    }
    return schema
  }
}

extension JSONObject {
  fileprivate var isReference: Bool { members.contains { $0.name == "$ref" } }
}

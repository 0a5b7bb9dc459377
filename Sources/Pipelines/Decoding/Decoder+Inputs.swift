// Decodes the inputs and outputs of a file: parameters, included files, `.env` files, outputs.

import Diagnostics
import Expressions
import Plans

extension Decoder {
  mutating func decodeInputs(_ fields: Fields<PipelineKey>) {
    model.includes = fields[.include].map { paths($0, PipelineKey.include.row) } ?? []
    model.dotenv = fields[.dotenv].map { paths($0, PipelineKey.dotenv.row) } ?? []
    if let value = fields[.params] { decodeParams(value) }
    if let value = fields[.outputs] { decodeOutputs(value) }
    if let value = fields[.vars] { decodeVars(value) }
  }

  private mutating func paths(_ value: NodeIndex, _ row: KeyRow) -> [Reference] {
    let list = tree.resolve(value)
    guard tree.nodes[list].kind == .list else {
      reportType(value, row)
      return []
    }
    return items(of: list).compactMap { item in
      filledText(item, row.itemRow).map { Reference(name: $0, span: span(tree.resolve(item))) }
    }
  }

  mutating func decodeOutputs(_ value: NodeIndex) {
    let map = tree.resolve(value)
    let row = PipelineKey.outputs.row
    guard tree.nodes[map].kind == .map else { return reportType(value, row) }
    for (name, pair) in pairs(of: map, owner: "in 'outputs'") {
      checkName(name, of: pair, what: "the name of an output")
      if let text = template(pair.value, row.valueRow(name)) {
        model.outputs.append(OutputModel(name: name, span: span(pair.key), value: text))
      }
    }
  }

  private mutating func decodeVars(_ value: NodeIndex) {
    let map = tree.resolve(value)
    guard tree.nodes[map].kind == .map else { return reportUnreadable(value, PipelineKey.vars.row) }
    for (name, pair) in pairs(of: map, owner: "in 'vars'") {
      checkName(name, of: pair, what: "the name of a derived value")
      guard model.vars.count < PipelineModel.maxVarCount else {
        return report(pair.key) { DecodingMessage.tooManyVars(at: $0) }
      }
      if let source = varSource(pair.value) {
        model.vars.append(VarModel(name: name, span: span(pair.key), source: source))
      }
    }
  }

  /// Decodes the source of a value in `vars`; a map with `run` is a command.
  private mutating func varSource(_ value: NodeIndex) -> VarModel.Source? {
    let node = tree.resolve(value)
    guard tree.nodes[node].kind == .map else { return anyValue(value).map { .value($0) } }
    let members = pairs(of: node, owner: "in this map")
    guard let run = members.first(where: { $0.name == "run" }) else {
      return .value(mapValue(members))
    }
    for other in members where other.name != run.name {
      report(other.pair.key) { DecodingMessage.commandAlone(at: $0) }
    }
    return command(run.pair.value, StepKey.run).map { .command($0) }
  }

  // MARK: Params

  private mutating func decodeParams(_ value: NodeIndex) {
    let map = tree.resolve(value)
    guard tree.nodes[map].kind == .map else {
      return reportUnreadable(value, PipelineKey.params.row)
    }
    var variables: [String: Span] = [:]
    for (name, pair) in pairs(of: map, owner: "in 'params'") {
      checkName(name, of: pair, what: "the name of a parameter")
      var param = ParamModel(name: name, span: span(pair.key))
      let node = tree.resolve(pair.value)
      if tree.nodes[node].kind == .map {
        decodeParam(node, into: &param)
      } else {
        decodeBareDefault(
          pair.value, KeyRow(named: name, .either([.constant, .object(.param)])), into: &param)
      }
      if let first = variables.updateValue(param.span, forKey: param.variable) {
        report(pair.key) { DecodingMessage.sameVariable(param.variable, first: first, at: $0) }
      }
      model.params.append(param)
    }
    model.params.keepOneRest(log: &log)
  }

  /// Decodes a default that determines the type, as in `retries: 3`; `row` describes the allowed values.
  private mutating func decodeBareDefault(
    _ value: NodeIndex, _ row: KeyRow, into param: inout ParamModel
  ) {
    guard let constant = constantValue(value, row) else { return }
    switch constant {
    case .bool: param.kind = .bool
    case .number(let number): param.kind = number == number.rounded() ? .int : .number
    case .list: param.kind = .list
    case .string: param.kind = .string
    case .null, .map: return reportType(value, row)
    }
    param.defaultValue = constant
  }

  private mutating func decodeParam(_ map: NodeIndex, into param: inout ParamModel) {
    let name = param.name
    let fields = readFields(of: map, ParamKey.table) { _, _ in "in parameter \(quoted(name))" }
    if let value = fields[.type] {
      param.kind = choice(value, ParamKey.type.row, paramKinds) ?? .string
    } else if let value = fields[.defaultValue] {
      decodeBareDefault(value, ParamKey.defaultValue.row, into: &param)
    }
    param.description = fields[.description].flatMap { text($0, ParamKey.description.row) }
    param.pattern = fields[.pattern].flatMap { pattern($0) }
    param.choices = fields[.choices].flatMap { choices($0, of: param) }
    if fields.holds(.type) || param.defaultValue != nil {
      param.defaultValue = fields[.defaultValue].flatMap { member($0, of: param, "default") }
    }
    let required = fields[.required].flatMap { boolean($0, ParamKey.required.row) }
    if required == true, let value = fields[.defaultValue] {
      report(keyNode(of: value)) { DecodingMessage.defaultOfRequired(at: $0) }
    }
    param.isRequired = required ?? !fields.holds(.defaultValue)
    if let value = fields[.rest] { decodeRest(value, of: &param, isRequired: required) }
    if let value = fields[.defaultValue], let refusal = param.refusal(patterns) {
      report(tree.resolve(value)) { DecodingMessage.badDefault(refusal, at: $0) }
    }
  }

  /// Decodes `rest`. A parameter that takes arguments, is not required and has no default gets an
  /// empty list as its default.
  private mutating func decodeRest(
    _ value: NodeIndex, of param: inout ParamModel, isRequired: Bool?
  ) {
    guard boolean(value, ParamKey.rest.row) == true else { return }
    guard param.kind == .list else {
      let type = param.kind.rawValue
      return report(keyNode(of: value)) { DecodingMessage.restOfOtherType(type, at: $0) }
    }
    param.takesRest = true
    guard isRequired == nil, param.isRequired else { return }
    param.isRequired = false
    param.defaultValue = .list([])
  }

  private mutating func pattern(_ value: NodeIndex) -> RegularExpression? {
    guard log.hasRoom(at: span(value)), let text = filledText(value, ParamKey.pattern.row) else {
      return nil
    }
    do throws(PatternFailure) {
      return try RegularExpression(text, patterns)
    } catch {
      let node = tree.resolve(value)
      log.report(at: error.offset.map { place(ofByte: $0, in: node) } ?? span(node)) {
        DecodingMessage.badPattern(text, error.reason, at: $0)
      }
      return nil
    }
  }

  /// The location of a byte in a string that is written unchanged on one line; otherwise that of
  /// the whole string.
  private func place(ofByte offset: Int, in node: NodeIndex) -> Span {
    guard !tree.nodes[node].isInArena else { return span(node) }
    let place = Int(tree.textSpan(node).start) + offset
    return Span(start: place, end: place + 1)
  }

  /// The maximum number of choices, because each comparison in an expression searches them.
  private static let maxChoiceCount = 1000

  private mutating func choices(_ value: NodeIndex, of param: ParamModel) -> [Value]? {
    let list = tree.resolve(value)
    guard tree.nodes[list].kind == .list else {
      reportType(value, ParamKey.choices.row)
      return nil
    }
    let items = items(of: list)
    if items.isEmpty { report(list) { DecodingMessage.empty("enum", at: $0) } }
    if items.count > Self.maxChoiceCount {
      report(items[Self.maxChoiceCount]) { DecodingMessage.tooManyChoices(at: $0) }
    }
    return items.prefix(Self.maxChoiceCount).compactMap { member($0, of: param, "enum") }
  }

  /// Decodes a value of the parameter's type. If a string is wanted, any scalar is taken as it is written.
  private mutating func member(
    _ value: NodeIndex, of param: ParamModel, _ key: String
  ) -> Value? {
    let row = KeyRow(named: key, param.kind.valueType)
    if param.kind == .string { return text(value, row).map { .string($0) } }
    guard let constant = constantValue(value, row) else { return nil }
    guard param.kind.holds(constant) else {
      reportType(value, row)
      return nil
    }
    return constant
  }
}

private let paramKinds: [String: ParamModel.Kind] = [
  "string": .string, "int": .int, "number": .number, "bool": .bool, "list": .list,
]

extension [ParamModel] {
  /// Reports all but the first of the parameters that take the arguments after `--`, and lets them take none.
  mutating func keepOneRest(log: inout DiagnosticLog) {
    guard let first = firstIndex(where: \.takesRest) else { return }
    for index in indices.dropFirst(first + 1) where self[index].takesRest {
      let place = self[first].span
      log.report(at: self[index].span) {
        DecodingMessage.secondRest(self[index].name, first: place, at: $0)
      }
      self[index].takesRest = false
    }
  }
}

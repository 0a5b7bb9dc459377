// Decodes one step: its id, its command, its dependencies. The parts that only a few steps have are
// decoded elsewhere.

import Diagnostics
import Expressions
import Plans
import Scheduling

/// The keys of the plainest step; steps with others take a slower path.
private let plainKeys =
  Fields<StepKey>.bit(.id) | Fields<StepKey>.bit(.run) | Fields<StepKey>.bit(.dependsOn)

/// The keys about when the step runs.
private let placementKeys =
  Fields<StepKey>.bit(.queue) | Fields<StepKey>.bit(.priority) | Fields<StepKey>.bit(.mutex)
  | Fields<StepKey>.bit(.resources) | Fields<StepKey>.bit(.expected)
  | Fields<StepKey>.bit(.background) | Fields<StepKey>.bit(.executor)

/// The keys of `ControlFlowModel`.
private let controlFlowKeys =
  Fields<StepKey>.bit(.condition) | Fields<StepKey>.bit(.matrix) | Fields<StepKey>.bit(.waitFor)
  | Fields<StepKey>.bit(.maxParallel) | Fields<StepKey>.bit(.failFast)
  | Fields<StepKey>.bit(.background)

/// The keys that are not settings of the command.
private let otherKeys =
  (plainKeys | placementKeys | controlFlowKeys)
  & ~(Fields<StepKey>.bit(.executor) | Fields<StepKey>.bit(.background))
  | Fields<StepKey>.bit(.name) | Fields<StepKey>.bit(.uses) | Fields<StepKey>.bit(.with)
  | Fields<StepKey>.bit(.steps) | Fields<StepKey>.bit(.sequence)
  | Fields<StepKey>.bit(.manual) | Fields<StepKey>.bit(.description)

extension Decoder {
  mutating func decodeStep(_ item: NodeIndex) {
    let node = tree.resolve(item)
    guard tree.nodes[node].kind == .map else {
      let found = found(node)
      let isText = tree.nodes[node].isScalar && !isNull(node)
      if isText, let (colon, key) = missingSpace(node) {
        return log.report(at: colon) { DecodingMessage.missingSpace(after: key, at: $0) }
      }
      let help = isText ? DecodingMessage.stepOfText(tree.string(node)) : nil
      report(item) {
        DecodingMessage.wrongType(
          WantedValue(key: "steps", words: "a list of maps"), found: found, at: $0, help: help)
      }
      return
    }
    guard model.steps.count + otherStepCount < PipelineModel.maxStepCount else {
      return report(item) { DecodingMessage.tooManySteps(at: $0) }
    }
    let fields = readFields(of: node, StepKey.table) { $0.owner(of: $1) }
    defer { roomForFields = fields.nodes }
    reportMissing(in: fields)
    var step = StepModel(
      id: WrittenText(identify(fields)), action: action(from: fields),
      firstDependency: Int32(truncatingIfNeeded: model.dependencies.count))
    if let list = fields[.dependsOn] { decodeDependencies(list) }
    if fields.holdsMore(than: plainKeys) {
      step.attributes = Int32(truncatingIfNeeded: model.attributes.count)
      if model.attributes.isEmpty { model.attributes.reserveCapacity(roomForSome) }
      model.attributes.append(attributes(from: fields))
    }
    model.steps.append(step)
  }

  /// The colon after the key at the start of a text, if no space follows it, as in `id:build`.
  private func missingSpace(_ node: NodeIndex) -> (colon: Span, key: String)? {
    guard tree.nodes[node].kind == .plain else { return nil }
    let text = tree.string(node).utf8
    let key = String(Substring(text.prefix { $0 != UInt8(ascii: ":") }))
    let value = text.dropFirst(key.utf8.count + 1)
    guard StepKey.table.rows.contains(where: { $0.key == key }), !value.isEmpty else { return nil }
    let colon = Int(span(node).start) + key.utf8.count
    return (Span(start: colon, end: colon + 1), key)
  }

  /// The step as messages refer to it: by its id if it has one.
  func owner(of fields: Fields<StepKey>) -> String {
    guard let id = fields[.id], tree.nodes[tree.resolve(id)].isScalar else { return "in a step" }
    return "in step \(quoted(tree.string(tree.resolve(id))))"
  }

  private mutating func reportMissing(in fields: Fields<StepKey>) {
    let hasAction = fields.holds(.run) || fields.holds(.uses) || fields.holds(.steps)
    if hasAction, fields.holds(.id) {
      if fields.isWritten(.steps), let other = fields[.run] ?? fields[.uses] {
        report(keyNode(of: other)) { DecodingMessage.stepsAndMore(at: $0) }
      } else if fields.isWritten(.uses), let run = fields[.run] {
        report(keyNode(of: run)) { DecodingMessage.runAndUses(at: $0) }
      }
      return
    }
    let missing = (fields.holds(.id) ? [] : ["id"]) + (hasAction ? [] : ["run"])
    let owner = owner(of: fields)
    let isGathering = missing == ["run"] && fields.holds(.dependsOn)
    log.report(at: firstKeySpan(of: fields.map)) {
      DecodingMessage.missing(
        missing, owner, at: $0,
        help: isGathering
          ? DecodingMessage.noCommand
          : !hasAction
            ? DecodingMessage.actions : fields.holds(.name) ? DecodingMessage.idBesideName : nil)
    }
  }

  /// The location to report when something is missing: the first key of a map, or the map itself if
  /// it is empty.
  func firstKeySpan(of map: NodeIndex) -> Span {
    tree.next(after: map) > map + 1 ? span(map + 1) : span(map)
  }

  /// The location of the step's id; an empty span if there is none.
  private mutating func identify(_ fields: Fields<StepKey>) -> Span {
    guard let value = fields[.id], let node = scalar(value, StepKey.id.row) else {
      let start = Int(firstKeySpan(of: fields.map).start)
      return Span(start: start, end: start)
    }
    if !tree.withBytes(of: node, isStepID) {
      let id = tree.string(node)
      report(node) { DecodingMessage.badStepID(id, at: $0) }
    } else if tree.nodes[node].isInArena {
      report(node) { DecodingMessage.escapedID(at: $0) }
    }
    return tree.textSpan(node)
  }

  /// Decodes `run`. Most scripts appear in the file unchanged, and stay there for now.
  private mutating func run(_ value: NodeIndex) -> ActionModel {
    let node = tree.nodes[value]
    if node.isScalar, !node.isInArena, !node.hasExpression, !isNull(value) {
      let span = tree.textSpan(value)
      if span.start < span.end {
        return .written(start: span.start, byteCount: span.end - span.start)
      }
    }
    guard let action = command(value, StepKey.run) else { return .none }
    if model.actions.isEmpty { model.actions.reserveCapacity(roomForSome) }
    model.actions.append(action)
    return .kept(Int32(truncatingIfNeeded: model.actions.count - 1))
  }

  private mutating func action(from fields: Fields<StepKey>) -> ActionModel {
    if let value = fields[.steps] { return group(value, fields) }
    if let value = fields[.sequence], !fields.holds(.steps) {
      report(keyNode(of: value)) { DecodingMessage.needsSteps(StepKey.sequence.row.key, at: $0) }
    }
    if let value = fields[.uses] {
      guard let uses = uses(value, with: fields[.with], StepKey.uses.row) else { return .none }
      if uses.kind.isPipeline { refuseCommandKeys(fields) }
      model.uses.append(uses)
      return .uses(Int32(truncatingIfNeeded: model.uses.count - 1))
    }
    if let with = fields[.with], fields.holds(.run) {
      report(keyNode(of: with)) { DecodingMessage.withWithoutUses(at: $0) }
    }
    return fields[.run].map { run($0) } ?? .none
  }

  /// Refuses settings of commands in a step that uses a pipeline, whose steps have their own.
  mutating func refuseCommandKeys(_ fields: Fields<StepKey>) {
    for key in StepKey.allCases where !key.isOfPipelineUse {
      if let value = fields[key] {
        let isGroup = fields.holds(.steps)
        report(keyNode(of: value)) {
          DecodingMessage.notOfPipelineUse(key.row.key, isGroup: isGroup, at: $0)
        }
      }
    }
    if !fields.holds(.steps), let value = fields[.outputs] {
      report(keyNode(of: value)) {
        DecodingMessage.notOfPipelineUse(StepKey.outputs.row.key, isGroup: false, at: $0)
      }
    }
    if let value = fields[.allowFailure], tree.nodes[tree.resolve(value)].kind == .map {
      report(value) { DecodingMessage.noStatusOfItsOwn(at: $0) }
    }
    if let value = fields[.background], tree.nodes[tree.resolve(value)].kind == .map {
      let isGroup = fields.holds(.steps)
      report(value) { DecodingMessage.readyByItsSteps(isGroup: isGroup, at: $0) }
    }
  }

  private mutating func attributes(from fields: Fields<StepKey>) -> AttributesModel {
    let isManual = fields[.manual].flatMap { boolean($0, StepKey.manual.row) } ?? false
    if isManual { model.hasManualSteps = true }
    return AttributesModel(
      label: fields[.name].flatMap { filledTemplate($0, StepKey.name.row) },
      isManual: isManual, description: fields[.description].map { description($0) } ?? -1,
      settings: fields.holdsMore(than: otherKeys)
        ? number(of: settings(from: fields), in: fields.map) : -1,
      placement: fields.holdsMore(than: ~placementKeys) ? number(of: placement(from: fields)) : -1,
      controlFlow: fields.holdsMore(than: ~controlFlowKeys)
        ? number(of: controlFlow(from: fields)) : -1)
  }

  private mutating func description(_ value: NodeIndex) -> Int32 {
    guard let text = filledText(value, StepKey.description.row) else { return -1 }
    model.descriptions.append(text)
    return Int32(truncatingIfNeeded: model.descriptions.count - 1)
  }

  private mutating func number(of settings: [Setting], in map: NodeIndex) -> Int32 {
    guard !settings.isEmpty else { return -1 }
    let hash = settings.hashValue
    // Strings of different bytes can be equal, in different Unicode normalization forms.
    if let number = settingsNumbers[hash], model.settings[Int(number)] == settings,
      tree.isASCII(map)
    {
      return number
    }
    let number = Int32(truncatingIfNeeded: model.settings.count)
    settingsNumbers[hash] = number
    if model.settings.isEmpty { model.settings.reserveCapacity(roomForSome) }
    model.settings.append(settings)
    return number
  }

  private mutating func number(of placement: PlacementModel) -> Int32 {
    guard !placement.isEmpty else { return -1 }
    model.placements.append(placement)
    return Int32(truncatingIfNeeded: model.placements.count - 1)
  }

  private mutating func number(of controlFlow: ControlFlowModel) -> Int32 {
    guard !controlFlow.isEmpty else { return -1 }
    model.controlFlows.append(controlFlow)
    return Int32(truncatingIfNeeded: model.controlFlows.count - 1)
  }
}

// Decodes the dependencies of a step.
extension Decoder {
  private mutating func decodeDependencies(_ value: NodeIndex) {
    let list = tree.resolve(value)
    guard tree.nodes[list].kind == .list else {
      return reportDependencyList(list)
    }
    var item = list + 1
    let end = tree.next(after: list)
    while item < end {
      decodeDependency(item)
      item = tree.next(after: item)
    }
  }

  private mutating func reportDependencyList(_ node: NodeIndex) {
    let isName = tree.nodes[node].isScalar && !isNull(node)
    let help = isName ? "write a list: [\(printable(tree.string(node)))]" : nil
    reportType(node, StepKey.dependsOn.row, help: help)
  }

  private mutating func decodeDependency(_ item: NodeIndex) {
    let node = tree.resolve(item)
    switch tree.nodes[node].kind {
    case .map: decodeDependencyMap(node)
    case .list, .alias: reportType(node, StepKey.dependsOn.row)
    case .plain, .quoted, .block:
      if isNull(node) { return reportType(node, StepKey.dependsOn.row) }
      if tree.nodes[node].hasExpression {
        return reportExpression(node, StepKey.dependsOn.row)
      }
      append(node, condition: .ok, .implicit)
    }
  }

  private mutating func decodeDependencyMap(_ map: NodeIndex) {
    let fields = readFields(of: map, DependencyKey.table) { _, _ in "in 'depends_on'" }
    let condition = fields[.when].flatMap { choice($0, DependencyKey.when.row, edgeConditions) }
    let isOptional = fields[.optional].flatMap { boolean($0, DependencyKey.optional.row) }
    guard fields.holds(.step) else {
      log.report(at: firstKeySpan(of: map)) {
        DecodingMessage.missing(["step"], "in 'depends_on'", at: $0)
      }
      return
    }
    guard let step = fields[.step], let node = scalar(step, DependencyKey.step.row) else { return }
    var traits: DependencyModel.Traits = []
    if isOptional == true { traits.insert(.optional) }
    if condition == nil { traits.insert(.implicit) }
    if let value = fields[.match], choice(value, DependencyKey.match.row, ["matrix": true]) != nil {
      traits.insert(.matched)
    }
    append(node, condition: condition ?? .ok, traits)
  }

  private mutating func append(
    _ node: NodeIndex, condition: EdgeCondition, _ traits: DependencyModel.Traits
  ) {
    guard model.dependencies.count + otherDependencyCount < PipelineModel.maxDependencyCount else {
      return report(node) { DecodingMessage.tooManyDependencies(at: $0) }
    }
    if tree.nodes[node].isInArena {
      return report(node) { DecodingMessage.escapedID(at: $0) }
    }
    model.dependencies.append(
      DependencyModel(
        step: WrittenText(tree.textSpan(node)), condition: condition, traits: traits))
  }
}

private let edgeConditions: [String: EdgeCondition] = [
  "ok": .ok, "succeeded": .succeeded, "failed": .failed, "done": .done, "ready": .ready,
]

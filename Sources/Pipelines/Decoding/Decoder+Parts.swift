// Pipelines inside a file: the steps of a step, and those that `pipelines` names. Each becomes a
// model of its own.

import Diagnostics
import Plans

extension Decoder {
  /// Decodes `steps` of a step.
  mutating func group(_ value: NodeIndex, _ fields: Fields<StepKey>) -> ActionModel {
    let list = tree.resolve(value)
    guard tree.nodes[list].kind == .list else {
      reportType(value, StepKey.steps.row)
      return .none
    }
    refuseCommandKeys(fields)
    if let with = fields[.with] {
      report(keyNode(of: with)) { DecodingMessage.withWithoutUses(at: $0) }
    }
    let items = items(of: list)
    if items.isEmpty { report(list) { DecodingMessage.empty("steps", at: $0) } }
    let isSequence = fields[.sequence].flatMap { boolean($0, StepKey.sequence.row) }
    let part = part(at: value) { decoder in
      for item in items { decoder.decodeStep(item) }
      decoder.model.sequence = isSequence
      if let value = fields[.outputs] { decoder.decodeOutputs(value) }
    }
    guard let part else { return .none }
    model.groups.append(part)
    model.uses.append(
      UsesModel(
        kind: .group, span: span(keyNode(of: value)), with: [], model: model.groups.count - 1))
    return .uses(Int32(truncatingIfNeeded: model.uses.count - 1))
  }

  /// Decodes `pipelines` at top level.
  mutating func decodeSections(_ value: NodeIndex) {
    let map = tree.resolve(value)
    guard tree.nodes[map].kind == .map else {
      return reportType(value, PipelineKey.pipelines.row)
    }
    for (name, pair) in pairs(of: map, owner: "in 'pipelines'") {
      checkName(name, of: pair, what: "the name of a pipeline")
      let node = tree.resolve(pair.value)
      guard tree.nodes[node].kind == .map else {
        reportType(pair.value, KeyRow(named: name, .object(.section)))
        continue
      }
      let part = part(at: pair.key) { $0.decodeSection(node, owner: "in pipeline \(quoted(name))") }
      guard let part else { return }
      model.sections.append(SectionModel(name: name, span: span(pair.key), model: part))
    }
  }

  private mutating func decodeSection(_ map: NodeIndex, owner: String) {
    let fields = readFields(of: map, PipelineKey.table) { _, _ in owner }
    checkExtensions(of: map)
    for key in PipelineKey.allCases where !key.isOfSection {
      if let value = fields[key] {
        report(keyNode(of: value)) { DecodingMessage.notOfSection(key.row.key, at: $0) }
      }
    }
    decodeSteps(fields, readSteps: nil, owner: owner, isOptional: false)
    decodeLabels(fields)
    decodeInputs(fields)
    decodeScheduling(fields)
    decodeCommands(fields)
    if let value = fields[.defaults] { decodeDefaults(value) }
  }

  /// The model that `body` decodes; nil if there are too many.
  private mutating func part(
    at place: NodeIndex, _ body: (inout Decoder) -> Void
  ) -> PipelineModel? {
    guard partCount < Planner.maxPipelineCount else {
      report(place) { DecodingMessage.tooManyParts(at: $0) }
      return nil
    }
    partCount += 1
    var part = PipelineModel()
    var numbers: [Int: Int32] = [:]
    otherStepCount += model.steps.count
    otherDependencyCount += model.dependencies.count
    swap(&part, &model)
    swap(&numbers, &settingsNumbers)
    body(&self)
    swap(&part, &model)
    swap(&numbers, &settingsNumbers)
    otherStepCount += part.steps.count - model.steps.count
    otherDependencyCount += part.dependencies.count - model.dependencies.count
    return part
  }
}

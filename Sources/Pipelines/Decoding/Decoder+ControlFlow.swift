// Decodes the parts that only a few steps have: a condition, a matrix, conditions to wait for.

import Diagnostics
import Expressions
import Plans
import Scheduling

extension Decoder {
  mutating func controlFlow(from fields: Fields<StepKey>) -> ControlFlowModel {
    let controlFlow = ControlFlowModel(
      condition: fields[.condition].flatMap { condition($0, StepKey.condition.row) },
      matrix: fields[.matrix].flatMap { matrix($0, fields) },
      probes: fields[.waitFor].map { probes($0, StepKey.waitFor.row) } ?? [],
      readiness: fields[.background].map { readiness($0) } ?? [])
    if !fields.holds(.matrix) {
      for key in [StepKey.maxParallel, .failFast] {
        if let value = fields[key] {
          report(keyNode(of: value)) { DecodingMessage.needsMatrix(key.row.key, at: $0) }
        }
      }
    }
    return controlFlow
  }

  private mutating func matrix(_ value: NodeIndex, _ fields: Fields<StepKey>) -> MatrixModel? {
    let map = tree.resolve(value)
    guard tree.nodes[map].kind == .map else {
      reportType(value, StepKey.matrix.row)
      return nil
    }
    var matrix = MatrixModel(span: span(keyNode(of: value)))
    let members = pairs(of: map, owner: "in 'matrix'")
    for (name, pair) in members {
      switch name {
      case "include": matrix.included = combinations(pair.value, name)
      case "exclude": matrix.excluded = combinations(pair.value, name)
      default:
        checkName(name, of: pair, what: "the name of an axis")
        if let axis = axis(name, pair) { matrix.axes.append(axis) }
      }
    }
    checkExcluded(&matrix, members.map(\.name).filter { $0 != "include" && $0 != "exclude" })
    if matrix.axes.isEmpty, matrix.included == nil, log.isEmpty {
      report(map) { DecodingMessage.empty("matrix", at: $0) }
    }
    if let value = fields[.maxParallel] {
      if holdsExpression(value) {
        matrix.earlyMaxParallel = early(value, .instances)?.template
      } else {
        matrix.maxParallel = integer(value, StepKey.maxParallel.row, in: 1...1_000_000)
      }
    }
    matrix.isFailFast =
      fields[.failFast].flatMap { boolean($0, StepKey.failFast.row) } ?? false
    matrix.findWrittenNames()
    return matrix
  }

  private mutating func axis(_ name: String, _ pair: Pair) -> AxisModel? {
    let row = KeyRow(named: name, .either([.list(.anything), .expression]))
    let node = tree.resolve(pair.value)
    let isExpression = tree.nodes[node].isScalar && tree.nodes[node].hasExpression
    guard isExpression || tree.nodes[node].kind == .list else {
      reportType(pair.value, row)
      // A single value was meant as a list of it; without the axis, its instances would be reported
      // as unknown.
      guard tree.nodes[node].isScalar, !isNull(node) else { return nil }
      return anyValue(node).map {
        AxisModel(name: name, span: span(pair.key), values: .list([$0]))
      }
    }
    guard let values = anyValue(pair.value) else { return nil }
    if case .template(let template) = values, template.single == nil {
      report(node) { DecodingMessage.textForList(name, at: $0) }
      return nil
    }
    return AxisModel(name: name, span: span(pair.key), values: values)
  }

  /// Decodes a list of maps, or an expression that evaluates to one.
  private mutating func combinations(_ value: NodeIndex, _ key: String) -> ValueModel? {
    let row = KeyRow(named: key, .either([.list(.map(.anything)), .expression]))
    let node = tree.resolve(value)
    if tree.nodes[node].isScalar, tree.nodes[node].hasExpression { return anyValue(value) }
    guard tree.nodes[node].kind == .list else {
      reportType(value, row)
      return tree.nodes[node].kind == .map ? anyValue(node).map { .list([$0]) } : nil
    }
    for item in items(of: node) where tree.nodes[tree.resolve(item)].kind != .map {
      reportType(item, KeyRow(named: key, .list(.map(.anything))))
      return nil
    }
    return anyValue(value)
  }

  /// Reports names in `exclude` that are not axes of the matrix, which no combination has. `axes`
  /// are all written names. Only entries with valid axes are kept.
  private mutating func checkExcluded(_ matrix: inout MatrixModel, _ axes: [String]) {
    guard case .list(var entries)? = matrix.excluded else { return }
    // An empty matrix is reported elsewhere.
    if axes.isEmpty, matrix.included == nil { return matrix.excluded = nil }
    let written = Set(axes)
    let valid = Set(matrix.axes.map(\.name))
    entries.removeAll { entry in
      guard case .map(let members) = entry else { return false }
      for member in members where !written.contains(member.name) {
        log.report(at: member.span) {
          DecodingMessage.excludedNoAxis(member.name, axes: axes, at: $0)
        }
      }
      return !members.allSatisfy { valid.contains($0.name) }
    }
    matrix.excluded = .list(entries)
  }

  // MARK: Waits

  /// Decodes the conditions of `background`. A value that is not a map is decoded with the placement.
  private mutating func readiness(_ value: NodeIndex) -> [ProbeModel] {
    let map = tree.resolve(value)
    guard tree.nodes[map].kind == .map else { return [] }
    let fields = readFields(of: map, BackgroundKey.table) { _, _ in "in 'background'" }
    guard let conditions = fields[.ready] else {
      log.report(at: firstKeySpan(of: map)) {
        DecodingMessage.missing(["ready"], "in 'background'", at: $0)
      }
      return []
    }
    return probes(conditions, BackgroundKey.ready.row)
  }

  private mutating func probes(_ value: NodeIndex, _ row: KeyRow) -> [ProbeModel] {
    let list = tree.resolve(value)
    guard tree.nodes[list].kind == .list else {
      reportType(value, row)
      return []
    }
    return items(of: list).compactMap { probe($0, row) }
  }

  private mutating func probe(_ item: NodeIndex, _ row: KeyRow) -> ProbeModel? {
    let map = tree.resolve(item)
    guard tree.nodes[map].kind == .map else {
      reportType(item, row)
      return nil
    }
    let fields = readFields(of: map, WaitKey.table) { _, _ in "in '\(row.key)'" }
    let present = WaitKey.kinds.filter { fields.holds($0) }
    guard let key = present.first, let kind = key.kind, present.count == 1 else {
      log.report(at: firstKeySpan(of: map)) { DecodingMessage.oneWait(at: $0) }
      return nil
    }
    let every = fields[.every].flatMap { duration($0, WaitKey.every.row) }
    let timeout = fields[.timeout].flatMap { duration($0, WaitKey.timeout.row) }
    guard let value = fields[key] else { return nil }
    let target =
      kind == .command
      ? command(value, key) : filledTemplate(value, key.row).map { .script($0) }
    if case .script(.plain(let text))? = target, let wanted = kind.wanted(insteadOf: text) {
      log.report(at: span(value)) {
        DecodingMessage.badCondition(
          key.row.key, wanted: wanted, found: kind.shown(text), at: $0)
      }
    }
    return target.map {
      ProbeModel(
        kind: kind, target: $0, every: every ?? ProbeModel.defaultInterval, timeout: timeout)
    }
  }
}

// Decodes how and when a step runs, as it or `defaults` specifies.

import Diagnostics
import Plans
import Scheduling

extension Decoder {
  /// The settings that are written, in the order of the table.
  mutating func settings(from fields: Fields<StepKey>) -> [Setting] {
    var settings = commandSettings(from: fields)
    let timeout = fields[.timeout].flatMap { timeoutSetting($0) }
    let retry = fields[.retry].map { retrySettings($0) } ?? []
    let allowFailure = fields[.allowFailure].flatMap { allowFailureSetting($0) }
    let stop = fields[.stop].flatMap { self.stop($0) }
    let jobserver = fields[.jobserver].flatMap { boolean($0, StepKey.jobserver.row) }
    let orphans = fields[.orphans].flatMap { choice($0, StepKey.orphans.row, orphanActions) }
    if let timeout { settings.append(timeout) }
    settings += retry
    if let allowFailure { settings.append(allowFailure) }
    if let stop { settings.append(.stop(stop)) }
    if let orphans { settings.append(.orphans(orphans)) }
    if let jobserver { settings.append(.jobserver(jobserver)) }
    settings += slurmSettings(from: fields)
    if !fields.holds(.steps), let value = fields[.outputs], let outputs = outputs(value) {
      settings.append(.outputs(outputs))
    }
    if let value = fields[.cache], let cache = cache(value, fields) {
      settings.append(.cache(cache))
    }
    for kind in HookKind.allCases {
      let key = kind.stepKey
      if let value = fields[key], let commands = hook(value, key) {
        settings.append(.hook(kind, commands))
      }
    }
    return settings
  }

  private mutating func timeoutSetting(_ value: NodeIndex) -> Setting? {
    holdsExpression(value)
      ? early(value, .timeout).map { Setting.early($0) }
      : duration(value, StepKey.timeout.row).map { Setting.timeout($0) }
  }

  /// Decodes `retry`. The number of extra attempts may be an expression, alone and in the map.
  private mutating func retrySettings(_ value: NodeIndex) -> [Setting] {
    guard let (policy, limit) = retry(value) else { return [] }
    return [.retry(policy)] + (limit.map { [.early($0)] } ?? [])
  }

  private mutating func commandSettings(from fields: Fields<StepKey>) -> [Setting] {
    var settings: [Setting] = []
    let variables = fields[.env].flatMap { environment($0, StepKey.env.row) }
    let path = fields[.workingDir].flatMap { filledTemplate($0, StepKey.workingDir.row) }
    let shell = fields[.shell].flatMap { self.shell($0, StepKey.shell) }
    let input = fields[.stdin].flatMap { template($0, StepKey.stdin.row) }
    let limit = fields[.logLimit].flatMap { size($0, StepKey.logLimit.row) }
    let nice = fields[.nice].flatMap { integer($0, StepKey.nice.row, in: -20...19) }
    let tty = fields[.tty].flatMap { boolean($0, StepKey.tty.row) }
    if let variables { settings.append(.environment(variables)) }
    if let path { settings.append(.workingDirectory(path)) }
    if let shell { settings.append(.shell(shell)) }
    if let input { settings.append(.standardInput(input)) }
    if let limit { settings.append(.logLimit(limit)) }
    if let nice { settings.append(.nice(Int32(nice))) }
    if let tty { settings.append(.tty(tty)) }
    let untrusted = fields[.untrustedOutput].flatMap { boolean($0, StepKey.untrustedOutput.row) }
    if let untrusted { settings.append(.untrustedOutput(untrusted)) }
    return settings
  }

  mutating func placement(from fields: Fields<StepKey>) -> PlacementModel {
    var placement = PlacementModel()
    func known(_ key: StepKey, _ early: EarlyValue.Key) -> NodeIndex? {
      guard let value = fields[key], holdsExpression(value) else { return fields[key] }
      placement.early += [self.early(value, early)].compactMap(\.self)
      return nil
    }
    placement.queue = known(.queue, .queue).flatMap { reference($0, StepKey.queue.row) }
    placement.priority = known(.priority, .priority).flatMap { priority($0) }
    if let value = fields[.mutex] { (placement.mutex, placement.isMutexOfHost) = mutex(value) }
    placement.claims = fields[.resources].flatMap { claims($0, &placement.early) }
    placement.expected = known(.expected, .expected).flatMap { duration($0, StepKey.expected.row) }
    placement.isService = fields[.background].map { isService($0) } ?? false
    placement.executor = chosenExecutor(fields)
    return placement
  }

  /// The name of a mutex, and whether it is shared with other runs.
  private mutating func mutex(_ value: NodeIndex) -> (name: Text?, isOfHost: Bool) {
    let map = tree.resolve(value)
    guard tree.nodes[map].kind == .map else {
      return (filledTemplate(value, StepKey.mutex.row), false)
    }
    let fields = readFields(of: map, MutexKey.table) { _, _ in "in 'mutex'" }
    let isOfHost =
      fields[.scope].flatMap { choice($0, MutexKey.scope.row, ["run": false, "host": true]) }
    guard let name = fields[.name] else {
      log.report(at: firstKeySpan(of: map)) {
        DecodingMessage.missing(["name"], "in 'mutex'", at: $0)
      }
      return (nil, false)
    }
    return (filledTemplate(name, MutexKey.name.row), isOfHost ?? false)
  }

  /// Decodes `background`; the conditions in its map are decoded with the other ones to wait for.
  private mutating func isService(_ value: NodeIndex) -> Bool {
    if tree.nodes[tree.resolve(value)].kind == .map { return true }
    return boolean(value, StepKey.background.row) ?? false
  }

  /// Decodes one map of variables, or several that are merged in their order.
  mutating func environment(_ value: NodeIndex, _ row: KeyRow) -> [VariableModel]? {
    let isList = tree.nodes[tree.resolve(value)].kind == .list
    return isList ? writtenEnvironment(value, row).map(lastValues) : variables(value, row)
  }

  /// Decodes variables with every value of a name, because a value can use the earlier ones.
  mutating func writtenEnvironment(_ value: NodeIndex, _ row: KeyRow) -> [VariableModel]? {
    let node = tree.resolve(value)
    guard tree.nodes[node].kind == .list else { return variables(value, row) }
    return items(of: node).flatMap { variables($0, row.itemRow) ?? [] }
  }

  /// Decodes names with texts. A number or boolean without quotes is taken as it is written.
  private mutating func variables(_ value: NodeIndex, _ row: KeyRow) -> [VariableModel]? {
    let map = tree.resolve(value)
    guard tree.nodes[map].kind == .map else {
      reportType(value, row)
      return nil
    }
    return pairs(of: map, owner: "in 'env'").compactMap { name, pair in
      guard !name.isEmpty, !name.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: "=") })
      else {
        report(pair.key) { DecodingMessage.badVariable(name, at: $0) }
        return nil
      }
      return template(pair.value, row.valueRow(name)).map {
        VariableModel(name: name, span: span(pair.key), value: $0)
      }
    }
  }

  private mutating func reference(_ value: NodeIndex, _ row: KeyRow) -> Reference? {
    scalar(value, row).map { Reference(name: tree.string($0), span: span($0)) }
  }

  private mutating func priority(_ value: NodeIndex) -> Int16? {
    let row = StepKey.priority.row
    guard let node = scalar(value, row) else { return nil }
    if let number = plainInteger(node) {
      return integer(value, row, in: -1000...1000).map { _ in Int16(number) }
    }
    return choice(value, row, Self.priorities)
  }

  private mutating func claims(
    _ value: NodeIndex, _ earlyValues: inout [EarlyValue]
  ) -> [ClaimModel]? {
    let row = StepKey.resources.row
    let map = tree.resolve(value)
    guard tree.nodes[map].kind == .map else {
      reportType(value, row)
      return nil
    }
    return pairs(of: map, owner: "in 'resources'").compactMap { name, pair in
      if holdsExpression(pair.value) {
        if let early = self.early(pair.value, .amount(name)) { earlyValues.append(early) }
        return nil
      }
      return quantity(pair.value, row.valueRow(name)).map {
        ClaimModel(
          resource: Reference(name: name, span: span(pair.key)), amount: $0,
          amountSpan: span(pair.value))
      }
    }
  }
}

extension KeyRow {
  /// The row for a value in a map with free names.
  func valueRow(_ name: String) -> KeyRow {
    type.mapValueType.map { KeyRow(named: name, $0) } ?? self
  }
}

extension PlacementModel {
  var isEmpty: Bool {
    queue == nil && priority == nil && mutex == nil && claims == nil && expected == nil
      && early.isEmpty && !isService && executor == nil
  }
}

/// The last value of each name, in the position of the first.
private func lastValues(_ variables: [VariableModel]) -> [VariableModel] {
  var result: [VariableModel] = []
  var places: [String: Int] = [:]
  for variable in variables {
    if let place = places[variable.name] {
      result[place] = variable
    } else {
      places[variable.name] = result.count
      result.append(variable)
    }
  }
  return result
}

extension Decoder {
  static let priorities: [String: Int16] = [
    "very_low": -8, "low": -4, "normal": 0, "high": 4, "very_high": 8,
  ]
}

private let orphanActions: [String: OrphanAction] = [
  "kill": .kill, "warn": .warn, "allow": .allow,
]

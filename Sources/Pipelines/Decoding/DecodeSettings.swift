// What a step, or `defaults`, says about how and when it runs.

import Diagnostics
import Scheduling

extension Decoder {
  mutating func settings(from fields: Fields<StepKey>) -> SettingsModel {
    var settings = SettingsModel()
    settings.name = fields[.name].flatMap { filledText($0, StepKey.name.row) }
    settings.environment = fields[.env].flatMap { environment($0, StepKey.env.row) }
    settings.workingDirectory = fields[.workingDir].flatMap {
      filledText($0, StepKey.workingDir.row)
    }
    settings.shell = fields[.shell].flatMap { shell($0, StepKey.shell) }
    settings.standardInput = fields[.stdin].flatMap { text($0, StepKey.stdin.row) }
    settings.timeout = fields[.timeout].flatMap { duration($0, StepKey.timeout.row) }
    settings.retry = fields[.retry].flatMap { retry($0) }
    settings.allowFailure = fields[.allowFailure].flatMap { allowFailure($0) }
    settings.stop = fields[.stop].flatMap { stop($0) }
    settings.logLimit = fields[.logLimit].flatMap { size($0, StepKey.logLimit.row) }
    settings.nice = fields[.nice].flatMap {
      integer($0, StepKey.nice.row, in: -20...19).map { Int32($0) }
    }
    settings.orphans = fields[.orphans].flatMap { choice($0, StepKey.orphans.row, orphanActions) }
    settings.onSuccess = fields[.onSuccess].flatMap { hook($0, StepKey.onSuccess) }
    settings.onFailure = fields[.onFailure].flatMap { hook($0, StepKey.onFailure) }
    settings.onCancel = fields[.onCancel].flatMap { hook($0, StepKey.onCancel) }
    settings.onComplete = fields[.onComplete].flatMap { hook($0, StepKey.onComplete) }
    return settings
  }

  mutating func placement(from fields: Fields<StepKey>) -> PlacementModel {
    var placement = PlacementModel()
    placement.queue = fields[.queue].flatMap { reference($0, StepKey.queue.row) }
    placement.priority = fields[.priority].flatMap { priority($0) }
    placement.mutex = fields[.mutex].flatMap { filledText($0, StepKey.mutex.row) }
    placement.claims = fields[.resources].flatMap { claims($0) }
    placement.expected = fields[.expected].flatMap { duration($0, StepKey.expected.row) }
    return placement
  }

  /// Names with texts. A number or boolean without quotes is taken as it is written.
  mutating func environment(_ value: NodeIndex, _ row: KeyRow) -> [EnvironmentVariable]? {
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
      return text(pair.value, row.valueRow(name)).map {
        EnvironmentVariable(name: name, value: $0)
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
    return choice(value, row, priorities)
  }

  private mutating func claims(_ value: NodeIndex) -> [ClaimModel]? {
    let row = StepKey.resources.row
    let map = tree.resolve(value)
    guard tree.nodes[map].kind == .map else {
      reportType(value, row)
      return nil
    }
    return pairs(of: map, owner: "in 'resources'").compactMap { name, pair in
      amount(pair.value, row.valueRow(name)).map {
        ClaimModel(
          resource: Reference(name: name, span: span(pair.key)), amount: $0,
          amountSpan: span(pair.value))
      }
    }
  }
}

extension KeyRow {
  /// The row of one value in a map with free names.
  func valueRow(_ name: String) -> KeyRow {
    guard case .map(let value) = type else { return self }
    return KeyRow(named: name, value)
  }
}

extension PlacementModel {
  var isEmpty: Bool {
    queue == nil && priority == nil && mutex == nil && claims == nil && expected == nil
  }
}

private let priorities: [String: Int16] = [
  "very_low": -8, "low": -4, "normal": 0, "high": 4, "very_high": 8,
]

private let orphanActions: [String: OrphanAction] = [
  "kill": .kill, "warn": .warn, "allow": .allow,
]

// Decodes the settings of a file or a step for jobs in Slurm.

import Diagnostics
import Plans
import Scheduling

/// The settings in `slurm`; nil for those that are not written.
struct SlurmModel: Hashable {
  var mode: SlurmPlan.Mode?
  var partition: String?
  var account: String?
  var qos: String?
  var reservation: String?
  var constraint: String?
  var extra: [String]?
  var onNodeFailure: SlurmRequest.NodeFailure?
  var infrastructureRetries: Int?
  var maxQueued: Int?
  var submitInterval: Nanoseconds?
  var poll: Nanoseconds?
  var fileWait: Nanoseconds?

  /// The request with all settings that are written here.
  func applied(to request: SlurmRequest) -> SlurmRequest {
    var result = request
    result.partition = partition ?? request.partition
    result.account = account ?? request.account
    result.qos = qos ?? request.qos
    result.reservation = reservation ?? request.reservation
    result.constraint = constraint ?? request.constraint
    result.extra = extra ?? request.extra
    result.onNodeFailure = onNodeFailure ?? request.onNodeFailure
    result.infrastructureRetries = infrastructureRetries ?? request.infrastructureRetries
    return result
  }

  /// The settings for the run.
  var plan: SlurmPlan {
    var plan = SlurmPlan()
    plan.mode = mode ?? plan.mode
    plan.maxQueued = maxQueued ?? plan.maxQueued
    plan.submitInterval = submitInterval ?? plan.submitInterval
    plan.poll = poll ?? plan.poll
    plan.fileWait = fileWait ?? plan.fileWait
    return plan
  }
}

extension Decoder {
  /// Decodes where the command of a step runs, as the step or `defaults` specifies.
  mutating func slurmSettings(from fields: Fields<StepKey>) -> [Setting] {
    var settings: [Setting] = []
    if let value = fields[.executor] {
      let executor = executor(value, StepKey.executor.row)
      if executor == .slurm, isOfService(fields) {
        report(value) { DecodingMessage.serviceInSlurm(at: $0) }
      }
      if let executor { settings.append(.executor(executor)) }
    } else if isOfService(fields) {
      settings.append(.executor(.local))
    }
    if let value = fields[.slurm], let model = slurm(value, isOfStep: true) {
      settings.append(.slurm(model))
    }
    return settings
  }

  /// The executor of a step, for the scheduler; its faults have been reported.
  func chosenExecutor(_ fields: Fields<StepKey>) -> StepExecutor? {
    if let value = fields[.executor], tree.nodes[tree.resolve(value)].isScalar {
      return StepExecutor(rawValue: tree.string(tree.resolve(value)))
    }
    return isOfService(fields) ? .local : nil
  }

  private func isOfService(_ fields: Fields<StepKey>) -> Bool {
    guard let value = fields[.background] else { return false }
    let node = tree.resolve(value)
    return tree.nodes[node].kind == .map || plainBoolean(node) == true
  }

  mutating func executor(_ value: NodeIndex, _ row: KeyRow) -> StepExecutor? {
    choice(
      value, row,
      Dictionary(uniqueKeysWithValues: StepExecutor.allCases.map { ($0.rawValue, $0) }))
  }

  /// Decodes `slurm`; that of a step if `isOfStep`.
  mutating func slurm(_ value: NodeIndex, isOfStep: Bool) -> SlurmModel? {
    let map = tree.resolve(value)
    guard tree.nodes[map].kind == .map else {
      reportType(value, isOfStep ? StepKey.slurm.row : PipelineKey.slurm.row)
      return nil
    }
    let fields = readFields(of: map, SlurmKey.table) { _, _ in "in 'slurm'" }
    if isOfStep {
      for key in SlurmKey.allCases where !key.isOfStep {
        if let value = fields[key] {
          report(keyNode(of: value)) { DecodingMessage.slurmOfRun(key.row.key, at: $0) }
        }
      }
    }
    var model = SlurmModel()
    model.partition = fields[.partition].flatMap { filledText($0, SlurmKey.partition.row) }
    model.account = fields[.account].flatMap { filledText($0, SlurmKey.account.row) }
    model.qos = fields[.qos].flatMap { filledText($0, SlurmKey.qos.row) }
    model.reservation = fields[.reservation].flatMap { filledText($0, SlurmKey.reservation.row) }
    model.constraint = fields[.constraint].flatMap { filledText($0, SlurmKey.constraint.row) }
    model.extra = fields[.extra].flatMap { extraOptions($0) }
    model.onNodeFailure = fields[.onNodeFailure].flatMap {
      choice($0, SlurmKey.onNodeFailure.row, nodeFailures)
    }
    model.infrastructureRetries = fields[.infrastructureRetries].flatMap {
      integer($0, SlurmKey.infrastructureRetries.row, in: 0...1000)
    }
    decodeRates(fields, into: &model)
    return model
  }

  private mutating func decodeRates(_ fields: Fields<SlurmKey>, into model: inout SlurmModel) {
    model.mode = fields[.mode].flatMap { choice($0, SlurmKey.mode.row, modes) }
    model.maxQueued = fields[.maxQueued].flatMap {
      integer($0, SlurmKey.maxQueued.row, in: 1...1_000_000)
    }
    model.submitInterval = fields[.submitRate].flatMap { submitInterval($0) }
    model.poll = fields[.poll].flatMap { duration($0, SlurmKey.poll.row) }
    model.fileWait = fields[.fileWait].flatMap {
      duration($0, SlurmKey.fileWait.row, isZeroAllowed: true)
    }
  }

  private mutating func submitInterval(_ value: NodeIndex) -> Nanoseconds? {
    let row = SlurmKey.submitRate.row
    guard let node = scalar(value, row) else { return nil }
    let parts = tree.string(node).split(separator: "/", omittingEmptySubsequences: false)
    let units: [Substring: Nanoseconds] = ["s": 1_000_000_000, "m": 60_000_000_000]
    guard parts.count == 2, let unit = units[parts[1]], (1...6).contains(parts[0].utf8.count),
      parts[0].utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      let count = Nanoseconds(parts[0]), count > 0
    else {
      reportType(value, row)
      return nil
    }
    return unit / count
  }

  private mutating func extraOptions(_ value: NodeIndex) -> [String]? {
    let row = SlurmKey.extra.row
    let list = tree.resolve(value)
    guard tree.nodes[list].kind == .list else {
      reportType(value, row)
      return nil
    }
    return items(of: list).compactMap { extraOption($0, row.itemRow) }
  }

  private mutating func extraOption(_ item: NodeIndex, _ row: KeyRow) -> String? {
    guard let text = text(item, row) else { return nil }
    let name = text.prefix { $0 != "=" }.dropFirst(2)
    let isLong =
      text.hasPrefix("--") && name.utf8.first.map { (0x61...0x7a).contains($0) } == true
      && name.utf8.allSatisfy { byte in
        (0x61...0x7a).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2d
      }
    guard isLong else {
      reportType(item, row, help: "write '--name' or '--name=value'")
      return nil
    }
    guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
      reportType(item, row, help: "write it without line breaks and other control characters")
      return nil
    }
    if let help = RefusedOptions.help(for: String(name)) {
      report(item) { DecodingMessage.refusedOption(String(name), help: help, at: $0) }
    }
    return text
  }
}

private let modes = Dictionary(
  uniqueKeysWithValues: SlurmPlan.Mode.allCases.map { ($0.rawValue, $0) })

private let nodeFailures = Dictionary(
  uniqueKeysWithValues: SlurmRequest.NodeFailure.allCases.map { ($0.rawValue, $0) })

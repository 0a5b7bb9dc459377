// The top level of a pipeline file.

import Diagnostics
import Expressions
import Plans
import Scheduling

extension Decoder {
  /// Decodes everything except the steps that were handed out one by one while reading.
  mutating func decodePipeline(root: NodeIndex, readSteps: NodeIndex?) {
    guard tree.nodes[root].kind == .map else {
      return reportRoot(root)
    }
    if let foreign = foreignFile(root) {
      return report(foreign.key) { DecodingMessage.foreign(foreign.file, at: $0) }
    }
    let fields = readFields(of: root, PipelineKey.table) { _, _ in "at top level" }
    checkExtensions(of: root)
    decodeSteps(
      fields, readSteps: readSteps, owner: "at top level",
      isOptional: isPart || fields.holds(.include))
    if let version = fields[.version] { checkVersion(version) }
    decodeLabels(fields)
    decodeInputs(fields)
    decodeScheduling(fields)
    decodeCommands(fields)
    if let value = fields[.defaults] { decodeDefaults(value) }
    if let value = fields[.secrets] { decodeSecrets(value) }
    decodeSharedCache(fields)
    if let value = fields[.pipelines] { decodeSections(value) }
  }

  /// Decodes texts for people, and notes the locations of all keys.
  mutating func decodeLabels(_ fields: Fields<PipelineKey>) {
    model.name = fields[.name].flatMap { filledText($0, PipelineKey.name.row) }
    model.description = fields[.description].flatMap { text($0, PipelineKey.description.row) }
    if let value = fields[.schema] { _ = text(value, PipelineKey.schema.row) }
    for key in PipelineKey.allCases {
      if let value = fields[key] { model.written[key] = span(keyNode(of: value)) }
    }
  }

  private mutating func reportRoot(_ root: NodeIndex) {
    if let file = foreignFile ?? ForeignFile(text: tree.source) {
      return report(root) { DecodingMessage.foreign(file, at: $0) }
    }
    let isList = tree.nodes[root].kind == .list
    let found = found(root)
    report(root) { DecodingMessage.notAPipeline(found: found, isList: isList, at: $0) }
  }

  /// The tool to which a file without `steps` seems to belong, and the decisive key.
  private func foreignFile(_ root: NodeIndex) -> (file: ForeignFile, key: NodeIndex)? {
    var pairs: [(name: String, pair: Pair)] = []
    for pair in writtenPairs(of: root).prefix(1000) {
      let name = tree.string(pair.key)
      if name == "steps" { return nil }
      pairs.append((name, pair))
    }
    guard let first = pairs.first else { return nil }
    if let foreignFile { return (foreignFile, first.pair.key) }
    if let found = ForeignFile.find(keys: pairs.map(\.name)),
      let pair = pairs.first(where: { $0.name == found.key })?.pair, !listsSteps(pair.value)
    {
      return (found.file, pair.key)
    }
    for (key, file) in ForeignFile.jobKeys {
      if let job = pairs.first(where: { isStranger($0.pair) && holds(key, in: $0.pair.value) }) {
        return (file, job.pair.key)
      }
    }
    return nil
  }

  private func isStranger(_ pair: Pair) -> Bool {
    tree.withBytes(of: pair.key) {
      PipelineKey.table.find($0) == nil && !$0.starts(with: "x-".utf8)
    }
  }

  /// True if the value is a list of maps, like `steps` under another name.
  private func listsSteps(_ value: NodeIndex) -> Bool {
    let list = tree.resolve(value)
    guard tree.nodes[list].kind == .list, let first = items(of: list).first else { return false }
    let map = tree.resolve(first)
    return tree.nodes[map].kind == .map
      && writtenPairs(of: map).contains { ["id", "run"].contains(tree.string($0.key)) }
  }

  private func holds(_ key: String, in value: NodeIndex) -> Bool {
    let map = tree.resolve(value)
    return tree.nodes[map].kind == .map
      && writtenPairs(of: map).contains { tree.string($0.key) == key }
  }

  private mutating func checkVersion(_ value: NodeIndex) {
    _ = integer(value, PipelineKey.version.row, in: 1...1)
  }

  mutating func checkExtensions(of root: NodeIndex) {
    checkDuplicates(in: root)
    for pair in writtenPairs(of: root)
    where tree.withBytes(of: pair.key, { $0.starts(with: "x-".utf8) }) {
      checkUnread(pair.value)
    }
  }

  /// Decodes the steps of a pipeline; `readSteps` were handed out while the file was read.
  mutating func decodeSteps(
    _ fields: Fields<PipelineKey>, readSteps: NodeIndex?, owner: String, isOptional: Bool
  ) {
    guard fields.holds(.steps) else {
      if isOptional { return }
      log.report(at: firstKeySpan(of: fields.map)) {
        DecodingMessage.missing(["steps"], owner, at: $0)
      }
      return
    }
    guard let value = fields[.steps] else { return }
    let list = tree.resolve(value)
    guard tree.nodes[list].kind == .list else {
      return reportNoList(value, list)
    }
    if list != readSteps {
      for item in items(of: list) { decodeStep(item) }
    }
    if model.steps.isEmpty, log.isEmpty {
      report(list) { DecodingMessage.empty("steps", at: $0, help: DecodingMessage.firstStep) }
    }
  }

  private mutating func reportNoList(_ value: NodeIndex, _ found: NodeIndex) {
    let hasKeys = tree.nodes[found].kind == .map && tree.next(after: found) > found + 1
    let help =
      hasKeys ? DecodingMessage.stepsInList(tree.string(found + 1)) : DecodingMessage.firstStep
    reportType(value, PipelineKey.steps.row, help: help)
  }

  mutating func decodeScheduling(_ fields: Fields<PipelineKey>) {
    model.width = fields[.maxParallel].flatMap { width($0, PipelineKey.maxParallel.row) }
    if let value = fields[.queues] { decodeQueues(value) }
    if let value = fields[.resources] { decodeResources(value) }
    model.executor = fields[.executor].flatMap { executor($0, PipelineKey.executor.row) }
    model.slurm = fields[.slurm].flatMap { slurm($0, isOfStep: false) }
    model.failurePolicy =
      fields[.failurePolicy].flatMap { choice($0, PipelineKey.failurePolicy.row, failurePolicies) }
      ?? .continue
    model.isExclusive =
      fields[.mutex].flatMap { choice($0, PipelineKey.mutex.row, ["pipeline": true]) } ?? false
    if let value = fields[.timeout] {
      if holdsExpression(value) {
        model.earlyTimeout = early(value, .timeout)
      } else {
        model.timeout = duration(value, PipelineKey.timeout.row)
      }
    }
    model.defaultSteps = fields[.default].flatMap { defaultSteps($0) }
    model.sequence = fields[.sequence].flatMap { boolean($0, PipelineKey.sequence.row) }
  }

  private mutating func defaultSteps(_ value: NodeIndex) -> [Reference]? {
    let row = PipelineKey.default.row
    let list = tree.resolve(value)
    guard tree.nodes[list].kind == .list else {
      let isID = tree.nodes[list].isScalar && !isNull(list)
      let isMap = tree.nodes[list].kind == .map
      let help = isID ? "write a list: [\(printable(tree.string(list)))]" : nil
      reportType(value, row, help: isMap ? didYouMean("defaults") : help)
      return nil
    }
    let items = items(of: list)
    if items.isEmpty { report(list) { DecodingMessage.empty(row.key, at: $0) } }
    return items.compactMap { item in
      guard let name = text(item, row) else { return nil }
      return Reference(name: name, span: span(tree.resolve(item)))
    }
  }

  mutating func decodeCommands(_ fields: Fields<PipelineKey>) {
    model.environment =
      fields[.env].flatMap { writtenEnvironment($0, PipelineKey.env.row) } ?? []
    model.shell = fields[.shell].flatMap { shell($0, PipelineKey.shell) }
    model.workingDirectory = fields[.workingDir].flatMap {
      filledTemplate($0, PipelineKey.workingDir.row)
    }
    for kind in HookKind.allCases {
      let key = kind.pipelineKey
      if let commands = fields[key].flatMap({ hook($0, key) }) { model.hooks[kind] = commands }
    }
  }

  mutating func decodeDefaults(_ value: NodeIndex) {
    let map = tree.resolve(value)
    guard tree.nodes[map].kind == .map else { return reportType(value, PipelineKey.defaults.row) }
    let fields = readFields(of: map, StepKey.table) { _, _ in "in 'defaults'" }
    for key in StepKey.allCases where !key.hasDefault {
      if let value = fields[key] {
        report(keyNode(of: value)) { DecodingMessage.noDefault(key.row.key, at: $0) }
      }
    }
    model.defaultSettings = settings(from: fields)
    model.defaultPlacement = placement(from: fields)
  }

  private mutating func width(_ value: NodeIndex, _ row: KeyRow) -> QueueWidth? {
    if holdsExpression(value) { return early(value, .width).map { .early($0) } }
    guard let node = scalar(value, row) else { return nil }
    if tree.withBytes(of: node, { $0.elementsEqual("auto".utf8) }) { return .automatic }
    return integer(value, row, in: 0...1_000_000).map { .count($0) }
  }
}

// Queues and resources.
extension Decoder {
  private mutating func decodeQueues(_ value: NodeIndex) {
    let map = tree.resolve(value)
    guard tree.nodes[map].kind == .map else {
      return reportUnreadable(value, PipelineKey.queues.row)
    }
    for (name, pair) in pairs(of: map, owner: "in 'queues'") {
      checkName(name, of: pair, what: "the name of a queue")
      if name == "default" { report(pair.key) { DecodingMessage.defaultQueue(at: $0) } }
      var queue = QueueModel(name: name, span: span(pair.key))
      decodeQueue(pair, into: &queue)
      model.queues.append(queue)
    }
  }

  private mutating func decodeQueue(_ pair: Pair, into queue: inout QueueModel) {
    let map = tree.resolve(pair.value)
    guard tree.nodes[map].kind == .map else {
      return reportType(
        pair.value, KeyRow(named: queue.name, .object(.queue)))
    }
    let fields = readFields(of: map, QueueKey.table) { _, _ in "in queue \(quoted(queue.name))" }
    if let value = fields[.maxParallel] {
      queue.width = width(value, QueueKey.maxParallel.row) ?? .automatic
    }
    if let value = fields[.startSuspended] {
      queue.startsSuspended = boolean(value, QueueKey.startSuspended.row) ?? false
    }
  }

  private mutating func decodeResources(_ value: NodeIndex) {
    let map = tree.resolve(value)
    guard tree.nodes[map].kind == .map else {
      return reportType(value, PipelineKey.resources.row)
    }
    for (name, pair) in pairs(of: map, owner: "in 'resources'") {
      checkName(name, of: pair, what: "the name of a resource")
      var resource = ResourceModel(name: name, span: span(pair.key), capacity: nil)
      if holdsExpression(pair.value) {
        resource.early = early(pair.value, .amount(name))
      } else {
        resource.capacity = quantity(pair.value, PipelineKey.resources.row.valueRow(name))
      }
      model.resources.append(resource)
    }
  }

  mutating func checkName(_ name: String, of pair: Pair, what: String) {
    guard !tree.withBytes(of: pair.key, isIdentifier) else { return }
    report(pair.key) { DecodingMessage.badID(name, what: what, at: $0) }
  }
}

private let failurePolicies: [String: FailurePolicy] = [
  "continue": .continue, "stop": .stop, "cancel": .cancel,
]

// Decodes how a command may end: retries, allowed failures, and how it is stopped.

import Diagnostics
import Expressions
import Plans
import Scheduling

extension Decoder {
  /// The policy, and the limit on its own if that is an expression.
  mutating func retry(_ value: NodeIndex) -> (policy: RetryPolicy, limit: EarlyValue?)? {
    let node = tree.resolve(value)
    guard tree.nodes[node].kind == .map else {
      if holdsExpression(value) { return early(value, .retry).map { (RetryPolicy(), $0) } }
      return integer(value, StepKey.retry.row, in: 0...1_000_000).map {
        var policy = RetryPolicy()
        policy.limit = $0
        return (policy, nil)
      }
    }
    let fields = readFields(of: node, RetryKey.table) { _, _ in "in 'retry'" }
    if !fields.holds(.limit) {
      log.report(at: firstKeySpan(of: node)) {
        DecodingMessage.missing(["limit"], "in 'retry'", at: $0)
      }
    }
    let limit = fields[.limit].flatMap { holdsExpression($0) ? early($0, .retry) : nil }
    return (policy(from: fields), limit)
  }

  private mutating func policy(from fields: Fields<RetryKey>) -> RetryPolicy {
    var policy = RetryPolicy()
    policy.limit =
      fields[.limit].flatMap {
        holdsExpression($0) ? 0 : integer($0, RetryKey.limit.row, in: 0...1_000_000)
      } ?? 0
    policy.delay =
      fields[.delay].flatMap { duration($0, RetryKey.delay.row, isZeroAllowed: true) } ?? 0
    policy.backoff = fields[.backoff].flatMap { backoff($0) } ?? policy.backoff
    policy.maxDelay =
      fields[.maxDelay].flatMap { duration($0, RetryKey.maxDelay.row) } ?? policy.maxDelay
    policy.hasJitter =
      fields[.jitter].flatMap { choice($0, RetryKey.jitter.row, ["none": false, "full": true]) }
      ?? false
    policy.triggers = fields[.on].flatMap { triggers($0) } ?? []
    return policy
  }

  /// The factor in thousandths.
  private mutating func backoff(_ value: NodeIndex) -> Int? {
    guard let node = scalar(value, RetryKey.backoff.row) else { return nil }
    if tree.nodes[node].kind == .plain,
      let factor = tree.withBytes(of: node, { parseDecimal($0, decimals: 3) }),
      (1000...1_000_000).contains(factor)
    {
      return factor
    }
    reportType(
      value, RetryKey.backoff.row,
      help: "each delay is the one before times 'backoff', with at most three decimals")
    return nil
  }

  private mutating func triggers(_ value: NodeIndex) -> [RetryTrigger]? {
    let list = tree.resolve(value)
    guard tree.nodes[list].kind == .list else {
      let meant = tree.nodes[list].isScalar ? statusTrigger(tree.string(list)) : nil
      reportType(value, RetryKey.on.row, help: meant.map { "write a list: [\($0)]" })
      return nil
    }
    let items = items(of: list)
    if items.isEmpty { report(list) { DecodingMessage.empty("on", at: $0) } }
    return items.compactMap { trigger($0) }
  }

  private mutating func trigger(_ item: NodeIndex) -> RetryTrigger? {
    let row = RetryKey.on.row.itemRow
    guard let node = scalar(item, row) else { return nil }
    let text = tree.string(node)
    if let known = triggerWords.first(where: { areSameBytes($0.word, text) }) {
      return known.trigger
    }
    if text.hasPrefix("exit "), let code = Int32(text.dropFirst(5)), (1...255).contains(code) {
      return .exit(code)
    }
    guard log.hasRoom(at: span(node)) else { return nil }
    let close = log.suggester.closest(to: text, among: triggerWords.map(\.word))
    reportType(item, row, help: didYouMean(statusTrigger(text) ?? close))
    return nil
  }

  /// The trigger for the exit status at the end of a text.
  private func statusTrigger(_ text: String) -> String? {
    let digits = text.reversed().prefix { ("0"..."9").contains($0) }.reversed()
    guard let code = Int32(String(digits)), (1...255).contains(code) else { return nil }
    return "exit \(code)"
  }

  mutating func allowFailureSetting(_ value: NodeIndex) -> Setting? {
    let node = tree.resolve(value)
    if tree.nodes[node].isScalar, tree.nodes[node].hasExpression {
      return condition(value, StepKey.allowFailure.row).map { .allowFailureIf($0) }
    }
    return allowFailure(value).map { .allowFailure($0) }
  }

  private mutating func allowFailure(_ value: NodeIndex) -> AllowFailure? {
    let node = tree.resolve(value)
    guard tree.nodes[node].kind == .map else {
      return boolean(value, StepKey.allowFailure.row).map { $0 ? .always : .never }
    }
    let fields = readFields(of: node, AllowFailureKey.table) { _, _ in "in 'allow_failure'" }
    guard fields.holds(.exitCodes) else {
      log.report(at: firstKeySpan(of: node)) {
        DecodingMessage.missing(["exit_codes"], "in 'allow_failure'", at: $0)
      }
      return nil
    }
    return fields[.exitCodes].flatMap { exitCodes($0) }
  }

  private mutating func exitCodes(_ value: NodeIndex) -> AllowFailure? {
    let row = AllowFailureKey.exitCodes.row
    let list = tree.resolve(value)
    guard tree.nodes[list].kind == .list else {
      reportType(value, row)
      return nil
    }
    let items = items(of: list)
    if items.isEmpty { report(list) { DecodingMessage.empty(row.key, at: $0) } }
    let codes = items.compactMap { integer($0, row.itemRow, in: 1...255).map { Int32($0) } }
    return .exitCodes(codes)
  }

  mutating func stop(_ value: NodeIndex) -> StopSequence? {
    let node = tree.resolve(value)
    guard tree.nodes[node].kind == .map else {
      reportType(value, StepKey.stop.row)
      return nil
    }
    let fields = readFields(of: node, StopKey.table) { _, _ in "in 'stop'" }
    var stop = StopSequence()
    stop.signal = fields[.signal].flatMap { signal($0) } ?? stop.signal
    stop.grace =
      fields[.grace].flatMap { duration($0, StopKey.grace.row, isZeroAllowed: true) } ?? stop.grace
    return stop
  }

  private mutating func signal(_ value: NodeIndex) -> Int32? {
    let row = StopKey.signal.row
    guard let node = scalar(value, row) else { return nil }
    if let number = plainInteger(node) {
      return integer(value, row, in: 1...64).map { _ in Int32(number) }
    }
    let text = tree.string(node)
    let name = text.hasPrefix("SIG") ? String(text.dropFirst(3)) : text
    if stopSignals.contains(where: { areSameBytes($0, name) }) { return signalNumber(named: name) }
    let close = suggestion(for: name, among: stopSignals)
    reportType(value, row, help: didYouMean(close))
    return nil
  }
}

extension KeyRow {
  /// The row for an item of the list.
  var itemRow: KeyRow {
    type.itemType.map { KeyRow(named: key, $0, isItem: true) } ?? self
  }
}

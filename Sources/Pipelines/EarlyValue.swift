// Values of keys that must be known before the run and that expressions specify: limits, widths,
// priorities, shares.

import BuiltinSteps
import Diagnostics
import Expressions
import Plans
import Scheduling

/// An expression in place of a number, a duration or a name.
struct EarlyValue: Hashable {
  enum Key: Hashable {
    case timeout, retry, expected, priority, queue
    /// `max_parallel` of a pipeline or a queue.
    case width
    /// `max_parallel` of a step with a matrix.
    case instances
    /// The amount of a resource.
    case amount(String)
  }

  let key: Key
  /// The place of the key in the file.
  let span: Span
  let template: Template
}

extension EarlyValue.Key {
  private var row: KeyRow {
    switch self {
    case .timeout: StepKey.timeout.row
    case .retry: RetryKey.limit.row
    case .expected: StepKey.expected.row
    case .priority: StepKey.priority.row
    case .queue: StepKey.queue.row
    case .width: PipelineKey.maxParallel.row
    case .instances: StepKey.maxParallel.row
    case .amount(let name): KeyRow(named: name, .quantity)
    }
  }

  var isDuration: Bool { self == .timeout || self == .expected }

  var name: String { self == .retry ? StepKey.retry.row.key : row.key }

  /// The words for "must be …" in a message.
  var wanted: String {
    switch self {
    case .queue: "the name of a queue"
    case .timeout, .retry, .expected, .priority, .width, .instances, .amount: row.type.words
    }
  }

  var kinds: ExpressionType.Kinds {
    switch self {
    case .timeout, .expected, .queue: .string
    case .retry, .instances: .number
    case .priority, .width, .amount: [.number, .string]
    }
  }
}

extension EarlyValue {
  var expression: Expression? { template.expressions.first }

  /// The duration; nil if it is not known now: where it must be, the check of expressions has reported that.
  func duration(_ values: KnownValues) throws(EvaluationFailure) -> Nanoseconds? {
    try read(values) { value in
      guard case .string(var text) = value else { return nil }
      return text.withUTF8 { nanoseconds($0) }.flatMap { $0 > 0 ? $0 : nil }
    }
  }

  func integer(
    _ values: KnownValues, in range: ClosedRange<Int>
  ) throws(EvaluationFailure) -> Int? {
    try read(values) { value in value.integer.flatMap { range.contains($0) ? $0 : nil } }
  }

  /// The amount in millionths.
  func amount(_ values: KnownValues) throws(EvaluationFailure) -> Int64? {
    try read(values) { value in
      guard var text = value.text else { return nil }
      if case .string = value { return text.withUTF8 { quantityInMillionths($0) } }
      return text.withUTF8 { parseDecimal($0, decimals: 6) }.map { Int64($0) }
    }
  }

  func priority(_ values: KnownValues) throws(EvaluationFailure) -> Int16? {
    try read(values) { value in
      if case .string(let name) = value { return Decoder.priorities[name] }
      return value.integer.flatMap { (-1000...1000).contains($0) ? Int16($0) : nil }
    }
  }

  func width(_ values: KnownValues) throws(EvaluationFailure) -> QueueWidth? {
    try read(values) { value in
      if value == .string("auto") { return .automatic }
      return value.integer.flatMap { (0...1_000_000).contains($0) ? .count($0) : nil }
    }
  }

  func text(_ values: KnownValues) throws(EvaluationFailure) -> String? {
    try read(values) { value in if case .string(let text) = value { text } else { nil } }
  }

  private func read<Result>(
    _ values: KnownValues, _ convert: (Value) -> Result?
  ) throws(EvaluationFailure) -> Result? {
    // The check of expressions reports unknown names.
    guard template.expressions.allSatisfy({ $0.namesExist(in: values) }),
      let value = try value(values)
    else { return nil }
    if let result = convert(value) { return result }
    guard let expression else { return nil }
    let found = value.text.map(quoted) ?? value.type.words
    let unset =
      value == .null
      ? expression.unset(help: EarlyMessage.default) { values.variable(closestTo: $0) } : nil
    throw EvaluationFailure(
      unset
        ?? EarlyMessage.wrong(
          key.name, wanted: key.wanted, found: found,
          help: key.kinds.contains(.string) ? value.text.flatMap { exceededLimit($0) } : nil),
      in: expression,
      at: expression.range(of: expression.root))
  }

  private func value(_ values: KnownValues) throws(EvaluationFailure) -> Value? {
    if let single = template.single { return try single.valueIfKnown(with: values) }
    return try template.renderedIfKnown(with: values).map { .string($0) }
  }
}

extension Expression {
  fileprivate func namesExist(in values: KnownValues) -> Bool {
    references.allSatisfy { reference in
      guard let name = reference.member else { return true }
      return if case .missing = values.member(name, of: reference.root) { false } else { true }
    }
  }
}

extension Value {
  fileprivate var integer: Int? {
    if case .number(let number) = self { Int(exactly: number) } else { nil }
  }
}

enum EarlyMessage {
  static func tooLate(_ key: String) -> UnlocatedFailure {
    UnlocatedFailure("the value of '\(printable(key))' must be known before the run")
  }

  /// The help for a value that may be missing.
  static let `default` = "give a default with '??'"

  static let filesTooEarly = UnlocatedFailure(
    "this value must be known before the run, but files are read only during the run")

  static func ofUsedFile(_ what: String) -> UnlocatedFailure {
    UnlocatedFailure(
      "\(what) of a pipeline that another one uses belong to the run: their sizes cannot be expressions"
    )
  }

  static func noUnit(_ key: String, wanted: String) -> UnlocatedFailure {
    UnlocatedFailure(
      "the value of '\(printable(key))' must be \(wanted), not a number",
      help: "write the unit after the expression: ${{ … }}s")
  }

  static func wrong(
    _ key: String, wanted: String, found: String, help: String?
  ) -> UnlocatedFailure {
    UnlocatedFailure(
      "the value of '\(printable(key))' must be \(wanted), not \(found)", help: help)
  }
}

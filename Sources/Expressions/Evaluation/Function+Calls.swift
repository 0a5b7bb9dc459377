// The results of the functions.

import Diagnostics

/// Why a function has no result: the fault is in one of its arguments, or in the call.
struct ArgumentFailure: Error {
  package let words: UnlocatedFailure
  package var argument: Int?
}

extension Function {
  static let maxResultByteCount = 16 << 20
  static let maxItemCount = 1_000_000

  /// The result of the call; nil if it is not known yet.
  func call(
    _ arguments: [Value], _ bindings: some ExpressionBindings
  ) throws(ArgumentFailure) -> Value? {
    let row = row
    guard row.argumentCounts.contains(arguments.count) else {
      throw ArgumentFailure(words: ExpressionMessage.argumentCount(row, found: arguments.count))
    }
    for (number, value) in arguments.enumerated() {
      let parameter = row.parameter(number)
      if !parameter.kinds.contains(value.type) {
        let found = value.type.words
        throw ArgumentFailure(
          words: ExpressionMessage.wrongArgument(row, parameter, found: found), argument: number)
      }
    }
    if row.isStatus { return status(bindings.dependencyStatus).map { .bool($0) } }
    if self == .hashFiles || self == .exists { return try lookAtFiles(arguments, bindings) }
    if self == .matches { return .bool(try matches(arguments, bindings.valueBudget)) }
    guard let budget = bindings.valueBudget else { return try compute(arguments) }
    if budget.isSpent { throw ArgumentFailure(words: ExpressionMessage.tooMuchMade) }
    guard arguments.allSatisfy(budget.allows(reading:)) else {
      throw ArgumentFailure(words: ExpressionMessage.tooMuchRead)
    }
    let value = try compute(arguments)
    guard budget.allows(making: value) else {
      throw ArgumentFailure(words: ExpressionMessage.tooMuchMade)
    }
    return value
  }

  private func status(_ status: DependencyStatus?) -> Bool? {
    switch self {
    case .always: true
    case .success: status?.isSuccess
    case .cancelled: status?.isCancelled
    case .failure: status?.isFailure
    case .contains, .startsWith, .endsWith, .join, .split, .lower, .upper, .trim, .len, .basename,
      .dirname, .toJSON, .fromJSON, .quote, .matches, .hashFiles, .exists:
      preconditionFailure("'\(row.name)' does not ask how dependencies ended")
    }
  }

  private func lookAtFiles(
    _ arguments: [Value], _ bindings: some ExpressionBindings
  ) throws(ArgumentFailure) -> Value? {
    let texts = arguments.compactMap(\.text)
    do throws(UnlocatedFailure) {
      if self == .exists { return try bindings.exists(texts[0]).map { .bool($0) } }
      return try bindings.hashFiles(texts).map { .string($0) }
    } catch {
      throw ArgumentFailure(words: error)
    }
  }

  private func compute(_ arguments: [Value]) throws(ArgumentFailure) -> Value {
    let first = arguments[0]
    // The kinds of arguments have been checked: an argument that is not a string is treated
    // according to its type.
    let text = if case .string(let text) = first { text } else { "" }
    let second = arguments.count > 1 ? arguments[1].text ?? "" : ""
    switch self {
    case .contains: return .bool(try contains(first, arguments[1]))
    case .startsWith: return .bool(text.utf8.starts(with: second.utf8))
    case .endsWith: return .bool(text.utf8.reversed().starts(with: second.utf8.reversed()))
    case .join: return .string(try joined(first, arguments.count > 1 ? second : ","))
    case .split: return try split(text, second)
    case .lower: return .string(text.lowercased())
    case .upper: return .string(text.uppercased())
    case .trim: return .string(trimmed(text))
    case .len: return .number(Double(first.length))
    case .basename: return .string(lastName(ofPath: text))
    case .dirname: return .string(directory(ofPath: text))
    case .toJSON:
      var text = JSONWriter(limit: Self.maxResultByteCount)
      guard text.write(first) else { throw ArgumentFailure(words: ExpressionMessage.resultTooLong) }
      return .string(text.text)
    case .fromJSON: return try value(ofJSON: text)
    case .quote: return .string(try shellQuoted(first.text ?? ""))
    case .matches, .hashFiles, .exists, .success, .failure, .cancelled, .always:
      preconditionFailure("'\(row.name)' has no value of its arguments alone")
    }
  }

  /// True if the text matches the pattern. The steps of all matches are counted together.
  private func matches(
    _ arguments: [Value], _ budget: ValueBudget?
  ) throws(ArgumentFailure) -> Bool {
    let budget = budget ?? ValueBudget()
    do throws(TextPatternFailure) {
      if let pattern = try budget.pattern(arguments[1].text ?? ""),
        let isFound = pattern.isFound(in: arguments[0].text ?? "", steps: &budget.matchSteps)
      {
        return isFound
      }
    } catch {
      throw ArgumentFailure(words: ExpressionMessage.badPattern(error.reason), argument: 1)
    }
    throw ArgumentFailure(words: ExpressionMessage.tooMuchMatched)
  }

  private func split(_ text: String, _ separator: String) throws(ArgumentFailure) -> Value {
    guard !separator.isEmpty else {
      throw ArgumentFailure(words: ExpressionMessage.emptySeparator, argument: 1)
    }
    guard let parts = TextSearch(separator).parts(of: text, limit: Self.maxItemCount) else {
      throw ArgumentFailure(words: ExpressionMessage.tooManyItems)
    }
    return .list(parts.map { .string($0) })
  }

  private func value(ofJSON text: String) throws(ArgumentFailure) -> Value {
    do throws(JSONFailure) {
      return try JSONReader.value(of: text)
    } catch {
      let words = ExpressionMessage.badJSON(error.reason, at: error.offset)
      throw ArgumentFailure(words: words, argument: 0)
    }
  }

  private func contains(_ whole: Value, _ part: Value) throws(ArgumentFailure) -> Bool {
    switch (whole, part) {
    case (.list(let items), _): return items.contains(part)
    case (.string(let text), .string(let part)): return TextSearch(part).isFound(in: text)
    case (.string, _), (.null, _), (.bool, _), (.number, _), (.map, _):
      let parameter = FunctionRow.Parameter(name: "part", kinds: .string)
      throw ArgumentFailure(
        words: ExpressionMessage.wrongArgument(row, parameter, found: part.type.words),
        argument: 1)
    }
  }

  private func joined(_ list: Value, _ separator: String) throws(ArgumentFailure) -> String {
    guard case .list(let items) = list else { preconditionFailure("arguments are checked before") }
    var result = ""
    for (number, item) in items.enumerated() {
      guard let text = item.text else {
        throw ArgumentFailure(words: ExpressionMessage.unjoinable(item.type.words), argument: 0)
      }
      if number > 0 { result += separator }
      result += text
      if result.utf8.count > Self.maxResultByteCount {
        throw ArgumentFailure(words: ExpressionMessage.resultTooLong)
      }
    }
    return result
  }

  private func shellQuoted(_ text: String) throws(ArgumentFailure) -> String {
    if text.utf8.contains(0) {
      throw ArgumentFailure(words: ScriptMessage.nul, argument: 0)
    }
    return singleQuotedForShell(text)
  }
}

extension Value {
  /// The length that `len` returns.
  fileprivate var length: Int {
    switch self {
    case .string(let text): text.unicodeScalars.count
    case .list(let items): items.count
    case .map(let map): map.count
    case .null, .bool, .number: preconditionFailure("arguments are checked before")
    }
  }
}

private func trimmed(_ text: String) -> String {
  func isBlank(_ scalar: Unicode.Scalar) -> Bool {
    scalar == " " || scalar == "\t" || scalar == "\n" || scalar == "\r"
  }
  var rest = text.unicodeScalars[...]
  while let first = rest.first, isBlank(first) { rest.removeFirst() }
  while let last = rest.last, isBlank(last) { rest.removeLast() }
  return String(rest)
}

/// The last component of a path, as POSIX defines it:
/// https://pubs.opengroup.org/onlinepubs/9799919799/utilities/basename.html
private func lastName(ofPath path: String) -> String {
  let names = path.utf8.split(separator: UInt8(ascii: "/"))
  if let last = names.last { return String(decoding: last, as: UTF8.self) }
  return path.isEmpty ? "" : "/"
}

private func directory(ofPath path: String) -> String {
  let slash = UInt8(ascii: "/")
  var rest = Array(path.utf8)[...]
  while rest.count > 1, rest.last == slash { rest.removeLast() }
  guard rest.contains(slash) else { return "." }
  while let last = rest.last, last != slash { rest.removeLast() }
  while rest.count > 1, rest.last == slash { rest.removeLast() }
  return String(decoding: rest, as: UTF8.self)
}

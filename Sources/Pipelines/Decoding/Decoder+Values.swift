// Decodes single values of a map: a node that must be a string, a number, a duration, and so on.
// Each function returns nil for anything else, and reports it in the words of the key's row.

import BuiltinSteps
import Diagnostics
import Expressions
import Scheduling

extension Decoder {
  /// The scalar, after following an alias; reports anything that is not a scalar, has no value, or
  /// is an expression.
  mutating func scalar(_ value: NodeIndex, _ row: @autoclosure () -> KeyRow) -> NodeIndex? {
    let node = tree.resolve(value)
    guard tree.nodes[node].isScalar, !isNull(node) else {
      reportType(value, row())
      return nil
    }
    if tree.nodes[node].hasExpression {
      reportExpression(node, row())
      return nil
    }
    return node
  }

  mutating func text(_ value: NodeIndex, _ row: @autoclosure () -> KeyRow) -> String? {
    guard let node = scalar(value, row()) else { return nil }
    guard counts(node) else { return nil }
    if holdsNUL(node) {
      report(node) { DecodingMessage.nul(row().key, at: $0) }
      return nil
    }
    return tree.string(node)
  }

  /// True if a scalar contains NUL. Only an escape can produce it, because the file itself must not
  /// contain it; nor can a variable, an argument or a path. Inlined, because a call copies the
  /// decoder.
  @inline(__always)
  func holdsNUL(_ node: NodeIndex) -> Bool {
    tree.nodes[node].isInArena && tree.withBytes(of: node) { $0.contains(0) }
  }

  /// Counts a string that the model keeps; false, after a report, if it exceeds the limits or
  /// contains a NUL.
  mutating func admits(_ node: NodeIndex) -> Bool {
    guard counts(node) else { return false }
    if holdsNUL(node) {
      report(node) { DecodingMessage.nul(at: $0) }
      return false
    }
    return true
  }

  private mutating func counts(_ node: NodeIndex) -> Bool {
    keptTextCount += 1
    keptByteCount += tree.withBytes(of: node) { $0.count }
    guard keptTextCount <= 4_000_000, keptByteCount <= TextCheck.maxByteCount else {
      report(node) { DecodingMessage.tooManyTexts(at: $0) }
      return false
    }
    return true
  }

  /// Decodes a string that is not "".
  mutating func filledText(_ value: NodeIndex, _ row: @autoclosure () -> KeyRow) -> String? {
    guard let text = text(value, row()) else { return nil }
    guard !text.isEmpty else {
      let row = row()
      let help = row.key == StepKey.run.row.key ? DecodingMessage.nothing : nil
      report(value) { DecodingMessage.empty(row.key, at: $0, help: help) }
      return nil
    }
    return text
  }

  mutating func boolean(_ value: NodeIndex, _ row: @autoclosure () -> KeyRow) -> Bool? {
    guard let node = scalar(value, row()) else { return nil }
    if let boolean = plainBoolean(node) { return boolean }
    reportType(value, row(), help: "write true or false")
    return nil
  }

  func plainBoolean(_ node: NodeIndex) -> Bool? {
    guard tree.nodes[node].kind == .plain else { return nil }
    return tree.withBytes(of: node) { bytes in
      bytes.elementsEqual("true".utf8)
        ? true : bytes.elementsEqual("false".utf8) ? false : nil
    }
  }

  func plainInteger(_ node: NodeIndex) -> Int? {
    tree.nodes[node].kind == .plain ? tree.withBytes(of: node, parseInteger) : nil
  }

  mutating func integer(
    _ value: NodeIndex, _ row: @autoclosure () -> KeyRow, in range: ClosedRange<Int>
  ) -> Int? {
    guard let node = scalar(value, row()) else { return nil }
    if let number = plainInteger(node), range.contains(number) { return number }
    reportType(value, row())
    return nil
  }

  mutating func choice<Choice>(
    _ value: NodeIndex, _ row: @autoclosure () -> KeyRow, _ choices: [String: Choice]
  ) -> Choice? {
    guard let node = scalar(value, row()) else { return nil }
    let text = tree.string(node)
    if let choice = choices[text] { return choice }
    if log.hasRoom(at: span(node)) {
      let names = choices.keys.sorted()
      // The closest name is `boolean` for `bool`, `str` for `string`, `failure` for `failed`.
      let close =
        log.suggester.closest(to: text, among: names)
        ?? names.first {
          let shared = zip($0.utf8, text.utf8).prefix { $0 == $1 }.count
          return shared >= 4 || shared == 3 && min($0.utf8.count, text.utf8.count) == 3
        }
      reportType(value, row(), help: didYouMean(close))
    }
    return nil
  }

  /// Decodes an amount in millionths.
  mutating func amount(_ value: NodeIndex, _ row: @autoclosure () -> KeyRow) -> Int64? {
    guard let node = scalar(value, row()) else { return nil }
    if tree.nodes[node].kind == .plain,
      let amount = tree.withBytes(of: node, { parseDecimal($0, decimals: 6) })
    {
      return Int64(amount)
    }
    reportType(
      value, row(),
      help: tree.withBytes(of: node) { exceededLimit($0) } ?? "not negative, at most six decimals")
    return nil
  }

  /// Decodes an amount in millionths: of the units of a pool, of GiB, or of hours.
  mutating func quantity(_ value: NodeIndex, _ row: @autoclosure () -> KeyRow) -> Int64? {
    let node = tree.resolve(value)
    if tree.nodes[node].isScalar, !tree.nodes[node].hasExpression {
      if let amount = tree.withBytes(of: node, { quantityInMillionths($0) }) { return amount }
      let hasUnit = tree.withBytes(of: node) { bytes in
        bytes.first.map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } == true
          && bytes.contains { $0 | 0x20 >= UInt8(ascii: "a") && $0 | 0x20 <= UInt8(ascii: "z") }
      }
      if hasUnit {
        reportUnit(value, row(), units: DecodingMessage.quantityUnits)
        return nil
      }
    }
    return amount(value, row())
  }

  mutating func duration(
    _ value: NodeIndex, _ row: @autoclosure () -> KeyRow, isZeroAllowed: Bool = false
  ) -> Nanoseconds? {
    guard let node = scalar(value, row()) else { return nil }
    guard let duration = tree.withBytes(of: node, { nanoseconds($0) }) else {
      reportUnit(value, row(), units: DecodingMessage.durationUnits)
      return nil
    }
    guard duration > 0 || isZeroAllowed else {
      reportType(value, row(), help: "it must be longer than zero")
      return nil
    }
    return duration
  }

  mutating func size(_ value: NodeIndex, _ row: @autoclosure () -> KeyRow) -> Int? {
    guard let node = scalar(value, row()) else { return nil }
    if let size = tree.withBytes(of: node, { byteCount($0) }) { return size }
    reportUnit(value, row(), units: DecodingMessage.sizeUnits)
    return nil
  }
}

// Reports, and the words for a wrong value.
extension Decoder {
  /// Reports that a declaration of names cannot be read. Then no such name is reported as unknown,
  /// because it may be in there.
  mutating func reportUnreadable(_ value: NodeIndex, _ row: KeyRow, help: String? = nil) {
    model.unreadable.insert(row.key)
    reportType(value, row, help: help)
  }

  mutating func reportType(_ value: NodeIndex, _ row: KeyRow, help: String? = nil) {
    let node = tree.resolve(value)
    let isExpression = tree.nodes[node].isScalar && tree.nodes[node].hasExpression
    if isExpression, ![.template, .filledTemplate].contains(row.type.itemType) {
      return reportExpression(node, row)
    }
    guard log.hasRoom(at: span(node)) else { return }
    let found = isExpression ? "an expression" : found(node)
    let help =
      splitText(before: node - 1).map(DecodingMessage.afterComma) ?? help ?? usualHelp(node, row)
    report(node) {
      DecodingMessage.wrongType(row.wanted, found: found, at: $0, help: help)
    }
  }

  private func usualHelp(_ node: NodeIndex, _ row: KeyRow) -> String? {
    if row.type.mapValueType != nil, row.type.objectKinds.isEmpty, let help = pairHelp(node) {
      return help
    }
    if row.type == .variableMap { return DecodingMessage.variable }
    if case .object(let kind) = row.type, let help = mapHelp(node, of: kind) { return help }
    if let item = row.type.itemType, row.type.mapValueType == nil {
      return listHelp(node, of: item)
    }
    let isString = row.type == .text || row.type == .template
    return isString && !row.isRequired && isNull(node) ? DecodingMessage.leaveOut : nil
  }

  /// The help that shows `NAME=value` as a map.
  private func pairHelp(_ node: NodeIndex) -> String? {
    guard tree.nodes[node].isScalar, !tree.nodes[node].hasExpression else { return nil }
    let parts = tree.string(node).split(
      separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty else { return nil }
    return "write {\(printable(String(parts[0]))): \(yamlScalar(String(parts[1])))}"
  }

  /// The help that shows a value as a map whose words name one key.
  private func mapHelp(_ node: NodeIndex, of kind: ObjectKind) -> String? {
    let words = kind.words.split(separator: "'")
    guard tree.nodes[node].isScalar, !isNull(node), words.count == 2,
      let type = kind.rows.first(where: { $0.key == words[1] })?.type, type.itemType == nil,
      !type.isMap
    else { return nil }
    return "write {\(words[1]): \(printable(tree.string(node)))}"
  }

  /// The help that shows a single item as a list.
  private func listHelp(_ node: NodeIndex, of item: ValueType) -> String? {
    if tree.nodes[node].kind == .map {
      return item.isMap ? "write a list: put '- ' before the first key, or '[…]' around it" : nil
    }
    guard tree.nodes[node].isScalar, !isNull(node), !item.isMap else { return nil }
    if tree.nodes[node].hasExpression {
      let quote = tree.string(node).contains("\"") ? "'" : "\""
      let item = quote + printable(tree.string(node)) + quote
      return "write a list: [\(item)], in which the expression may stand for several items"
    }
    return "write a list: [\(printable(tree.string(node)))]"
  }

  private mutating func reportUnit(_ value: NodeIndex, _ row: KeyRow, units: String) {
    let node = tree.resolve(value)
    guard tree.withBytes(of: node, { parseDecimal($0, decimals: 9) }) != nil else {
      return reportType(value, row, help: tree.withBytes(of: node) { exceededLimit($0) } ?? units)
    }
    let number = tree.string(node)
    report(node) {
      DecodingMessage.noUnit(row.wanted, number: number, units: units, at: $0)
    }
  }

  /// Reports an expression in the value of a key that accepts none.
  mutating func reportExpression(_ node: NodeIndex, _ row: KeyRow) {
    var place = span(node)
    if !tree.nodes[node].isInArena,
      let range = tree.withBytes(of: node, expressionRange)
    {
      let start = Int(place.start) + (tree.nodes[node].kind == .quoted ? 1 : 0)
      place = Span(start: start + range.lowerBound, end: start + range.upperBound)
    }
    log.report(at: place) { DecodingMessage.noExpression(row.key, at: $0) }
  }

  /// True if a value is `null`, `~` or empty. Inlined, because the decoder is large, and a call
  /// that may change it would copy it.
  @inline(__always)
  func isNull(_ node: NodeIndex) -> Bool { tree.isNull(node) }

  /// The words for a value in "must be …, not …".
  func found(_ node: NodeIndex) -> String {
    switch tree.nodes[node].kind {
    case .map: return "a map"
    case .list: return "a list"
    case .alias: return found(tree.resolve(node))
    case .quoted, .block: return "the string \(quoted(tree.string(node)))"
    case .plain:
      if isNull(node) { return "nothing" }
      let text = tree.string(node)
      if plainBoolean(node) != nil { return text }
      if tree.withBytes(of: node, { parseDecimal($0, decimals: 9) }) != nil {
        return "the number \(text)"
      }
      return quoted(text)
    }
  }
}

/// A size in GiB or a duration in hours, in millionths; nil for any other text.
func quantityInMillionths(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
  if let bytes = byteCount(text), let amount = millionths(of: bytes, in: 1 << 30) { return amount }
  guard let duration = nanoseconds(text), duration > 0 else { return nil }
  return millionths(of: Int(duration), in: 3_600_000_000_000)
}

/// A count in millionths of a larger unit, rounded up; nil if it does not fit.
private func millionths(of count: Int, in unit: Int) -> Int64? {
  let (wholes, rest) = count.quotientAndRemainder(dividingBy: unit)
  let (product, isTooMuch) = Int64(wholes).multipliedReportingOverflow(by: 1_000_000)
  // Whole units come first, because a millionth of a byte does not fit.
  let part = Int64((Double(rest) / Double(unit) * 1_000_000).rounded(.up))
  let (sum, isSumTooMuch) = product.addingReportingOverflow(part)
  return isTooMuch || isSumTooMuch ? nil : sum
}

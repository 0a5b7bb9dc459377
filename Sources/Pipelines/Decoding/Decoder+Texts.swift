// Decodes values that may contain expressions.

import Diagnostics
import Expressions
import Plans

extension Decoder {
  private var source: SourceText { SourceText(tree.source, start: tree.base) }

  /// Decodes a scalar as a string with its expressions.
  mutating func template(_ value: NodeIndex, _ row: @autoclosure () -> KeyRow) -> Text? {
    let node = tree.resolve(value)
    guard tree.nodes[node].isScalar, tree.nodes[node].hasExpression else {
      return text(value, row()).map { .plain($0) }
    }
    return template(node)
  }

  /// Decodes a scalar as a string with its expressions, and refuses "".
  mutating func filledTemplate(
    _ value: NodeIndex, _ row: @autoclosure () -> KeyRow
  ) -> Text? {
    let node = tree.resolve(value)
    guard tree.nodes[node].isScalar, tree.nodes[node].hasExpression else {
      return filledText(value, row()).map { .plain($0) }
    }
    return template(node)
  }

  func holdsExpression(_ value: NodeIndex) -> Bool {
    let node = tree.resolve(value)
    return tree.nodes[node].isScalar && tree.nodes[node].hasExpression
  }

  /// Decodes a value with expressions that must be known before the run; nil if it has none, which is reported.
  mutating func early(_ value: NodeIndex, _ key: EarlyValue.Key) -> EarlyValue? {
    switch template(tree.resolve(value)) {
    case .template(let template)?:
      return EarlyValue(key: key, span: span(keyNode(of: value)), template: template)
    case .plain(let text)?:
      // `$${{` does not begin an expression.
      report(value) {
        DecodingMessage.wrongType(
          WantedValue(key: key.name, words: key.wanted), found: quoted(text), at: $0)
      }
      return nil
    case nil: return nil
    }
  }

  /// The template of a scalar with expressions.
  private mutating func template(_ node: NodeIndex) -> Text? {
    guard admits(node) else { return nil }
    let content = content(of: node)
    let source = source
    guard
      let template = Template(
        parsing: content, tree.origin(node), in: source, readExpressions, log: &log)
    else { return nil }
    return template.literal.map { .plain($0) } ?? .template(template)
  }

  /// The content of a scalar, which is a part of the file if it is written unchanged. Inlined, because a call copies
  /// the decoder.
  @inline(__always)
  private func content(of node: NodeIndex) -> ArraySlice<UInt8> {
    if tree.nodes[node].isInArena { return tree.withBytes(of: node) { Array($0)[...] } }
    let span = tree.textSpan(node)
    return bytes[(Int(span.start) - start)..<(Int(span.end) - start)]
  }

  /// Decodes one whole expression, with or without `${{ }}` around it.
  mutating func condition(_ value: NodeIndex, _ row: @autoclosure () -> KeyRow) -> Expression? {
    let node = tree.resolve(value)
    guard tree.nodes[node].isScalar, !isNull(node) else {
      reportType(value, row())
      return nil
    }
    guard admits(node) else { return nil }
    let content = content(of: node)
    let source = source
    return Expression(
      parsingCondition: content, tree.origin(node), in: source, readExpressions, log: &log)
  }

  /// Decodes any value. The core schema of YAML determines the type of a scalar without quotes. The
  /// reader limits nesting.
  mutating func anyValue(_ value: NodeIndex) -> ValueModel? {
    let node = tree.resolve(value)
    switch tree.nodes[node].kind {
    case .map: return mapValue(pairs(of: node, owner: "in this map"))
    case .list:
      return .list(items(of: node).compactMap { anyValue($0) })
    case .plain, .quoted, .block, .alias: return scalarValue(node)
    }
  }

  mutating func mapValue(_ pairs: [(name: String, pair: Pair)]) -> ValueModel {
    .map(
      pairs.compactMap { name, pair in
        anyValue(pair.value).map {
          MemberModel(
            name: name, span: span(pair.key), value: $0, valueSpan: span(tree.resolve(pair.value)))
        }
      })
  }

  private mutating func scalarValue(_ node: NodeIndex) -> ValueModel? {
    if tree.nodes[node].hasExpression {
      return template(node).map { text in
        switch text {
        case .plain(let text): .constant(.string(text))
        case .template(let template): .template(template)
        }
      }
    }
    guard admits(node) else { return nil }
    let text = tree.string(node)
    if isNull(node) { return .constant(.null) }
    if let boolean = plainBoolean(node) { return .constant(.bool(boolean)) }
    guard let number = plainNumber(node) else { return .constant(.string(text)) }
    if numberText(number) != text {
      report(node) { DecodingMessage.ambiguousNumber(text, as: numberText(number), at: $0) }
      return nil
    }
    return .constant(.number(number))
  }

  /// A decimal number without quotes that can be represented exactly; nil for anything else.
  func plainNumber(_ node: NodeIndex) -> Double? {
    guard tree.nodes[node].kind == .plain else { return nil }
    return tree.withBytes(of: node) { bytes in
      let digits = bytes.first == UInt8(ascii: "-") ? bytes.dropFirst() : bytes[...]
      guard let first = digits.first, let last = digits.last, isDecimalDigit(first),
        isDecimalDigit(last),
        digits.allSatisfy({ isDecimalDigit($0) || $0 == UInt8(ascii: ".") }),
        // A version such as 007 or 1.2.3 is a string.
        first != UInt8(ascii: "0") || digits.count == 1
          || digits.dropFirst().first == UInt8(ascii: ".")
      else { return nil }
      return Double(String(decoding: bytes, as: UTF8.self)).flatMap {
        $0.magnitude <= largestExactInteger ? $0 : nil
      }
    }
  }

  /// Decodes any value without expressions.
  mutating func constantValue(_ value: NodeIndex, _ row: @autoclosure () -> KeyRow) -> Value? {
    guard let model = anyValue(value) else { return nil }
    guard let constant = model.constant else {
      reportExpression(firstExpression(in: value), row())
      return nil
    }
    return constant
  }

  private func firstExpression(in value: NodeIndex) -> NodeIndex {
    let node = tree.resolve(value)
    return (node..<tree.next(after: node)).map { tree.resolve($0) }
      .first { tree.nodes[$0].isScalar && tree.nodes[$0].hasExpression } ?? node
  }
}

extension ValueModel {
  /// The value, if it contains no expression.
  var constant: Value? {
    switch self {
    case .constant(let value): return value
    case .template: return nil
    case .list(let items):
      let values = items.compactMap(\.constant)
      return values.count == items.count ? .list(values) : nil
    case .map(let members):
      let values = members.compactMap { member in member.value.constant.map { (member.name, $0) } }
      return values.count == members.count ? .map(ValueMap(values)) : nil
    }
  }
}

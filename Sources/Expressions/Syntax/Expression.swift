// A parsed expression: its text, and a flat array of nodes in which operands precede the nodes that
// use them. It is immutable, and has no allocation for each node.

package import Diagnostics

/// The contexts with which references in an expression begin.
package enum ContextRoot: UInt8, CaseIterable, Sendable {
  case params, env, steps, matrix, run, host, secrets, vars

  package var name: String { word.description }

  /// True if members may be literals of the file.
  var mayBeWritten: Bool {
    switch self {
    case .matrix, .vars: true
    case .params, .env, .steps, .run, .host, .secrets: false
    }
  }

  /// The contexts by the names that other tools use.
  package static let elsewhere: [String: ContextRoot] = [
    "inputs": .params, "needs": .steps, "jobs": .steps, "strategy": .matrix,
    "runner": .host,
  ]

  private var word: StaticString {
    switch self {
    case .params: "params"
    case .env: "env"
    case .steps: "steps"
    case .matrix: "matrix"
    case .run: "run"
    case .host: "host"
    case .secrets: "secrets"
    case .vars: "vars"
    }
  }

  package static func named(_ name: ArraySlice<UInt8>) -> ContextRoot? {
    name.withUnsafeBufferPointer(named)
  }

  private static func named(_ name: UnsafeBufferPointer<UInt8>) -> ContextRoot? {
    for number: UInt8 in 0..<8 {
      if let root = ContextRoot(rawValue: number), root.word.isSame(as: name) { return root }
    }
    return nil
  }
}

/// One literal, name, operator or call. It takes 12 bytes.
struct ExpressionNode: Hashable, Sendable {
  enum Kind: UInt8 {
    case null, `true`, `false`, number, string
    /// A context; `detail` is a `ContextRoot`.
    case root
    /// A name that is neither a context nor a keyword.
    case unknownName
    /// `x.name`, with one operand.
    case member
    /// `x[y]`, with two operands.
    case index
    /// `[x, y]`, with any number of operands.
    case list
    case not
    /// An operator with two operands, or with more if it chains; `detail` is a `BinaryOperator`.
    case binary
    /// `x ? y : z`, with three operands.
    case conditional
    /// A call; `detail` is a `Function`.
    case call
    case unknownCall
    /// A constant that folding inserted; `value` is its number, `detail` is a `ValueOrigin`.
    case constant
  }

  var kind: Kind
  var detail: UInt8 = 0
  /// The number of nodes from the first operand to this one.
  var size: UInt16 = 1
  /// The position of the node in the text, counted from the start of the expression.
  var start: UInt16
  var end: UInt16
  var value: UInt32 = 0
}

extension ExpressionNode {
  /// True if the value, if there is one, is true or false whatever the operands are.
  var isBoolean: Bool {
    switch kind {
    case .true, .false, .not: true
    case .binary: BinaryOperator(rawValue: detail) != .coalesce
    case .call: Function(rawValue: detail)?.row.result == .bool
    case .null, .number, .string, .root, .unknownName, .member, .index, .list, .conditional,
      .unknownCall, .constant:
      false
    }
  }
}

package struct Expression: Hashable, Sendable {
  package static let maxByteCount = 65_535
  package static let maxDepth = 64

  /// The whole string that the expression is a part of; a template without parts if the expression
  /// is all of it.
  package let template: Template
  /// The offset of the expression in the text.
  package let base: Int
  /// The index of the last node.
  package let root: Int
}

extension Expression {
  package var content: ArraySlice<UInt8> { template.content }
  package var origin: TextOrigin { template.origin }
  var nodes: [ExpressionNode] { template.nodes }
  var constants: [Value] { template.constants }

  package func range(of node: Int) -> Range<Int> {
    base + Int(nodes[node].start)..<base + Int(nodes[node].end)
  }

  package func text(_ range: Range<Int>) -> String {
    String(decoding: content[range], as: UTF8.self)
  }

  /// The operands of a node, in the order they are written.
  package func operands(of node: Int) -> [Int] {
    let first = node + 1 - Int(nodes[node].size)
    var operand = node - 1
    var found: [Int] = []
    while operand >= first {
      found.append(operand)
      operand -= Int(nodes[operand].size)
    }
    return found.reversed()
  }

  /// The two operands of a node that has two.
  package func pair(of node: Int) -> (Int, Int) {
    let right = node - 1
    return (right - Int(nodes[right].size), right)
  }

  /// The name in `x.name`.
  func memberName(of node: Int) -> String { text(memberNameRange(of: node)) }

  func memberNameRange(of node: Int) -> Range<Int> {
    let end = range(of: node).upperBound
    let first = content.startIndex
    let start = content.withUnsafeBufferPointer { bytes in
      var start = end - first
      while start > base - first, bytes[start - 1] != UInt8(ascii: ".") { start -= 1 }
      return start + first
    }
    return start..<end
  }

  /// The range of the name of a call, or of an unknown name.
  func nameRange(of node: Int) -> Range<Int> {
    let start = range(of: node).lowerBound
    let end = content[start...].firstIndex { !isNameByte($0) } ?? content.endIndex
    return start..<end
  }

  /// The location of the range in the file.
  package func span(of range: Range<Int>, in source: SourceText) -> Span {
    origin.span(of: range, in: content, source)
  }

  /// The location of the whole expression in the file.
  package func span(in source: SourceText) -> Span {
    span(of: range(of: root), in: source)
  }
}

/// Queries about what an expression names, without evaluating it.
extension Expression {
  /// A reference such as `params.version`: a context, and the member that is named. A nil member
  /// stands for the whole context.
  package struct Reference: Hashable, Sendable {
    package let root: ContextRoot
    package let member: String?
    /// The range in the text; `span(of:in:)` returns the location in the file.
    package let range: Range<Int>
  }

  package var references: [Reference] {
    let first = root + 1 - Int(nodes[root].size)
    return (first...root).compactMap { node in
      guard nodes[node].kind == .root, let root = ContextRoot(rawValue: nodes[node].detail) else {
        return nil
      }
      let parent = node + 1
      let isMember = parent <= self.root && nodes[parent].kind == .member
      return Reference(
        root: root, member: isMember ? memberName(of: parent) : literalIndex(above: node),
        range: isMember ? range(of: parent) : range(of: node))
    }
  }

  /// The literal `'x'` in `root['x']`.
  private func literalIndex(above node: Int) -> String? {
    let parent = node + 2
    guard parent <= root, nodes[parent].kind == .index, nodes[parent].size == 3,
      nodes[node + 1].kind == .string
    else { return nil }
    return stringLiteral(node + 1)
  }

  package func uses(_ root: ContextRoot) -> Bool {
    let first = self.root + 1 - Int(nodes[self.root].size)
    return nodes[first...self.root].contains { $0.kind == .root && $0.detail == root.rawValue }
  }

  /// True if the other one has the same source text, and so the same meaning where the same names are known.
  package func isWritten(as other: Expression) -> Bool {
    template.isAsWritten && other.template.isAsWritten
      && areSame(content[range(of: root)], other.content[other.range(of: other.root)])
  }

  /// The name of the step in an expression like `steps.build.outputs.size`, and the text after it;
  /// nil for any other.
  package var stepPath: (name: ArraySlice<UInt8>, rest: ArraySlice<UInt8>)? {
    let first = root + 1 - Int(nodes[root].size)
    guard template.isAsWritten, first < root, nodes[first].kind == .root,
      nodes[first].detail == ContextRoot.steps.rawValue,
      nodes[(first + 1)...root].allSatisfy({ $0.kind == .member })
    else { return nil }
    let name = memberNameRange(of: first + 1)
    return (content[name], content[name.upperBound..<range(of: root).upperBound])
  }

  /// The step in a node like `steps.build.outputs` or `steps['build'].outputs`; nil for any other.
  func step(ofOutputs node: Int) -> String? {
    let step = node - 1
    let isIndexed = step > 0 && nodes[step].kind == .index
    let first = step - (isIndexed ? 2 : 1)
    guard first >= 0, nodes[node].kind == .member, memberName(of: node) == "outputs",
      nodes[first].kind == .root, nodes[first].detail == ContextRoot.steps.rawValue
    else { return nil }
    if isIndexed { return literalIndex(above: first) }
    return nodes[step].kind == .member ? memberName(of: step) : nil
  }

  /// True if the expression names something that differs from step to step.
  package var isOfStep: Bool {
    let first = root + 1 - Int(nodes[root].size)
    return nodes[first...root].contains {
      $0.kind == .root
        && ($0.detail == ContextRoot.steps.rawValue || $0.detail == ContextRoot.matrix.rawValue)
    }
  }

  /// True if `success()`, `failure()`, `cancelled()` or `always()` is called: such a condition
  /// replaces the implicit `ok` of a step's edges.
  package var callsStatusFunction: Bool {
    calls { $0.row.isStatus }
  }

  func calls(_ isMeant: (Function) -> Bool) -> Bool {
    let first = root + 1 - Int(nodes[root].size)
    return nodes[first...root].contains {
      $0.kind == .call && Function(rawValue: $0.detail).map(isMeant) ?? false
    }
  }
}

package func isNameStart(_ byte: UInt8) -> Bool {
  byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z") || byte == UInt8(ascii: "_")
}

package func isNameByte(_ byte: UInt8) -> Bool { isNameStart(byte) || isDecimalDigit(byte) }

extension StaticString {
  package func isSame(as bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    guard utf8CodeUnitCount == bytes.count, let start = bytes.baseAddress else { return false }
    return areEqual(utf8Start, start, count: bytes.count)
  }
}

extension Expression {
  /// True if the expression calls `hashFiles` or `exists`. O(number of its nodes).
  package var looksAtFiles: Bool {
    let first = root + 1 - Int(nodes[root].size)
    return nodes[first...root].contains {
      $0.kind == .call
        && [Function.hashFiles.rawValue, Function.exists.rawValue].contains($0.detail)
    }
  }
}

// Turns nodes into values. Evaluation and folding are one traversal: known parts become values,
// unknown parts stay as they are written; an evaluation is a folding that leaves nothing.

import Diagnostics

/// The purpose of a traversal of an expression.
package enum FoldingGoal {
  /// The value: an unknown part is an error.
  case value
  /// The value, if every part is known.
  case knownValue
  /// The rest of the expression, as nodes.
  case rest
}

/// Finds the value of an expression, or builds the nodes of what is left of it.
struct Folding {
  package let expression: Expression
  let bindings: any ExpressionBindings
  private let goal: FoldingGoal
  /// The nodes of the rest; empty unless the goal is the rest.
  package private(set) var nodes: [ExpressionNode] = []
  package private(set) var constants: [Value]
  /// True if a part of the expression has a value; if none has, nothing changes.
  package private(set) var hasValues = false
  /// The parts that have failed: each is tried once, because they may be nested.
  private var failed: Set<Int> = []
  /// The origin of the value that was found last.
  private(set) var origin = ValueOrigin.computed

  /// Prepares a traversal. New constants are added to those given, which begin with the expression's own.
  package init(
    _ expression: Expression, _ bindings: any ExpressionBindings, for goal: FoldingGoal,
    constants: consuming [Value]
  ) {
    self.expression = expression
    self.bindings = bindings
    self.goal = goal
    self.constants = constants
  }

  /// The value, unless something is left.
  package mutating func run() throws(EvaluationFailure) -> Value? {
    do throws(ExpressionFailure) {
      return try fold(expression.root)
    } catch {
      throw EvaluationFailure(error, in: expression)
    }
  }

  func fault(_ words: UnlocatedFailure, _ node: Int) -> ExpressionFailure {
    ExpressionFailure(words, at: expression.range(of: node))
  }
}

// Writing nodes.
extension Folding {
  /// Writes a constant in place of everything since `start`.
  private mutating func put(_ value: Value, for node: Int, since start: Int) -> Value {
    hasValues = true
    guard goal == .rest else { return value }
    nodes.removeLast(nodes.count - start)
    var constant = expression.nodes[node]
    if expression.literal(node) == nil {
      constant.kind = .constant
      constant.detail = origin.rawValue
      constant.size = 1
      constant.value = UInt32(truncatingIfNeeded: constants.count)
      constants.append(value)
    }
    nodes.append(constant)
    return value
  }

  /// Writes a value that the author did not write in place of everything since `start`.
  private mutating func computed(_ value: Value, for node: Int, since start: Int) -> Value {
    origin = .computed
    return put(value, for: node, since: start)
  }

  /// Writes the node itself, over the operands that were written since `start`.
  private mutating func leave(_ node: Int, since start: Int) -> Value? {
    guard goal == .rest else { return nil }
    var left = expression.nodes[node]
    left.size = UInt16(clamping: nodes.count - start + 1)
    nodes.append(left)
    return nil
  }

  /// Writes a node with all its operands, as they are.
  private mutating func copy(_ node: Int) {
    guard goal == .rest else { return }
    nodes.append(
      contentsOf: expression.nodes[(node + 1 - Int(expression.nodes[node].size))...node])
  }

  /// Folds a part that may never be evaluated. If it fails, it is left for the run, but the parts
  /// of it that have a value are folded, because the run does not know all names.
  private mutating func foldPerhaps(_ node: Int, isLenient: Bool = false) -> Value? {
    let start = nodes.count
    if !failed.contains(node) {
      do throws(ExpressionFailure) {
        return try fold(node, isLenient: isLenient)
      } catch {
        guard goal == .rest else { return nil }
        failed.insert(node)
        nodes.removeLast(nodes.count - start)
      }
    }
    for operand in expression.operands(of: node) {
      // A context has no value apart from its member.
      if isContextOfMember(operand, in: node) { copy(operand) } else { _ = foldPerhaps(operand) }
    }
    return leave(node, since: start)
  }

  private func isContextOfMember(_ operand: Int, in node: Int) -> Bool {
    guard expression.nodes[operand].kind == .root else { return false }
    let kind = expression.nodes[node].kind
    return kind == .member || kind == .index && operand == expression.pair(of: node).0
  }
}

// Folding of one node each; nil if it is not known.
extension Folding {
  /// Folds a node. If `isLenient`, a missing member is null.
  private mutating func fold(
    _ node: Int, isLenient: Bool = false
  ) throws(ExpressionFailure) -> Value? {
    let start = nodes.count
    if let value = expression.literal(node) {
      let literal = expression.nodes[node]
      origin =
        literal.kind == .constant ? ValueOrigin(rawValue: literal.detail) ?? .computed : .authors
      return put(value, for: node, since: start)
    }
    switch expression.nodes[node].kind {
    case .root: return try foldRoot(node)
    case .member, .index: return try foldPath(node, isLenient: isLenient)
    case .not:
      guard let value = try fold(node - 1) else { return leave(node, since: start) }
      return computed(.bool(!(try boolean(value, of: "!", node - 1))), for: node, since: start)
    case .binary: return try foldBinary(node, isLenient: isLenient)
    case .conditional: return try foldConditional(node)
    case .list, .call: return try foldItems(node)
    case .unknownName, .unknownCall, .null, .true, .false, .number, .string, .constant:
      let name = expression.text(expression.nameRange(of: node))
      throw fault(ExpressionMessage.unknownName(name, suggestion: nil), node)
    }
  }

  private func boolean(
    _ value: Value, of sign: String, _ node: Int
  ) throws(ExpressionFailure) -> Bool {
    if case .bool(let truth) = value { return truth }
    throw fault(
      ExpressionMessage.wrongOperand(sign, wanted: "true or false", found: value.type.words), node)
  }

  private mutating func foldRoot(_ node: Int) throws(ExpressionFailure) -> Value? {
    let start = nodes.count
    guard let root = ContextRoot(rawValue: expression.nodes[node].detail) else { return nil }
    switch bindings.value(of: root) {
    case .known(let value): return computed(value, for: node, since: start)
    case .later, .missing:
      if goal == .value { throw fault(ExpressionMessage.notYetKnown(root.name), node) }
      return leave(node, since: start)
    }
  }

  private mutating func foldConditional(_ node: Int) throws(ExpressionFailure) -> Value? {
    let start = nodes.count
    let operands = expression.operands(of: node)
    guard let condition = try fold(operands[0]) else {
      _ = foldPerhaps(operands[1])
      _ = foldPerhaps(operands[2])
      return leave(node, since: start)
    }
    let isTrue = try boolean(condition, of: "?:", operands[0])
    nodes.removeLast(nodes.count - start)
    return try fold(operands[isTrue ? 1 : 2])
  }

  private mutating func foldBinary(
    _ node: Int, isLenient: Bool
  ) throws(ExpressionFailure) -> Value? {
    switch BinaryOperator(rawValue: expression.nodes[node].detail) {
    case .and: try foldLogic(node, absorbing: false)
    case .or: try foldLogic(node, absorbing: true)
    case .coalesce: try foldCoalesce(node, isLenient: isLenient)
    case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .in, nil:
      try foldPair(node)
    }
  }

  /// Folds `&&` or `||`: `false` decides `&&`, `true` decides `||`; the other value decides nothing
  /// and is left out.
  private mutating func foldLogic(
    _ node: Int, absorbing: Bool
  ) throws(ExpressionFailure) -> Value? {
    let start = nodes.count
    let sign = absorbing ? "||" : "&&"
    var leftCount = 0
    for operand in expression.operands(of: node) {
      let mark = nodes.count
      let value = leftCount == 0 ? try fold(operand) : foldPerhaps(operand)
      guard let value, leftCount == 0 || value.type == .bool else {
        leftCount += 1
        continue
      }
      if try boolean(value, of: sign, operand) == absorbing {
        return computed(.bool(absorbing), for: node, since: start)
      }
      nodes.removeLast(nodes.count - mark)
    }
    if leftCount == 0 { return computed(.bool(!absorbing), for: node, since: start) }
    if leftCount > 1 { return leave(node, since: start) }
    guard goal == .rest, let left = nodes.last, !left.isBoolean else { return nil }
    // The operator still checks that its only operand is true or false.
    let place = expression.nodes[node].start
    nodes.insert(
      ExpressionNode(kind: absorbing ? .false : .true, start: place, end: place), at: start)
    return leave(node, since: start)
  }

  private mutating func foldCoalesce(
    _ node: Int, isLenient: Bool
  ) throws(ExpressionFailure) -> Value? {
    let start = nodes.count
    let operands = expression.operands(of: node)
    var leftCount = 0
    for operand in operands {
      let mark = nodes.count
      let isLast = operand == operands.last
      let value =
        leftCount == 0
        ? try fold(operand, isLenient: isLenient || !isLast)
        : foldPerhaps(operand, isLenient: isLenient || !isLast)
      if let value, value != .null || isLast {
        if leftCount == 0 { return put(value, for: node, since: start) }
        leftCount += 1
        break
      }
      if value == nil { leftCount += 1 } else { nodes.removeLast(nodes.count - mark) }
    }
    return leftCount == 1 ? nil : leave(node, since: start)
  }

  private mutating func foldPair(_ node: Int) throws(ExpressionFailure) -> Value? {
    let start = nodes.count
    let (leftNode, rightNode) = expression.pair(of: node)
    let left = try fold(leftNode)
    let right = try fold(rightNode)
    guard let left, let right,
      let sign = BinaryOperator(rawValue: expression.nodes[node].detail)
    else { return leave(node, since: start) }
    if let budget = bindings.valueBudget,
      !budget.allows(reading: left) || !budget.allows(reading: right)
    {
      throw fault(ExpressionMessage.tooMuchRead, node)
    }
    if let result = sign == .in ? right.holds(left) : sign.compare(left, right) {
      return computed(.bool(result), for: node, since: start)
    }
    if sign == .in, right.type != .map {
      throw fault(
        ExpressionMessage.wrongOperand("in", wanted: "a list or a map", found: right.type.words),
        rightNode)
    }
    throw fault(
      ExpressionMessage.incomparable(
        expression.comparedSide(leftNode, words: left.type.words),
        expression.comparedSide(rightNode, words: right.type.words)), node)
  }

  private mutating func foldItems(_ node: Int) throws(ExpressionFailure) -> Value? {
    let start = nodes.count
    let operands = expression.operands(of: node)
    var values: [Value] = []
    var all = ValueOrigin.authors
    for operand in operands {
      guard let value = try fold(operand) else { continue }
      values.append(value)
      if origin != .authors, all != .computed { all = origin }
    }
    guard values.count == operands.count else { return leave(node, since: start) }
    if expression.nodes[node].kind == .list {
      origin = all
      return put(.list(values), for: node, since: start)
    }
    guard let function = Function(rawValue: expression.nodes[node].detail) else { return nil }
    do throws(ArgumentFailure) {
      if let value = try function.call(values, bindings) {
        return computed(value, for: node, since: start)
      }
    } catch {
      throw fault(error.words, error.argument.map { operands[$0] } ?? node)
    }
    if goal == .value { throw fault(ExpressionMessage.notYetKnown("\(function.row.name)()"), node) }
    return leave(node, since: start)
  }
}

// Members and items.
extension Folding {
  private mutating func foldPath(
    _ node: Int, isLenient: Bool
  ) throws(ExpressionFailure) -> Value? {
    let start = nodes.count
    let isMember = expression.nodes[node].kind == .member
    let owner = isMember ? node - 1 : expression.pair(of: node).0
    if expression.nodes[owner].kind == .root {
      return try foldContextMember(node, owner, isLenient: isLenient)
    }
    let whole = try fold(owner, isLenient: isLenient)
    let originOfWhole = origin
    let index: Value? =
      isMember ? .string(expression.memberName(of: node)) : try fold(node - 1)
    guard let whole, let index else { return leave(node, since: start) }
    origin = originOfWhole
    if let item = try item(index, of: whole, node, isLenient: isLenient) {
      return put(item, for: node, since: start)
    }
    return put(.null, for: node, since: start)
  }

  /// Folds `root.name` and `root['name']`.
  private mutating func foldContextMember(
    _ node: Int, _ owner: Int, isLenient: Bool
  ) throws(ExpressionFailure) -> Value? {
    let start = nodes.count
    guard let root = ContextRoot(rawValue: expression.nodes[owner].detail) else { return nil }
    copy(owner)
    let isMember = expression.nodes[node].kind == .member
    let index: Value? =
      isMember ? .string(expression.memberName(of: node)) : try fold(node - 1)
    guard let index else { return leave(node, since: start) }
    guard case .string(let name) = index else {
      throw fault(
        ExpressionMessage.wrongIndex(wanted: "a string", found: index.type.words), node - 1)
    }
    origin = .computed
    switch bindings.member(name, of: root) {
    case .known(let value):
      origin = bindings.origin(of: name, in: root)
      return put(value, for: node, since: start)
    case .later:
      if goal == .value { throw fault(ExpressionMessage.notYetKnown("\(root.name).\(name)"), node) }
      return leave(node, since: start)
    case .missing:
      if isLenient { return put(.null, for: node, since: start) }
      throw fault(ExpressionMessage.unknownMember(name, of: root, suggestion: nil), node)
    }
  }

  /// An item of a list or a member of a map; nil if it is missing where that is allowed.
  private func item(
    _ index: Value, of whole: Value, _ node: Int, isLenient: Bool
  ) throws(ExpressionFailure) -> Value? {
    switch (whole, index) {
    case (.map(let map), .string(let name)):
      if let value = map[name] { return value }
      if isLenient { return nil }
      throw missing(name, of: map, node)
    case (.list(let items), .number(let number)):
      if let place = Int(exactly: number), items.indices.contains(place) { return items[place] }
      if isLenient { return nil }
      throw fault(
        ExpressionMessage.missingItem(numberText(number), count: items.count), node - 1)
    case (.null, _) where isLenient: return nil
    case (.map, _):
      throw fault(
        ExpressionMessage.wrongIndex(wanted: "a string", found: index.type.words), node - 1)
    case (.list, _) where expression.nodes[node].kind == .index:
      throw fault(
        ExpressionMessage.wrongIndex(wanted: "a number", found: index.type.words), node - 1)
    case (.null, _), (.bool, _), (.number, _), (.string, _), (.list, _):
      throw noParts(of: whole, node)
    }
  }
}

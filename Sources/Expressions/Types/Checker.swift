// Checks the names and types of an expression, before any values are known. A value that is unknown
// until the run has the type `any`, and is checked then.

package import Diagnostics

extension Expression {
  /// Reports faults; returns the type of the value, which is `any` after a fault.
  @discardableResult
  package func check(
    in scope: some ExpressionScope, _ source: SourceText, log: inout DiagnosticLog
  ) -> ExpressionType {
    check(for: .all, in: scope, source, log: &log)
  }

  /// Checks that the value is of one of these types.
  @discardableResult
  package func check(
    for wanted: ExpressionType.Kinds, in scope: some ExpressionScope, _ source: SourceText,
    log: inout DiagnosticLog
  ) -> ExpressionType {
    var checker = ExpressionChecker(self, scope)
    return checker.check(for: wanted, source, log: &log, ExpressionMessage.wrongValue)
  }

  /// Checks that the value is true or false, as that of a condition.
  package func checkCondition(
    in scope: some ExpressionScope, _ source: SourceText, log: inout DiagnosticLog
  ) {
    var checker = ExpressionChecker(self, scope)
    checker.check(for: .bool, source, log: &log, ExpressionMessage.wrongCondition)
  }
}

package struct ExpressionChecker {
  let expression: Expression
  let scope: any ExpressionScope
  private(set) var faults: [ExpressionFailure] = []
  /// The names of secrets that may be missing.
  private var missable: Set<Int> = []

  package init(_ expression: Expression, _ scope: any ExpressionScope) {
    self.expression = expression
    self.scope = scope
  }

  /// Checks that the value is of one of these types, and reports all faults; `wrong` is the message about
  /// another type than the wanted one. Returns the type, which is `any` after a fault.
  @discardableResult
  package mutating func check(
    for wanted: ExpressionType.Kinds, _ source: SourceText, log: inout DiagnosticLog,
    _ wrong: (String, String) -> UnlocatedFailure
  ) -> ExpressionType {
    let type = expect(wanted, expression.root, wrong)
    for fault in faults {
      log.report(at: expression.span(of: fault.range, in: source)) {
        fault.words.diagnostic(at: $0)
      }
    }
    return faults.isEmpty ? type : .any
  }

  @discardableResult
  mutating func report(_ words: UnlocatedFailure, _ node: Int) -> ExpressionType {
    report(words, at: expression.range(of: node))
  }

  mutating func report(_ words: UnlocatedFailure, at range: Range<Int>) -> ExpressionType {
    faults.append(ExpressionFailure(words, at: range))
    return .any
  }

  mutating func type(of node: Int) -> ExpressionType {
    switch expression.nodes[node].kind {
    case .null: .null
    case .true, .false: .bool
    case .number: .number
    case .string: .string
    case .constant: expression.literal(node).map(ExpressionType.init(of:)) ?? .any
    case .root: wholeContext(node)
    case .unknownName: unknownName(node)
    case .member: member(node)
    case .index: index(node)
    case .list: list(node)
    case .not:
      expect(.bool, node - 1) { ExpressionMessage.wrongOperand("!", wanted: $0, found: $1) }
    case .binary: binary(node)
    case .conditional: conditional(node)
    case .call: call(node)
    case .unknownCall: unknownCall(node)
    }
  }

  /// Checks an operand; returns its type if it may be one of the wanted types.
  @discardableResult
  fileprivate mutating func expect(
    _ wanted: ExpressionType.Kinds, _ node: Int, _ wrong: (String, String) -> UnlocatedFailure
  ) -> ExpressionType {
    let type = type(of: node)
    if type.kinds.isDisjoint(with: wanted) { return report(wrong(wanted.words, type.words), node) }
    if !missable.isEmpty, missable.contains(node), !wanted.contains(.null) {
      let name = expression.text(expression.range(of: node))
      return report(ExpressionMessage.mayBeMissing(name), node)
    }
    return type
  }

  private mutating func unknownName(_ node: Int) -> ExpressionType {
    let name = expression.text(expression.range(of: node))
    let roots = ContextRoot.allCases.map(\.name)
    let close = scope.suggester.closest(to: name, among: roots + ["null", "true", "false"])
    let next = expression.content[expression.range(of: node).upperBound...].first
    guard next == UInt8(ascii: ".") || next == UInt8(ascii: "[") else {
      let function = Function.allCases.lazy.map(\.row).first { $0.name == name }
      return report(
        ExpressionMessage.unknownName(
          name, suggestion: memberPath(of: name) ?? close, function: function), node)
    }
    let meant = ContextRoot.elsewhere[name]?.name ?? close
    return report(ExpressionMessage.unknownRoot(name, suggestion: meant, among: roots), node)
  }

  /// The path for a bare name, such as `params.version` for `version`, if there is such a parameter.
  func memberPath(of name: String) -> String? {
    let owner = [ContextRoot.params, .vars, .matrix].first { root in
      if case .known = scope.member(name, of: root) { true } else { false }
    }
    return owner.map { "\($0.name).\(name)" }
  }

  private mutating func list(_ node: Int) -> ExpressionType {
    var item: ExpressionType?
    for operand in expression.operands(of: node) {
      let type = type(of: operand)
      item = item?.union(type) ?? type
    }
    return item.map(ExpressionType.list(of:)) ?? ExpressionType(.list)
  }

  private mutating func conditional(_ node: Int) -> ExpressionType {
    let operands = expression.operands(of: node)
    expect(.bool, operands[0]) { ExpressionMessage.wrongOperand("?:", wanted: $0, found: $1) }
    let first = type(of: operands[1])
    return first.union(type(of: operands[2]))
  }
}

// Operators.
extension ExpressionChecker {
  private mutating func binary(_ node: Int) -> ExpressionType {
    guard let sign = BinaryOperator(rawValue: expression.nodes[node].detail) else { return .any }
    switch sign {
    case .and, .or:
      for operand in expression.operands(of: node) {
        expect(.bool, operand) {
          ExpressionMessage.wrongOperand(sign.sign, wanted: $0, found: $1)
        }
      }
      return .bool
    case .coalesce: return coalesce(node)
    case .in: checkHolding(node)
    case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual:
      checkComparison(sign, node)
    }
    return .bool
  }

  private mutating func coalesce(_ node: Int) -> ExpressionType {
    var result: ExpressionType?
    for operand in expression.operands(of: node) {
      let type = type(of: operand)
      let before = result?.unwrapped
      result = before.map { $0.kinds.isEmpty ? type : $0.union(type) } ?? type
    }
    return result ?? .any
  }
}

// Names.
extension ExpressionChecker {
  private func contextRoot(_ node: Int) -> ContextRoot? {
    let node = expression.nodes[node]
    return node.kind == .root ? ContextRoot(rawValue: node.detail) : nil
  }

  private mutating func wholeContext(_ node: Int) -> ExpressionType {
    guard let root = contextRoot(node) else { return .any }
    if let words = scope.objection(to: root) { return report(words, node) }
    return scope.type(of: root) ?? report(ExpressionMessage.wholeRoot(root), node)
  }

  private mutating func member(_ node: Int) -> ExpressionType {
    let range = expression.memberNameRange(of: node)
    return member(expression.text(range), range, of: node - 1, node)
  }

  private mutating func index(_ node: Int) -> ExpressionType {
    let (owner, index) = expression.pair(of: node)
    if expression.nodes[index].kind == .string {
      let name = expression.stringLiteral(index)
      return member(name, expression.range(of: index), of: owner, node)
    }
    let whole = type(of: owner)
    let found = type(of: index)
    var indices: ExpressionType.Kinds = []
    if whole.kinds.contains(.list) { indices.insert(.number) }
    if whole.kinds.contains(.map) { indices.insert(.string) }
    if indices.isEmpty {
      return report(ExpressionMessage.noItems(whole.words, in: written(owner)), owner)
    }
    if found.kinds.isDisjoint(with: indices) {
      return report(
        ExpressionMessage.wrongIndex(wanted: indices.words, found: found.words), index)
    }
    return whole.kinds.contains(.map) ? .any : whole.item
  }

  /// The type of `owner.name` or `owner['name']`; `range` is that of the name.
  private mutating func member(
    _ name: String, _ range: Range<Int>, of owner: Int, _ node: Int
  ) -> ExpressionType {
    if let root = contextRoot(owner) {
      return contextMember(name, range, of: root, node)
    }
    let whole = type(of: owner)
    guard whole.kinds.contains(.map) else {
      let isMember = expression.nodes[node].kind == .member
      if !isMember, whole.kinds.contains(.list) {
        return report(
          ExpressionMessage.wrongIndex(wanted: "a number", found: "a string"), at: range)
      }
      return report(
        isMember
          ? ExpressionMessage.noMembers(whole.words, in: written(owner))
          : ExpressionMessage.noItems(whole.words, in: written(owner)), owner)
    }
    guard let members = whole.members else { return .any }
    if let type = members[name] { return type }
    if members.isOpen || whole.kinds != .map { return .any }
    return report(
      ExpressionMessage.unknownMember(
        name, of: written(owner),
        suggestion: scope.suggester.closest(to: name, among: members.names),
        among: members.names), at: range)
  }

  private func written(_ node: Int) -> String { expression.text(expression.range(of: node)) }

  private mutating func contextMember(
    _ name: String, _ range: Range<Int>, of root: ContextRoot, _ node: Int
  ) -> ExpressionType {
    if let words = scope.objection(to: root) { return report(words, node) }
    switch scope.member(name, of: root) {
    case .known(let type):
      if type.kinds.contains(.null), scope.mayBeMissing(name, of: root) { missable.insert(node) }
      return type
    case .refused(let words): return report(words, node)
    case .unknown:
      return report(
        ExpressionMessage.unknownMember(
          name, of: root, suggestion: scope.suggestion(for: name, of: root),
          among: scope.names(of: root)), at: range)
    }
  }
}

// Calls.
extension ExpressionChecker {
  private mutating func unknownCall(_ node: Int) -> ExpressionType {
    let range = expression.nameRange(of: node)
    let name = expression.text(range)
    let close = scope.suggester.closest(to: name, among: Function.allCases.lazy.map(\.row.name))
    for operand in expression.operands(of: node) { _ = type(of: operand) }
    return report(ExpressionMessage.unknownFunction(name, suggestion: close), at: range)
  }

  private mutating func call(_ node: Int) -> ExpressionType {
    guard let function = Function(rawValue: expression.nodes[node].detail) else { return .any }
    let row = function.row
    let operands = expression.operands(of: node)
    if row.isStatus, !scope.allowsStatusFunctions {
      return report(ExpressionMessage.statusUnavailable(row.name), node)
    }
    guard row.argumentCounts.contains(operands.count) else {
      for operand in operands { _ = type(of: operand) }
      return report(ExpressionMessage.argumentCount(row, found: operands.count), node)
    }
    var types: [ExpressionType] = []
    for (number, operand) in operands.enumerated() {
      let parameter = row.parameter(number)
      types.append(
        expect(parameter.kinds, operand) {
          ExpressionMessage.wrongArgument(row, parameter, found: $1)
        })
    }
    checkTogether(function, types, operands)
    return row.result
  }

  /// Checks requirements that one argument places on another.
  private mutating func checkTogether(
    _ function: Function, _ types: [ExpressionType], _ operands: [Int]
  ) {
    switch function {
    case .contains where types[0].kinds == .string && !types[1].kinds.contains(.string):
      let parameter = FunctionRow.Parameter(name: "part", kinds: .string)
      report(
        ExpressionMessage.wrongArgument(function.row, parameter, found: types[1].words),
        operands[1])
    case .contains where types[0].kinds == .list && areForeign(types[1], types[0].item):
      report(ExpressionMessage.foreignItem(types[1].words, in: types[0].item.words), operands[1])
    case .contains where types[0].kinds == .list:
      checkItems(types[1], operands[1], in: types[0], operands[0])
    case .join where types[0].kinds == .list && types[0].item.kinds.isDisjoint(with: .text):
      report(ExpressionMessage.unjoinable(types[0].item.words), operands[0])
    case .matches:
      guard case .string(let pattern)? = expression.literal(operands[1]) else { return }
      do throws(TextPatternFailure) {
        if try (scope.valueBudget ?? ValueBudget()).pattern(pattern) == nil {
          report(ExpressionMessage.tooMuchMatched, operands[1])
        }
      } catch {
        report(ExpressionMessage.badPattern(error.reason), operands[1])
      }
    case .contains, .join, .startsWith, .endsWith, .split, .lower, .upper, .trim, .len, .basename,
      .dirname, .toJSON, .fromJSON, .quote, .hashFiles, .exists, .success, .failure, .cancelled,
      .always:
      break
    }
  }
}

// Evaluates an expression: its value, its value if it is known, or what is left of it.

import Diagnostics

extension Expression {
  package func evaluated(
    with bindings: some ExpressionBindings
  ) throws(EvaluationFailure) -> Value {
    if case .known(let value)? = pathStart(bindings), isShortPath { return value }
    var folding = Folding(self, bindings, for: .value, constants: [])
    guard let value = try folding.run() else {
      preconditionFailure("an evaluation that fails says so")
    }
    return value
  }

  /// The value; nil if some of it is not known yet. An expression that can never have a value is an
  /// error, as in `folded`.
  package func valueIfKnown(
    with bindings: some ExpressionBindings
  ) throws(EvaluationFailure) -> Value? {
    switch pathStart(bindings) {
    case .known(let value)? where isShortPath: return value
    case .later?: return nil
    case .known?, .missing?, nil: break
    }
    var folding = Folding(self, bindings, for: .knownValue, constants: [])
    return try folding.run()
  }

  /// The value, and whether the author of the file wrote it; nil if it is not known yet, and the
  /// goal allows that.
  func found(
    for goal: FoldingGoal, with bindings: some ExpressionBindings
  ) throws(EvaluationFailure) -> FoundValue? {
    if let (name, context) = path {
      switch bindings.member(name, of: context) {
      case .known(let value) where isShortPath:
        return FoundValue(value: value, origin: bindings.origin(of: name, in: context))
      case .later where goal == .knownValue: return nil
      case .known, .later, .missing: break
      }
    }
    var folding = Folding(self, bindings, for: goal, constants: [])
    let value = try folding.run()
    return value.map { FoundValue(value: $0, origin: folding.origin) }
  }

  /// True if folding can change anything.
  func hasKnownParts(
    _ bindings: some ExpressionBindings
  ) throws(EvaluationFailure) -> Bool {
    if case .later? = pathStart(bindings) { return false }
    var folding = Folding(self, bindings, for: .knownValue, constants: [])
    return try folding.run() != nil || folding.hasValues
  }

  /// The value of `steps.build` in `steps.build.outputs.size`; nil if the expression is not such a
  /// path. Most expressions are one, and then need no traversal.
  private func pathStart(_ bindings: some ExpressionBindings) -> Resolution? {
    path.map { bindings.member($0.name, of: $0.context) }
  }

  /// `build` and `steps` for `steps.build.outputs.size`; nil if the expression is not such a path.
  private var path: (name: String, context: ContextRoot)? {
    let first = root + 1 - Int(template.nodes[root].size)
    guard first < root, template.nodes[first].kind == .root,
      let context = ContextRoot(rawValue: template.nodes[first].detail)
    else { return nil }
    for node in (first + 1)...root where template.nodes[node].kind != .member { return nil }
    return (memberName(of: first + 1), context)
  }

  /// True if the expression is a path like `params.version`.
  private var isShortPath: Bool { template.nodes[root].size == 2 }

  /// Replaces everything that is already known by its value. A part that can never have a value is
  /// an error, unless it might never be evaluated.
  package func folded(with bindings: some ExpressionBindings) throws(EvaluationFailure)
    -> Expression
  {
    var folding = Folding(self, bindings, for: .rest, constants: constants)
    _ = try folding.run()
    let rest = Template(
      content: content, origin: origin, parts: [], nodes: folding.nodes,
      constants: folding.constants)
    return Expression(template: rest, base: base, root: folding.nodes.count - 1)
  }

  /// The value, if the expression is only a constant.
  package var constant: Value? { literal(root) }
}

/// The result of an expression.
struct FoundValue {
  package let value: Value
  package let origin: ValueOrigin
}

/// Who wrote a value, which decides what it may be in a command. The raw values are kept in constants.
enum ValueOrigin: UInt8 {
  /// Anybody: the value is a parameter, an output, or the result of a function.
  case computed
  /// The author of the file, as a literal: in the expression itself, or in the axis of a matrix.
  case authors
  /// The caller of oprun, as arguments for the commands of the pipeline.
  case arguments
}

extension ExpressionBindings {
  /// The origin of `root.name`.
  func origin(of name: String, in root: ContextRoot) -> ValueOrigin {
    if root == .params { return areArguments(name) ? .arguments : .computed }
    return root.mayBeWritten && isAuthors(name, of: root) ? .authors : .computed
  }
}

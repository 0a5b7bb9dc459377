// The values of late expressions, from a scope and the facts of the run.

import Diagnostics
package import Expressions
package import Scheduling

package struct LateBindings<Facts: RunFacts>: ExpressionBindings {
  package let scope: LateScope
  package let facts: Facts
  /// The step whose hook is evaluated, and its name in the hook's expressions.
  var own: (name: String, operation: OperationID)?
  /// The inputs that are known so far; nil if no inputs are late.
  private let known: KnownInputs?

  package init(scope: LateScope, facts: Facts) {
    self.init(scope: scope, facts: facts, scope.inputs.map { _ in KnownInputs() })
  }

  private init(scope: LateScope, facts: Facts, _ known: KnownInputs?) {
    self.scope = scope
    self.facts = facts
    self.known = known
  }

  /// The bindings in a scope that gives values to this one.
  func outside(in scope: LateScope) -> LateBindings {
    LateBindings(scope: scope, facts: facts, known ?? scope.inputs.map { _ in KnownInputs() })
  }

  package func member(_ name: String, of root: ContextRoot) -> Resolution {
    switch root {
    case .steps: .known(step(name))
    case .matrix: scope.matrix.map { .known($0[name] ?? .null) } ?? .missing
    case .params: parameter(name)
    case .vars: derived(name)
    case .run: facts.runMember(name).map { .known(.string($0)) } ?? .missing
    // The only variables that are not known before the run are secrets.
    case .secrets, .env: .known(facts.secret(name).map { .string($0) } ?? .null)
    case .host: .missing
    }
  }

  package func isAuthors(_ name: String, of root: ContextRoot) -> Bool {
    root == .matrix && scope.writtenNames.holds(name)
  }

  package func areArguments(_ param: String) -> Bool {
    scope.inputs?.param(named: param)?.input.param.takesRest ?? false
  }

  package func secret(heldBy text: String) -> String? { facts.secret(heldBy: text) }

  package func value(of root: ContextRoot) -> Resolution {
    switch root {
    case .matrix: scope.matrix.map { .known(.map($0)) } ?? .later
    case .params: parameters
    case .run: runMembers
    // These cannot be named as a whole, and the host is known before the run.
    case .env, .steps, .host, .secrets, .vars: .later
    }
  }

  private var runMembers: Resolution {
    var map = ValueMap()
    for name in runMemberNames { map[name] = facts.runMember(name).map { .string($0) } }
    return map.count == runMemberNames.count ? .known(.map(map)) : .later
  }

  /// All parameters of a nested pipeline of which some are late.
  private var parameters: Resolution {
    guard let inputs = scope.inputs else { return .later }
    var map = ValueMap()
    for name in inputs.names {
      switch inputs.known[name].map(Resolution.known) ?? parameter(name) {
      case .known(let value): map[name] = value
      case .later, .missing: return .later
      }
    }
    return .known(.map(map))
  }

  package var dependencyStatus: DependencyStatus? {
    let endings = scope.dependencies.map { facts.ending(of: $0) ?? Ending(.skipped) }
    return DependencyStatus(
      isSuccess: endings.allSatisfy { EdgeCondition.ok.isSatisfied(by: $0) },
      isFailure: endings.contains {
        $0.outcome.isFailure && !$0.isAllowed || $0.outcome == .blocked
      },
      isCancelled: endings.contains { $0.outcome == .cancelled })
  }

  package var valueBudget: ValueBudget? { facts.valueBudget }

  package func hashFiles(_ patterns: [String]) throws(UnlocatedFailure) -> String? {
    try facts.hashFiles(patterns)
  }

  package func exists(_ path: String) throws(UnlocatedFailure) -> Bool? { try facts.exists(path) }

  private func step(_ name: String) -> Value {
    if let own, own.name == name { return value(of: own.operation) }
    if let matches = scope.matches[name] {
      let instances = matches.flatMap {
        facts.copies(of: $0.operation) ?? [($0.operation, $0.values)]
      }
      return .map(ValueMap([("outputs", list(instances))]))
    }
    if let step = scope.steps[name] { return value(of: step) }
    return scope.around.map { LateBindings(scope: $0, facts: facts).step(name) } ?? absent
  }

  /// The value of a step that was not selected.
  private var absent: Value {
    .map(ValueMap([("outputs", .map(ValueMap())), ("outcome", .string(Outcome.skipped.word))]))
  }

  private func value(of step: OperationID) -> Value {
    .map(ValueMap([("outputs", outputs(of: step)), ("outcome", outcome(of: step))]))
  }

  private func outputs(of step: OperationID) -> Value {
    if let list = facts.keptList(of: step) { return list }
    guard let instances = facts.instances(of: step) else { return .map(facts.outputs(of: step)) }
    let list = list(instances)
    facts.keep(list, of: step)
    return list
  }

  private func list(_ instances: [(OperationID, ValueMap)]) -> Value {
    .list(
      instances.map { instance, matrix in
        .map(
          ValueMap([
            ("matrix", .map(matrix)), ("outcome", outcome(of: instance)),
            ("outputs", outputs(of: instance)),
          ]))
      })
  }

  private func outcome(of step: OperationID) -> Value {
    .string((facts.ending(of: step)?.outcome ?? .skipped).word)
  }

  /// A parameter of a nested pipeline: the input from the step that uses it, which was checked
  /// before.
  private func parameter(_ name: String) -> Resolution {
    guard let (input, owner) = scope.inputs?.param(named: name) else { return .missing }
    let key = KnownInputs.Key(owner: ObjectIdentifier(owner), name: name)
    if let value = known?.values[key] { return value }
    let value = try? outside(in: owner.outer).value(of: input.value)
    let resolution: Resolution = value.map { .known($0) } ?? .missing
    known?.values[key] = resolution
    return resolution
  }
}

/// The inputs of nested pipelines that were needed so far for one step. Each of them may name
/// others several times, so evaluating them again would take exponential time in their depth.
private final class KnownInputs {
  struct Key: Hashable {
    /// The inputs to which it belongs, which the scope keeps.
    let owner: ObjectIdentifier
    let name: String
  }

  var values: [Key: Resolution] = [:]
  var secrets: [Key: Bool] = [:]
}

// The inputs of a nested pipeline.
extension LateBindings {
  /// Throws if a value is not of its parameter's type; the outermost pipeline is checked first.
  package func checkInputs() throws(EvaluationFailure) {
    if let inputs = scope.inputs { try check(inputs) }
    try checkVars()
  }

  private func check(_ inputs: LateInputs) throws(EvaluationFailure) {
    if let enclosing = inputs.enclosing { try check(enclosing) }
    let outer = outside(in: inputs.outer)
    try outer.checkInputs()
    for input in inputs.params {
      guard let fault = input.param.fault(of: try outer.value(of: input.value)) else { continue }
      let template = input.value.templates.first?.expressions.first
      guard let template else { preconditionFailure("an input without expressions is known") }
      throw EvaluationFailure(
        UnlocatedFailure("parameter \(quoted(input.name)) \(fault)"), in: template,
        at: template.range(of: template.root))
    }
  }

  /// The variables `OPRUN_PARAM_<NAME>` for the inputs that are not null.
  package func inputVariables() throws(EvaluationFailure) -> [EnvironmentVariable] {
    try scope.inputs.map { inputs throws(EvaluationFailure) in try variables(of: inputs) } ?? []
  }

  private func variables(of inputs: LateInputs) throws(EvaluationFailure) -> [EnvironmentVariable] {
    var variables: [EnvironmentVariable] = []
    if let enclosing = inputs.enclosing { variables = try self.variables(of: enclosing) }
    let outer = outside(in: inputs.outer)
    for input in inputs.params {
      if let variable = input.param.variable(holding: try outer.value(of: input.value)) {
        variables.append(variable)
      }
    }
    return variables
  }
}

extension LateInput {
  fileprivate var name: String { param.name }
}

extension LateBindings {
  /// Evaluates a condition. Throws if its value is not true or false, which could not be checked before.
  package func holds(_ condition: Expression) throws(EvaluationFailure) -> Bool {
    let value = try condition.evaluated(with: self)
    if case .bool(let truth) = value { return truth }
    throw EvaluationFailure(
      ExpressionMessage.wrongCondition(
        wanted: ExpressionType.Kinds.bool.words, found: value.type.words),
      in: condition, at: condition.range(of: condition.root))
  }

  package func text(of text: Text) throws(EvaluationFailure) -> String {
    switch text {
    case .plain(let text): text
    case .template(let template): try template.rendered(with: self)
    }
  }

  /// The items that a text in a list of strings becomes.
  func items(of text: Text) throws(EvaluationFailure) -> [String] {
    switch text {
    case .plain(let text): return [text]
    case .template(let template):
      guard let items = try template.items(for: .value, with: self) else {
        preconditionFailure("an evaluation that fails says so")
      }
      return items
    }
  }

  package func value(of model: ValueModel) throws(EvaluationFailure) -> Value {
    switch model {
    case .constant(let value): return value
    case .template(let template):
      if let single = template.single { return try single.evaluated(with: self) }
      return .string(try template.rendered(with: self))
    case .list(let items):
      var values: [Value] = []
      for item in items { values.append(try value(of: item)) }
      return .list(values)
    case .map(let members):
      var map = ValueMap()
      for member in members { map[member.name] = try value(of: member.value) }
      return .map(map)
    }
  }

  /// The action with all values inserted. `isScript` means that the text is passed to a shell.
  package func action(
    of command: CommandModel, shell: [String], isScript: Bool = true, tag: String = ""
  ) throws(EvaluationFailure) -> Action {
    switch command {
    case .script(.plain(let text)): return .script(ScriptText(text))
    case .script(.template(let template)):
      let text =
        isScript
        ? try template.renderedScript(for: ScriptReader(shell: shell), with: self)
        : try template.renderedArgument(with: self)
      return .script(ScriptText(text))
    case .arguments(let words):
      guard let texts = try ArgumentText(words, for: .value, with: self).texts else {
        preconditionFailure("an evaluation that fails says so")
      }
      return .arguments(texts)
    case .uses(let uses): return .helper(try helperWords(of: uses, tag).words)
    }
  }

  /// The value of an input of a built-in step. A list becomes a list of strings.
  private func input(_ model: ValueModel) throws(EvaluationFailure) -> Value {
    guard case .list(let items) = model else { return try value(of: model) }
    var values: [Value] = []
    for item in items {
      let value = try value(of: item)
      if case .template(let template) = item, template.single != nil {
        values += value.spliced
      } else {
        values.append(value)
      }
    }
    return .list(values)
  }

  /// The arguments of the helper program, and variables for those that contain secrets, because
  /// everybody can see the arguments of a process. `tag` distinguishes the commands of a step.
  func helperWords(
    of uses: UsesModel, _ tag: String
  ) throws(EvaluationFailure) -> (words: [String], variables: [EnvironmentVariable]) {
    guard case .builtIn(let name) = uses.kind else { return ([], []) }
    var members: [MemberModel] = []
    for member in uses.with {
      let value = try input(member.value)
      members.append(MemberModel(name: member.name, span: member.span, value: .constant(value)))
    }
    let secret = Set(
      uses.with.filter { $0.value.holdsSecrets { isSecret($0, in: scope) } }.map(\.name))
    var words = [name]
    var variables: [EnvironmentVariable] = []
    let evaluated = UsesModel(kind: uses.kind, span: uses.span, with: members)
    for entry in evaluated.entries({ $0.shown }) {
      if secret.contains(entry.name) {
        let variable = "OPRUN_WITH_\(tag)\(variables.count + 1)"
        variables.append(EnvironmentVariable(name: variable, value: entry.value))
        words.append("--with-env=\(entry.name)=\(variable)")
      } else {
        words.append("--\(entry.name)=\(entry.value)")
      }
    }
    return (words, variables)
  }
}

extension Outcome {
  /// The word that expressions and hooks see: `timed_out`.
  package var word: String {
    switch self {
    case .succeeded: "succeeded"
    case .cached: "cached"
    case .failed: "failed"
    case .timedOut: "timed_out"
    case .cancelled: "cancelled"
    case .skipped: "skipped"
    case .blocked: "blocked"
    }
  }
}

extension LateBindings {
  /// True if the reference is to a secret, or to a value that contains one. The only variables that
  /// are not known before the run are secrets.
  private func isSecret(_ reference: Expression.Reference, in scope: LateScope) -> Bool {
    switch reference.root {
    case .secrets, .env: true
    case .params: reference.member.map { isSecret(param: $0, in: scope) } ?? false
    case .steps, .matrix, .run, .host, .vars: false
    }
  }

  /// True if a parameter of a nested pipeline contains secrets from the step that uses it.
  private func isSecret(param name: String, in scope: LateScope) -> Bool {
    guard let (input, owner) = scope.inputs?.param(named: name) else { return false }
    let key = KnownInputs.Key(owner: ObjectIdentifier(owner), name: name)
    if let isSecret = known?.secrets[key] { return isSecret }
    let isSecret = input.value.holdsSecrets { self.isSecret($0, in: owner.outer) }
    known?.secrets[key] = isSecret
    return isSecret
  }
}

extension ValueModel {
  /// True if the value contains a secret, or a reference to a value that does.
  package func holdsSecrets(_ isSecret: (Expression.Reference) -> Bool) -> Bool {
    templates.contains { template in
      template.expressions.contains { $0.references.contains(where: isSecret) }
    }
  }
}

extension ArgumentText {
  /// Makes the settings with the values that are known, and checks them.
  package init(
    _ words: [Text], for goal: FoldingGoal, with bindings: some ExpressionBindings
  ) throws(EvaluationFailure) {
    var elements: [[TextPiece]] = []
    for word in words {
      switch word {
      case .plain(let text): elements.append([.authors(text, nil)])
      case .template(let template):
        elements += try template.elements(for: goal, with: bindings)
      }
    }
    if elements.isEmpty, let expression = words.first?.template?.expressions.first {
      throw EvaluationFailure(
        ExpressionMessage.noCommand, in: expression, at: expression.range(of: expression.root))
    }
    self.init(elements)
    try check()
  }
}

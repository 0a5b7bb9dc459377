// The values of `vars`: those known before the run, and the rest of the others.
// docs/design-planning.md, “Derived values”.

import Expressions
import Plans

/// The `vars` of one pipeline use. Its groups share them; pipelines inside a file add their own.
/// They are a class, so that they can be shared.
final class DerivedValues {
  /// A variable that is not known yet, and its dependencies, direct and indirect.
  struct Late {
    enum Source {
      case value(ValueModel)
      /// The value is the text that the command of a step prints.
      case command(step: Int)
    }

    let name: String
    let source: Source
    /// The parameters of its pipeline that the variable names itself.
    var params: Set<String> = []
    /// True if the variable is unknown only because it depends on how a run is started.
    var isOpen = true
    /// True if the variable names something of the run.
    var isOfRun = false
    /// True if the variable is the output of a command, or depends on one.
    var needsCommand = false
    /// The variables that it depends on, each after its own dependencies.
    var others: [LateVarNumber] = []
  }

  /// The `vars` of the file around the pipeline.
  let enclosing: DerivedValues?
  /// The number of the pipeline use.
  let pipeline: Int
  /// The types of its own `vars`, once they are checked.
  var types = OrderedMap<ExpressionType>()
  /// Why variables have no value, by their indices in the model.
  private(set) var failures: [Int: EvaluationFailure] = [:]
  /// The indices in the model, each after its dependencies.
  private(set) var order: [Int] = []
  private(set) var late: [Late] = []
  /// True if variables depend on each other, which was reported: then nothing else is reported about them.
  let hasCycle: Bool
  private var lateNumbers: [String: Int] = [:]
  private var known: [String: Value] = [:]
  /// The names of the variables without expressions.
  private var written: Set<String> = []

  init(_ models: [VarModel], of pipeline: Int, in enclosing: DerivedValues?, hasCycle: Bool) {
    self.pipeline = pipeline
    self.enclosing = enclosing
    self.hasCycle = hasCycle || enclosing?.hasCycle == true
    for model in models { types[model.name] = .any }
  }

  /// The names of all variables, the own ones first.
  var names: [String] { types.names + (enclosing?.names ?? []) }

  func type(of name: String) -> ExpressionType? { types[name] ?? enclosing?.type(of: name) }

  func member(_ name: String) -> Resolution {
    if let value = known[name] { return .known(value) }
    return types[name] != nil ? .later : enclosing?.member(name) ?? .missing
  }

  /// True if the value is a literal in the file.
  func isWritten(_ name: String) -> Bool {
    types[name] != nil ? written.contains(name) : enclosing?.isWritten(name) == true
  }

  func lateNumber(_ name: String) -> LateVarNumber? {
    lateNumbers[name].map { LateVarNumber(pipeline: pipeline, number: $0) }
      ?? enclosing?.lateNumber(name)
  }

  func lateValue(_ name: String) -> Late? { lateNumber(name).map { self[$0] } }

  subscript(number: LateVarNumber) -> Late {
    var values = self
    while values.pipeline != number.pipeline, let enclosing = values.enclosing {
      values = enclosing
    }
    return values.late[number.number]
  }

  /// True if variables are not known before the run.
  var hasLate: Bool { !late.isEmpty || enclosing?.hasLate == true }

  /// True if variables are outputs of commands.
  var hasCommands: Bool {
    late.contains(where: \.needsCommand) || enclosing?.hasCommands == true
  }

  // MARK: Construction

  /// Adds a variable; `isOpen` tells whether a name is known when a run is started.
  func add(
    _ model: VarModel, _ index: Int, _ folded: Result<ValueModel, EvaluationFailure>,
    isOpen: (Expression.Reference) -> Bool
  ) {
    order.append(index)
    switch folded {
    case .failure(let failure): failures[index] = failure
    case .success(let value):
      if let constant = value.constant {
        known[model.name] = constant
        if model.templates.isEmpty { written.insert(model.name) }
      } else {
        let expressions = value.templates.flatMap(\.expressions)
        add(model.name, .value(value), expressions.flatMap(\.references), isOpen)
      }
    }
  }

  func add(command model: VarModel, _ index: Int, step: Int) {
    order.append(index)
    add(model.name, .command(step: step), model.references) { _ in false }
    late[late.count - 1].needsCommand = true
  }

  private func add(
    _ name: String, _ source: Late.Source, _ references: [Expression.Reference],
    _ isOpen: (Expression.Reference) -> Bool
  ) {
    var result = Late(name: name, source: source)
    result.isOpen = references.allSatisfy(isOpen)
    var others: Set<LateVarNumber> = []
    for reference in references {
      switch reference.root {
      case .params: if let name = reference.member { result.params.insert(name) }
      case .vars:
        guard let number = reference.member.flatMap(lateNumber) else { continue }
        let other = self[number]
        if other.isOfRun { result.isOfRun = true }
        if other.needsCommand { result.needsCommand = true }
        others.formUnion(other.others)
        others.insert(number)
      case .run: result.isOfRun = true
      case .env, .host, .matrix, .steps, .secrets: break
      }
    }
    result.others = others.sorted()
    lateNumbers[name] = late.count
    late.append(result)
  }
}

extension VarModel {
  var references: [Expression.Reference] {
    templates.flatMap(\.expressions).flatMap(\.references)
  }
}

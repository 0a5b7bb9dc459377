// The meanings of the names in late expressions. Nearly every late step has a scope of its own, and
// most scopes have only a few names: these take little memory.

package import Expressions
package import Scheduling

/// The meanings of the names in late expressions.
package final class LateScope: Sendable {
  /// The operations by their names in `depends_on`.
  package let steps: StepNames
  /// The dependencies that status functions look at.
  package let dependencies: [OperationID]
  /// The `vars` of its pipeline; nil if all are known before the run.
  package let vars: NeededVars?
  /// The names besides those of steps and `vars`; nil in a pipeline that no other uses, outside of matrices.
  private let others: OtherNames?

  package init(
    _ dependencies: LateDependencies = LateDependencies(), matrix: ValueMap? = nil,
    writtenNames: Set<ExactText> = [], inputs: LateInputs? = nil, around: LateScope? = nil,
    matrixGroup: OperationID? = nil, vars: NeededVars? = nil
  ) {
    steps = dependencies.steps.sharing(dependencies.all)
    self.dependencies = dependencies.all
    self.vars = vars
    let hasNone =
      dependencies.matches.isEmpty && matrix == nil && writtenNames.isEmpty && inputs == nil
      && around == nil && matrixGroup == nil
    others =
      hasNone
      ? nil
      : OtherNames(
        matches: dependencies.matches, matrix: matrix, writtenNames: writtenNames, inputs: inputs,
        around: around, instance: nil, matrixGroup: matrixGroup)
  }

  private init(_ scope: LateScope, _ matrix: ValueMap, _ writtenNames: Set<ExactText>) {
    steps = scope.steps
    dependencies = scope.dependencies
    vars = scope.vars
    others = OtherNames(
      matches: scope.matches, matrix: scope.matrix?.merging(matrix) ?? matrix,
      writtenNames: matrix.writtenNames(own: writtenNames, outer: scope.writtenNames),
      inputs: scope.inputs, around: scope.around, instance: matrix, matrixGroup: scope.matrixGroup)
  }

  /// The scope of an instance; `writtenNames` are the names of its own matrix.
  package func with(_ matrix: ValueMap, writtenNames: Set<ExactText>) -> LateScope {
    LateScope(self, matrix, writtenNames)
  }
}

extension LateScope {
  /// The operations with `match: matrix`, by name, each of which stands for any number of instances.
  package var matches: [String: [MatchedInstance]] { others?.matches ?? [:] }
  package var matrix: ValueMap? { others?.matrix }
  /// The members of the matrix that are written in the file as literals.
  package var writtenNames: Set<ExactText> { others?.writtenNames ?? [] }
  package var inputs: LateInputs? { others?.inputs }
  /// The scope of the group around the step, in which names are looked up that are not found here.
  package var around: LateScope? { others?.around }
  /// The values of an instance that was made while running.
  package var instance: ValueMap? { others?.instance }
  /// The group whose matrix also gives its values to this scope when it is known.
  package var matrixGroup: OperationID? { others?.matrixGroup }
}

/// The names besides those of single steps.
private final class OtherNames: Sendable {
  let matches: [String: [MatchedInstance]]
  let matrix: ValueMap?
  let writtenNames: Set<ExactText>
  let inputs: LateInputs?
  let around: LateScope?
  let instance: ValueMap?
  let matrixGroup: OperationID?

  init(
    matches: [String: [MatchedInstance]], matrix: ValueMap?, writtenNames: Set<ExactText>,
    inputs: LateInputs?, around: LateScope?, instance: ValueMap?, matrixGroup: OperationID?
  ) {
    self.matches = matches
    self.matrix = matrix
    self.writtenNames = writtenNames
    self.inputs = inputs
    self.around = around
    self.instance = instance
    self.matrixGroup = matrixGroup
  }
}

/// The dependencies of a step, by name and as a whole.
package struct LateDependencies {
  package var steps = StepNames()
  package var matches: [String: [MatchedInstance]] = [:]
  package var all: [OperationID] = []

  /// Makes a collection with room for about this many.
  package init(count: Int = 0) {
    // Reserving room for a few would take longer than what it saves.
    if count > 8 { steps.reserveCapacity(count) }
    all.reserveCapacity(count)
  }
}

/// Operations by name, in the order in which they were added.
package struct StepNames: Sendable {
  private var order = OrderedNames()
  package private(set) var operations: [OperationID] = []

  package var names: [String] { order.all }

  mutating func reserveCapacity(_ count: Int) {
    order.reserveCapacity(count)
    operations.reserveCapacity(count)
  }

  /// The operation of a name. Setting nil changes nothing. O(1).
  package subscript(name: String) -> OperationID? {
    get { order.place(of: name).map { operations[$0] } }
    set {
      guard let newValue else { return }
      if let place = order.place(of: name) {
        operations[place] = newValue
      } else {
        order.append(name)
        operations.append(newValue)
      }
    }
  }

  /// The same names; if their operations are equal to `all`, both lists share their memory.
  fileprivate func sharing(_ all: [OperationID]) -> StepNames {
    guard operations == all else { return self }
    var copy = self
    copy.operations = all
    return copy
  }
}

package struct MatchedInstance: Sendable {
  package let operation: OperationID
  package let values: ValueMap

  package init(operation: OperationID, values: ValueMap) {
    self.operation = operation
    self.values = values
  }
}

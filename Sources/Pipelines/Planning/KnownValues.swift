// What expressions can be given before anything runs.

import Expressions
import Plans
import Scheduling

/// Where oprun runs, and what it was started with.
package struct HostFacts: Sendable {
  package var name = ""
  package var operatingSystem = "linux"
  package var architecture = ""
  package var processorCount = 1

  package init() {}

  static let memberTypes: [(String, ExpressionType)] = [
    ("name", .string), ("os", .string), ("arch", .string), ("cpus", .number),
  ]

  var value: Value {
    .map(
      ValueMap([
        ("name", .string(name)), ("os", .string(operatingSystem)),
        ("arch", .string(architecture)), ("cpus", .number(Double(processorCount))),
      ]))
  }
}

/// How much text values may still make of expressions in one plan, and how many variables its steps
/// may still have, each that is shared counted once.
final class PlanBudget {
  let values = ValueBudget()
  private var byteCount = 64 << 20
  private var variables = 4_000_000
  /// Parameters of pipelines that are used, for each use.
  private var inputs = 500_000

  /// False once it is spent.
  func allows(_ byteCount: Int) -> Bool {
    self.byteCount -= byteCount
    return self.byteCount >= 0
  }

  func allows(variables count: Int) -> Bool {
    variables -= count
    return !hasTooManyVariables
  }

  func allows(inputs count: Int) -> Bool {
    inputs -= count
    return inputs >= 0
  }

  var hasTooManyVariables: Bool { variables < 0 }
}

/// What the expressions of one unit can be given.
private final class UnitValues {
  let inputs: UnitInputs
  let budget: PlanBudget
  let host: Value
  /// What oprun inherited; nil while planning is not for a run: variables are known later then.
  let inherited: [String: String]?
  let secretHeld: (@Sendable (String) -> String?)?

  init(inputs: UnitInputs, _ options: PlanningOptions, _ budget: PlanBudget) {
    self.inputs = inputs
    self.budget = budget
    host = options.host.value
    secretHeld = options.secretHeld
    inherited = options.demandsAllParameters ? options.environment : nil
  }
}

/// The values of one unit, and of one instance of a step.
struct KnownValues: ExpressionBindings {
  private let unit: UnitValues
  /// Nil if there is no matrix, or it is not known.
  let matrix: ValueMap?
  /// Members of the matrix that stand in the file as literals.
  private let writtenNames: Set<String>

  init(inputs: UnitInputs, _ options: PlanningOptions, _ budget: PlanBudget) {
    self.init(UnitValues(inputs: inputs, options, budget), nil, [])
  }

  private init(_ unit: UnitValues, _ matrix: ValueMap?, _ writtenNames: Set<String>) {
    self.unit = unit
    self.matrix = matrix
    self.writtenNames = writtenNames
  }

  func with(_ matrix: ValueMap, writtenNames: Set<String>) -> KnownValues {
    KnownValues(unit, matrix, writtenNames)
  }

  var budget: PlanBudget { unit.budget }

  var valueBudget: ValueBudget? { unit.budget.values }

  func member(_ name: String, of root: ContextRoot) -> Resolution {
    switch root {
    case .params:
      if let value = unit.inputs.params[name] { return .known(value) }
      return unit.inputs.paramTypes[name] == nil ? .missing : .later
    case .env: return variable(name)
    case .matrix: return matrix == nil ? .later : .known(matrix?[name] ?? .null)
    case .host: return member(name, of: unit.host)
    case .steps, .run, .secrets: return .later
    }
  }

  func isAuthors(_ name: String, of root: ContextRoot) -> Bool {
    root == .matrix && writtenNames.contains(name)
  }

  func value(of root: ContextRoot) -> Resolution {
    switch root {
    case .params:
      let values = unit.inputs.paramTypes.names.map { ($0, unit.inputs.params[$0]) }
      guard values.allSatisfy({ $0.1 != nil }) else { return .later }
      return .known(.map(ValueMap(values.compactMap { name, value in value.map { (name, $0) } })))
    case .matrix: return matrix.map { .known(.map($0)) } ?? .later
    case .host: return .known(unit.host)
    case .env, .steps, .run, .secrets: return .later
    }
  }

  func secret(heldBy text: String) -> String? { unit.secretHeld?(text) }

  private func member(_ name: String, of value: Value) -> Resolution {
    guard case .map(let map) = value, let member = map[name] else { return .missing }
    return .known(member)
  }

  private func variable(_ name: String) -> Resolution {
    switch unit.inputs.variable(name)?.value {
    case .plain(let text): return .known(.string(text))
    case .template: return .later
    case nil: break
    }
    if unit.inputs.secretVariables[name] != nil { return .later }
    guard let inherited = unit.inherited else { return .later }
    return .known(inherited[name].map { .string($0) } ?? .null)
  }
}

// Checks the inputs of built-in steps against the table that their program uses, too.

import BuiltinSteps
import Diagnostics
import Expressions
import Plans

extension Planner {
  /// Reports a name that is not a built-in step, unknown inputs, wrong values and missing ones. The
  /// program checks values that are known later.
  mutating func checkInputs(of uses: UsesModel, _ values: KnownValues) {
    guard case .builtIn(let name) = uses.kind else { return }
    guard let step = BuiltinStep.named(name) else {
      return log.report(at: uses.span) {
        PlanningMessage.unknownBuiltIn(name, known: BuiltinStep.all.map(\.name), at: $0)
      }
    }
    var inputs = Inputs(step)
    // The inputs that are known later, and those with reported faults.
    var open: Set<String> = []
    for member in uses.with where !take(member, into: &inputs, values) { open.insert(member.name) }
    let given = Set(uses.with.map(\.name))
    let missing = step.keys.filter { $0.isRequired && !given.contains($0.name) }.map(\.name)
    let faulty = step.groups.filter { $0.fault(in: given.contains) != nil }
    let empty = faulty.filter { given.isDisjoint(with: $0.keys) }
    open.formUnion(missing + faulty.flatMap(\.keys))
    if !missing.isEmpty || !empty.isEmpty {
      log.report(at: uses.span) {
        PlanningMessage.missingKeys(missing, anyOf: empty.map(\.keys), of: name, at: $0)
      }
    }
    for fault in faulty.compactMap({ $0.fault(in: given.contains) }) where empty.isEmpty {
      log.report(at: uses.span) { PlanningMessage.badKeys(fault, of: name, at: $0) }
    }
    for rule in step.rules where open.isDisjoint(with: rule.keys) {
      guard let fault = rule.fault(in: inputs) else { continue }
      open.insert(fault.key)
      let address = uses.with.first { $0.name == fault.key }
      log.report(at: address?.valueSpan ?? uses.span) {
        Diagnostic(fault.message, at: $0, help: fault.help)
      }
    }
  }

  /// True if the value is known and valid.
  private mutating func take(
    _ member: MemberModel, into inputs: inout Inputs, _ values: KnownValues
  ) -> Bool {
    guard let key = inputs.step.key(member.name) else {
      let step = inputs.step
      log.report(at: member.span) {
        PlanningMessage.unknownKey(
          member.name, of: step.name, known: step.keys.map(\.name), at: $0)
      }
      return false
    }
    // A value that cannot be folded is reported with the step.
    guard let value = (try? values.fold(input: member.value))?.constant else { return false }
    if let fault = key.type.fault(in: value, showing: key.disclosure) {
      log.report(at: member.valueSpan ?? member.span) {
        PlanningMessage.badKey(member.name, wanted: key.type.inSentence, fault, at: $0)
      }
      return false
    }
    for value in key.type.values(in: value) { inputs.add(value, to: key) }
    return true
  }
}

extension BuiltinType {
  /// The value that was found instead of the wanted one.
  struct Fault {
    let found: String
    var help: String?
  }

  /// The fault of a value; nil if it is valid.
  fileprivate func fault(in value: Value, showing disclosure: Disclosure) -> Fault? {
    switch (self, value) {
    case (.list(let item), .list(let values)):
      if values.isEmpty { return Fault(found: "an empty list") }
      return values.lazy.compactMap { item.fault(in: $0, showing: disclosure) }.first
    case (.list(let item), _): return item.fault(in: value, showing: disclosure)
    case (.map, .map(let map)):
      return map.values.first { $0.text == nil }.map {
        Fault(found: disclosure == .everything ? $0.json : $0.type.words)
      }
    case (.map, _):
      return Fault(found: disclosure == .everything ? value.json : value.type.words)
    case (.text, _), (.boolean, _), (.integer, _), (.duration, _), (.size, _), (.sha256, _),
      (.url, _), (.server, _), (.color, _), (.choice, _):
      guard let text = value.text else { return Fault(found: value.json) }
      if self.value(of: text) != nil { return nil }
      return Fault(found: quoted(disclosure.shown(text)), help: limitExceeded(by: text))
    }
  }

  /// The values in a value without a fault.
  fileprivate func values(in value: Value) -> [BuiltinValue] {
    switch (self, value) {
    case (.list(let item), .list(let values)): values.flatMap(item.values)
    case (.map, .map(let map)):
      zip(map.names, map.values).compactMap { name, value in
        value.text.map { .pair(name: name, value: $0) }
      }
    default: value.text.flatMap(self.value).map { [$0] } ?? []
    }
  }

  fileprivate var inSentence: String {
    switch self {
    case .map: "a map of names to strings"
    case .list(let item): "\(item.wanted), or a list of such values"
    case .text, .boolean, .integer, .duration, .size, .sha256, .url, .server, .color, .choice:
      wanted
    }
  }
}

// The inputs of built-in steps, against the table that their program has too.

import BuiltinSteps
import Diagnostics
import Expressions
import Plans

extension Planner {
  /// Reports a name that is no built-in step, unknown inputs, wrong values and missing ones. Values
  /// that are known later are checked by the program.
  mutating func checkInputs(of uses: UsesModel, _ values: KnownValues) {
    guard case .builtIn(let name) = uses.kind else { return }
    guard let step = BuiltinStep.named(name) else {
      return log.report(at: uses.span) {
        PlanningMessage.unknownBuiltIn(name, known: BuiltinStep.all.map(\.name), at: $0)
      }
    }
    for member in uses.with { check(member, of: step, values) }
    let given = Set(uses.with.map(\.name))
    for key in step.keys where key.isRequired && !given.contains(key.name) {
      log.report(at: uses.span) { PlanningMessage.missingKey(key.name, of: name, at: $0) }
    }
    for group in step.groups {
      if let fault = group.fault(in: given.contains) {
        log.report(at: uses.span) { PlanningMessage.badKeys(fault, of: name, at: $0) }
      }
    }
  }

  private mutating func check(
    _ member: MemberModel, of step: BuiltinStep, _ values: KnownValues
  ) {
    guard let key = step.key(member.name) else {
      return log.report(at: member.span) {
        PlanningMessage.unknownKey(
          member.name, of: step.name, known: step.keys.map(\.name), at: $0)
      }
    }
    // What cannot be folded is reported with the step.
    guard let value = (try? values.fold(member.value))?.constant,
      let fault = key.type.fault(in: value, showing: key.disclosure)
    else { return }
    log.report(at: member.span) {
      PlanningMessage.badKey(member.name, wanted: key.type.inSentence, found: fault, at: $0)
    }
  }
}

extension BuiltinType {
  /// What is there instead of what is wanted; nil if the value is right.
  fileprivate func fault(in value: Value, showing disclosure: Disclosure) -> String? {
    switch (self, value) {
    case (.list(let item), .list(let values)):
      if values.isEmpty { return "an empty list" }
      return values.lazy.compactMap { item.fault(in: $0, showing: disclosure) }.first
    case (.list(let item), _): return item.fault(in: value, showing: disclosure)
    case (.map, .map(let map)):
      return map.values.first { $0.text == nil }.map {
        disclosure == .everything ? $0.json : $0.type.words
      }
    case (.map, _): return disclosure == .everything ? value.json : value.type.words
    default:
      guard let text = value.text else { return value.json }
      return self.value(of: text) == nil ? quoted(disclosure.shown(text)) : nil
    }
  }

  fileprivate var inSentence: String {
    switch self {
    case .map: "a map of names to strings"
    case .list(let item): "\(item.wanted), or a list of such values"
    default: wanted
    }
  }
}

// Values that are open: not known now, but when a run begins. They depend on parameters that were
// not given, and on variables that are ignored for listings.

import Diagnostics
import Expressions
import Plans
import Scheduling

extension Planner {
  /// True if the value is unknown only because it is open.
  func isOpen(_ value: ValueModel, at address: StepAddress) -> Bool {
    value.templates.allSatisfy { isOpen($0, at: address) }
  }

  func isOpen(_ template: Template, at address: StepAddress) -> Bool {
    template.expressions.allSatisfy { isOpen($0, at: address) }
  }

  func isOpen(_ expression: Expression, at address: StepAddress) -> Bool {
    !expression.looksAtFiles && expression.references.allSatisfy { isOpen($0, at: address) }
  }

  /// True if the matrix of a step is unknown only because it is open.
  func hasOpenMatrix(_ address: StepAddress) -> Bool {
    guard let matrix = pipelines[address.pipeline].controlFlow(of: address.step)?.matrix else {
      return false
    }
    return (matrix.axes.map(\.values) + [matrix.included, matrix.excluded].compactMap { $0 })
      .allSatisfy { isOpen($0, at: address) }
  }

  func isOpen(_ reference: Expression.Reference, at address: StepAddress) -> Bool {
    switch reference.root {
    case .host: return true
    case .env:
      let secrets = pipelines[address.pipeline].inputs.secretVariables
      return reference.member.map { secrets[$0] == nil } ?? true
    case .steps, .run, .secrets: return false
    case .matrix:
      if address.instance != nil || hasOpenMatrix(address) { return true }
      let pipeline = pipelines[address.pipeline]
      guard pipeline.surroundings.isGroup, let parent = pipeline.parent else { return false }
      return isOpen(reference, at: parent)
    case .vars:
      let derived = pipelines[address.pipeline].inputs.derived
      guard let derived, let number = reference.member.flatMap(derived.lateNumber) else {
        return true
      }
      let late = derived[number]
      if late.isOfRun || late.needsCommand { return false }
      return (late.others + [number]).allSatisfy { number in
        let owner = StepAddress(pipeline: number.pipeline, step: 0)
        return derived[number].params.allSatisfy { isOpen(param: $0, at: owner) }
      }
    case .params: return isOpen(param: reference.member, at: address)
    }
  }

  /// True if a parameter is open; without a name, if all are.
  private func isOpen(param name: String?, at address: StepAddress) -> Bool {
    let pipeline = pipelines[address.pipeline]
    guard let parent = pipeline.parent else { return true }
    if pipeline.surroundings.isGroup { return isOpen(param: name, at: parent) }
    let late = pipeline.inputs.lateParams
    let values = name.map { [late[$0]] } ?? Array(late.values)
    return values.allSatisfy { $0.map { isOpen($0, at: parent) } ?? true }
  }
}

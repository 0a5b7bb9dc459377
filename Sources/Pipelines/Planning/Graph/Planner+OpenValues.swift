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
    let pipeline = pipelines[address.pipeline]
    guard let matrix = pipeline.controlFlow(of: address.step)?.matrix else { return false }
    if let known = pipeline.openMatrices[address.step] { return known }
    let values = matrix.axes.map(\.values) + [matrix.included, matrix.excluded].compactMap { $0 }
    let expressions = values.flatMap(\.templates).flatMap(\.expressions)
    let areOpen = expressions.allSatisfy { expression in
      !expression.looksAtFiles
        && expression.references.allSatisfy { reference in
          // A matrix does not see itself.
          reference.root == .matrix
            ? isOpen(member: reference.member, from: stepAround(address))
            : isOpen(reference, at: address)
        }
    }
    pipeline.openMatrices[address.step] = areOpen
    return areOpen
  }

  /// The step that contains the group of a step.
  private func stepAround(_ address: StepAddress) -> StepAddress? {
    let pipeline = pipelines[address.pipeline]
    return pipeline.surroundings.isGroup ? pipeline.parent : nil
  }

  /// True if a member of the matrix of a step, or of those around it, is open; without a name, if all are.
  private func isOpen(member name: String?, from start: StepAddress?) -> Bool {
    var place = start
    while let address = place {
      if let matrix = pipelines[address.pipeline].controlFlow(of: address.step)?.matrix {
        if let instance = address.instance {
          if let name, instances[instance].values[name] != nil { return true }
        } else {
          let members = matrix.memberTypes
          let type = name.flatMap { members[$0] }
          let mayHave = name == nil || type != nil || members.isOpen
          if mayHave, !hasOpenMatrix(address) { return false }
          if let type, !type.kinds.contains(.null) { return true }
        }
      }
      place = stepAround(address)
    }
    // The check of names reports a member that no matrix has.
    return true
  }

  func isOpen(_ reference: Expression.Reference, at address: StepAddress) -> Bool {
    switch reference.root {
    case .host: return true
    case .env:
      let secrets = pipelines[address.pipeline].inputs.secretVariables
      return reference.member.map { secrets[$0] == nil } ?? true
    case .steps, .run, .secrets: return false
    case .matrix: return isOpen(member: reference.member, from: address)
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

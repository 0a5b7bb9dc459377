// The messages about a member or an item that does not exist: which one of what, and which there
// are instead.

import Diagnostics

extension Folding {
  private func outcome(of step: String) -> String? {
    guard case .known(.map(let step)) = bindings.member(step, of: .steps),
      case .string(let outcome)? = step["outcome"]
    else { return nil }
    return outcome
  }

  /// The failure for a member or an item of a value that has none.
  func noParts(of whole: Value, _ node: Int) -> ExpressionFailure {
    let isMember = expression.nodes[node].kind == .member
    let owner = written(isMember ? node - 1 : expression.pair(of: node).0)
    return fault(
      isMember
        ? ExpressionMessage.noMembers(whole.type.words, in: owner)
        : ExpressionMessage.noItems(whole.type.words, in: owner), node)
  }

  private func written(_ node: Int) -> String { expression.text(expression.range(of: node)) }

  func missing(_ name: String, of map: ValueMap, _ node: Int) -> ExpressionFailure {
    let isMember = expression.nodes[node].kind == .member
    let owner = isMember ? node - 1 : expression.pair(of: node).0
    let words =
      expression.step(ofOutputs: owner).map { step in
        ExpressionMessage.missingOutput(
          (step, name, written(node)), outcome(of: step), among: map.names)
      }
      ?? ExpressionMessage.missingMember(
        name, of: written(owner),
        suggestion: suggestion(for: name, among: map.names))
    return isMember
      ? ExpressionFailure(words, at: expression.memberNameRange(of: node)) : fault(words, node - 1)
  }
}

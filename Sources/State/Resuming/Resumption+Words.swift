// Messages about a resumption: names of steps, the first few of them.

import Diagnostics
import Plans
package import Scheduling

extension Resumption {
  private static let shownCount = 8

  /// The names of steps, without groups: the first few, and how many more there are.
  package func names(of operations: [OperationID]) -> String {
    firstIDs(of: operations.filter { !plan.standsForOthers($0) })
  }

  /// The names of operations, with groups: the first few, and how many more there are.
  package func allNames(of operations: [OperationID]) -> String { firstIDs(of: operations) }

  /// The used pipelines whose hooks run again.
  package var owedHooks: [OperationID] { foreseen.owedHooks.filter { !foreseen.isOutside($0) } }

  /// The used pipelines whose hooks run again only because those of a pipeline inside do.
  package var hooksAround: [OperationID] {
    foreseen.hooksAround.filter { !foreseen.isOutside($0) }
  }

  private func firstIDs(of operations: [OperationID]) -> String {
    firstNames(
      of: operations.lazy.map { [plan] in printable(plan.steps[$0.index].id) },
      most: Self.shownCount)
  }

  /// The notice at the end about steps that were kept although they would run again; nil if there are none.
  var noticeOfHeld: String? {
    guard let words = foreseen.selectionInWords, !held.isEmpty else { return nil }
    let names = held.sorted().compactMap(name).map { printable($0) }
    let shown = firstNames(of: names, most: Self.shownCount)
    return "steps not run again (\(words)), although no longer up to date: \(shown)"
  }
}

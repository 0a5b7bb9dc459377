// Values that are not known here, but when a run begins: they hang on parameters that were not given,
// and variables that are not looked at while listing.

import Diagnostics
import Expressions
import Plans
import Scheduling

extension Planner {
  /// Whether nothing but that is in the way of the value.
  func isOpen(_ value: ValueModel, at place: Place) -> Bool {
    value.templates.allSatisfy { isOpen($0, at: place) }
  }

  func isOpen(_ template: Template, at place: Place) -> Bool {
    template.expressions.allSatisfy { expression in
      !expression.looksAtFiles && expression.references.allSatisfy { isOpen($0, at: place) }
    }
  }

  /// Of a step with a matrix that is not known.
  func hasOpenMatrix(_ place: Place) -> Bool {
    guard let matrix = units[place.unit].extra(of: place.step)?.matrix else { return false }
    return (matrix.axes.map(\.values) + [matrix.included, matrix.excluded].compactMap { $0 })
      .allSatisfy { isOpen($0, at: place) }
  }

  private func isOpen(_ reference: Expression.Reference, at place: Place) -> Bool {
    switch reference.root {
    case .host: return true
    case .env:
      let secrets = units[place.unit].inputs.secretVariables
      return reference.member.map { secrets[$0] == nil } ?? true
    case .steps, .run, .secrets: return false
    case .matrix: return place.instance != nil || hasOpenMatrix(place)
    case .params:
      let unit = units[place.unit]
      guard let parent = unit.parent else { return true }
      let late = unit.inputs.lateParams
      let values = reference.member.map { [late[$0]] } ?? Array(late.values)
      return values.allSatisfy { $0.map { isOpen($0, at: parent) } ?? true }
    }
  }
}

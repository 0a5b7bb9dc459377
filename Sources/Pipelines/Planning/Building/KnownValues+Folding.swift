// Inserts everything that is known before the run into expressions.

import Expressions
import Plans
import Scheduling

extension KnownValues {
  /// Folds a string that is not a script.
  func fold(_ text: Text) throws(EvaluationFailure) -> Text {
    try fold(text) { template throws(EvaluationFailure) in
      try template.renderedIfKnown(with: self)
    }
  }

  /// Folds an item of a list of strings, which may become several.
  func fold(item text: Text) throws(EvaluationFailure) -> [Text] {
    guard case .template(let template) = text else { return [text] }
    return try keeping([text]) { () throws(EvaluationFailure) -> [Text] in
      guard let items = try template.items(for: .knownValue, with: self) else {
        return [.template(try template.folded(with: self))]
      }
      try spend(items.reduce(0) { $0 + $1.utf8.count }, on: template)
      return items.map { .plain($0) }
    }
  }

  /// Folds an element of a command.
  func foldArgument(_ text: Text) throws(EvaluationFailure) -> Text {
    try fold(text) { template throws(EvaluationFailure) in
      try template.renderedArgumentIfKnown(with: self)
    }
  }

  private func fold(
    _ text: Text, rendered: (Template) throws(EvaluationFailure) -> String?
  ) throws(EvaluationFailure) -> Text {
    guard case .template(let template) = text else { return text }
    return try keeping(text) { () throws(EvaluationFailure) -> Text in
      if let text = try rendered(template) {
        try spend(text.utf8.count, on: template)
        return .plain(text)
      }
      return .template(try template.folded(with: self))
    }
  }

  /// The result of `fold`; if it fails and failures are collected, the whole as it is.
  func keeping<Whole>(
    _ whole: Whole, _ fold: () throws(EvaluationFailure) -> Whole
  ) throws(EvaluationFailure) -> Whole {
    do throws(EvaluationFailure) {
      return try fold()
    } catch {
      guard let faults else { throw error }
      faults.add(error)
      return whole
    }
  }

  /// Counts a string against the budget, because strings that many steps repeat add up.
  func spend(_ byteCount: Int, on template: Template) throws(EvaluationFailure) {
    guard !budget.allows(byteCount), let expression = template.expressions.first else {
      return
    }
    throw EvaluationFailure(
      PlanningMessage.tooMuchText, in: expression, at: expression.range(of: expression.root))
  }

  func fold(_ value: ValueModel) throws(EvaluationFailure) -> ValueModel {
    switch value {
    case .constant: return value
    case .template(let template) where template.isBroken: return value
    case .template(let template):
      if let single = template.single {
        if let value = try single.valueIfKnown(with: self) { return .constant(value) }
      } else if let text = try template.renderedIfKnown(with: self) {
        try spend(text.utf8.count, on: template)
        return .constant(.string(text))
      }
      return .template(try template.folded(with: self))
    case .list(let items):
      var folded: [ValueModel] = []
      for item in items { folded.append(try fold(item)) }
      return .list(folded)
    case .map(let members): return .map(try fold(members))
    }
  }

  /// Folds an input of a built-in step. A list becomes a list of strings.
  func fold(input model: ValueModel) throws(EvaluationFailure) -> ValueModel {
    guard case .list(let items) = model else { return try fold(model) }
    var folded: [ValueModel] = []
    for item in items {
      let value = try fold(item)
      if case .template(let template) = item, template.single != nil, let known = value.constant {
        folded += known.spliced.map { .constant($0) }
      } else {
        folded.append(value)
      }
    }
    return .list(folded)
  }

  func fold(_ members: [MemberModel]) throws(EvaluationFailure) -> [MemberModel] {
    try mapped(members) { value throws(EvaluationFailure) in try fold(value) }
  }

  /// Folds the inputs of a built-in step.
  func fold(inputs members: [MemberModel]) throws(EvaluationFailure) -> [MemberModel] {
    try mapped(members) { value throws(EvaluationFailure) in try fold(input: value) }
  }

  private func mapped(
    _ members: [MemberModel], _ body: (ValueModel) throws(EvaluationFailure) -> ValueModel
  ) throws(EvaluationFailure) -> [MemberModel] {
    var result: [MemberModel] = []
    for member in members {
      result.append(
        MemberModel(
          name: member.name, span: member.span, value: try body(member.value),
          valueSpan: member.valueSpan))
    }
    return result
  }
}

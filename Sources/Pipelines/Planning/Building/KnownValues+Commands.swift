// Inserts everything into commands that is known before the run. Values are inserted into scripts
// and arguments only as `ScriptRule` allows.

import Diagnostics
import Expressions
import Plans

extension KnownValues {
  func fold(
    _ command: CommandModel, for shell: [String]
  ) throws(EvaluationFailure) -> CommandModel {
    switch command {
    case .script(let text): return .script(try foldScript(text, for: shell))
    case .arguments(let words):
      return .arguments(
        try keeping(words) { () throws(EvaluationFailure) -> [Text] in
          try fold(arguments: words)
        })
    case .uses(let uses):
      return .uses(
        UsesModel(
          kind: uses.kind, span: uses.span, with: try fold(uses.with), model: uses.model))
    }
  }

  func foldScript(_ text: Text, for shell: [String]) throws(EvaluationFailure) -> Text {
    try keeping(text) { () throws(EvaluationFailure) -> Text in
      if let script = try scriptIfKnown(text, for: shell) { return .plain(script) }
      guard case .template(let template) = text else { return text }
      return .template(try template.folded(with: self))
    }
  }

  /// The script; nil if some of its values are not known.
  func scriptIfKnown(
    _ text: Text, for shell: [String]
  ) throws(EvaluationFailure) -> String? {
    guard case .template(let template) = text else { return text.plain }
    let script = try template.renderedScriptIfKnown(for: ScriptReader(shell: shell), with: self)
    if let script { try spend(script, on: template) }
    return script
  }

  /// Folds all arguments or none, because each may determine what another one is to its program.
  private func fold(arguments words: [Text]) throws(EvaluationFailure) -> [Text] {
    guard words.contains(where: { $0.template != nil }) else { return words }
    let arguments = try ArgumentText(words, for: .knownValue, with: self)
    guard let texts = arguments.texts else {
      var folded: [Text] = []
      for word in words {
        folded.append(
          try word.template.map { template throws(EvaluationFailure) in
            .template(try template.folded(with: self))
          } ?? word)
      }
      return folded
    }
    for (word, text) in zip(words, texts) {
      if let template = word.template { try spend(text, on: template) }
    }
    return texts.map { .plain($0) }
  }
}

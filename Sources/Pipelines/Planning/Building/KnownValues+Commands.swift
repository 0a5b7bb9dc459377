// Inserts everything that is known before the run into commands. Values are inserted into scripts
// and arguments only as `ScriptRule` allows.

import Diagnostics
import Expressions
import Plans

extension KnownValues {
  func fold(
    _ command: CommandModel, for shell: [String]
  ) throws(EvaluationFailure) -> CommandModel {
    switch command {
    case .script(.plain): return command
    case .script(let text):
      return switch try foldScript(text, for: shell) {
      case .known(let script): .script(.plain(script.string))
      case .late(let text): .script(text)
      }
    case .arguments(let words):
      return .arguments(
        try keeping(words) { () throws(EvaluationFailure) -> [Text] in
          try fold(arguments: words)
        })
    case .uses(let uses):
      let isBuiltIn = !uses.kind.isPipeline
      return .uses(
        UsesModel(
          kind: uses.kind, span: uses.span,
          with: try isBuiltIn ? fold(inputs: uses.with) : fold(uses.with), model: uses.model))
    }
  }

  func foldScript(_ text: Text, for shell: [String]) throws(EvaluationFailure) -> FoldedScript {
    switch text {
    case .plain(let text): .known(ScriptText(text))
    case .template(let template) where template.isOnly(of: Self.contextsOfRun): .late(text)
    case .template(let template):
      try keeping(.late(text)) { () throws(EvaluationFailure) -> FoldedScript in
        let reader = ScriptReader(shell: shell)
        guard let script = try template.renderedScriptIfKnown(for: reader, with: self) else {
          return .late(.template(try template.folded(with: self)))
        }
        try spend(script.count, on: template)
        return .known(ScriptText(utf8: script))
      }
    }
  }

  /// The contexts that are completely unknown before the run.
  private static let contextsOfRun: [ContextRoot] = [.steps, .run, .secrets]

  /// Folds all arguments or none, because each may determine the role of another one for its program.
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
    let written = words.reduce(0) { $0 + ($1.plain?.utf8.count ?? 0) }
    if let template = words.lazy.compactMap(\.template).first {
      try spend(texts.reduce(0) { $0 + $1.utf8.count } - written, on: template)
    }
    return texts.map { .plain($0) }
  }
}

/// A script with everything inserted that is known.
enum FoldedScript {
  case known(ScriptText)
  case late(Text)
}

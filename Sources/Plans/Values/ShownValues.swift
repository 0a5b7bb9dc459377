// Values of the file as they are displayed, and as commands if everything in them is known.

import BuiltinSteps
import Expressions

extension Text {
  /// The string as it is shown, with expressions as they could be written.
  package var shown: String {
    switch self {
    case .plain(let text): text
    case .template(let template): template.description
    }
  }

  package var plain: String? { if case .plain(let text) = self { text } else { nil } }
}

extension ValueModel {
  /// The value as it is shown: JSON, with expressions as they could be written.
  package var shown: String {
    switch self {
    case .constant(let value): value.text ?? value.json
    case .template(let template): template.description
    case .list(let items): "[" + items.map(\.shown).joined(separator: ", ") + "]"
    case .map(let members):
      "{" + members.map { "\($0.name): \($0.value.shown)" }.joined(separator: ", ") + "}"
    }
  }
}

extension UsesModel {
  /// A built-in step as arguments of the helper program: `--name=value`.
  package func action(_ text: (ValueModel) -> String) -> Action {
    guard case .builtIn(let name) = kind else {
      preconditionFailure("a pipeline of its own is no command")
    }
    return .helper([name] + entries(text).map { "--\($0.name)=\($0.value)" })
  }

  /// The inputs as options: repeated for a list, as `name: value` for a map.
  package func entries(_ text: (ValueModel) -> String) -> [(name: String, value: String)] {
    with.flatMap { member in
      let values: [String] =
        switch member.value {
        case .constant(.list(let items)): items.map { text(.constant($0)) }
        case .list(let items): items.map(text)
        case .constant(.map(let map)):
          zip(map.names, map.values).map { "\($0): \(text(.constant($1)))" }
        case .map(let members): members.map { "\($0.name): \(text($0.value))" }
        case .constant, .template: [text(member.value)]
        }
      return values.map { (member.name, $0) }
    }
  }
}

extension CommandModel {
  /// The command, if nothing in it is left to be evaluated.
  package var constant: Action? {
    templates.isEmpty ? asAction : nil
  }

  /// The command as it is run if it is known, and otherwise as it is displayed.
  package var work: Work {
    templates.isEmpty ? .known(asAction) : .late(shown: ShownCommand(asAction))
  }

  /// The command with expressions as they could be written. Only a command without expressions may run.
  var asAction: Action {
    switch self {
    case .script(let text): .script(ScriptText(text.shown))
    case .arguments(let words): .arguments(words.map(\.shown))
    case .uses(let uses): uses.action { $0.shown }
    }
  }
}

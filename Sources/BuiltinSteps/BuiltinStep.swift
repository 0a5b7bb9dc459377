// The built-in steps and their inputs. One table drives the helper program's command line and its
// help, and the check of `with:` in a pipeline. It knows neither YAML nor how a step is performed.

import Diagnostics

/// A step that `uses:` names and that a separate program performs.
package struct BuiltinStep: Sendable {
  package let name: String
  /// What the step does, for help and documentation.
  package let summary: String
  package let keys: [BuiltinKey]
  package let groups: [KeyGroup]
  /// Conditions beyond the type of each key.
  package let rules: [InputRule]

  /// The keys come in sections, in the order of help.
  package init(
    _ name: String, _ summary: String, keys: [[BuiltinKey]], groups: [KeyGroup] = [],
    rules: [InputRule] = []
  ) {
    self.name = name
    self.summary = summary
    self.keys = Array(keys.joined())
    self.groups = groups
    self.rules = rules
  }

  /// The program that performs all built-in steps, installed next to oprun.
  package static let program = "oprun-steps"

  package static let all = [download, resize, downloadAndResize, compose, wait]

  package static func named(_ name: String) -> BuiltinStep? { all.first { $0.name == name } }

  package func key(_ name: String) -> BuiltinKey? { keys.first { $0.name == name } }

  /// The arguments of the program, `--name=value` after the step, in the form in which they may be
  /// shown.
  package static func shown(_ words: [String]) -> [String] {
    guard let step = words.first.flatMap(named) else { return words }
    return words.map { word in
      guard word.hasPrefix("--"), let sign = word.firstIndex(of: "="),
        let key = step.key(String(word[..<sign].dropFirst(2)))
      else { return word }
      return word[...sign] + key.disclosure.shown(String(word[word.index(after: sign)...]))
    }
  }
}

/// A group of keys of which some must be given.
package struct KeyGroup: Hashable, Sendable {
  package enum Rule: Hashable, Sendable { case exactlyOne, atLeastOne }

  package let rule: Rule
  package let keys: [String]

  /// The message about a violation of the rule; nil if the given keys satisfy it.
  package func fault(in isGiven: (String) -> Bool) -> String? {
    let given = keys.filter(isGiven)
    let names = inWords(keys.map(quoted))
    if given.isEmpty { return "one of \(names) is required" }
    guard rule == .exactlyOne, given.count > 1 else { return nil }
    return "only one of \(names) can be given, found \(inWords(given.map(quoted), last: "and"))"
  }
}

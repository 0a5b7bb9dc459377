// The meanings of a word that somebody has met in a pipeline file, on a command line or in the
// output of a run. All of them come from the tables that also drive decoding, help and the
// documentation.

import BuiltinSteps
import Diagnostics
import Expressions
import Pipelines
import Plans
import Scheduling

/// One meaning of a word.
struct Explanation {
  /// The kind of thing: `a function of expressions`.
  let kind: String
  let sentence: String
  /// Names and values, such as a default.
  var facts: [(String, String)] = []

  /// The sentence with a capital and a full stop, which some tables leave out.
  var wholeSentence: String {
    sentence.prefix(1).uppercased() + sentence.dropFirst() + (sentence.hasSuffix(".") ? "" : ".")
  }

  /// All meanings of a word; empty if it has none.
  static func all(of word: String) -> [Explanation] {
    keys(word) + keysElsewhere(word) + functions(word) + builtinSteps(word) + outcomes(word)
      + exitStatuses(word) + runWords(word) + commands(word) + options(word) + variables(word)
      + otherTools(word)
  }

  /// The words that have a meaning.
  static var words: [String] {
    let kinds = ObjectKind.allCases + ObjectKind.ofTests
    return kinds.flatMap { $0.rows.map(\.key) } + kinds.flatMap { $0.elsewhere.keys.sorted() }
      + Function.allCases.map(\.row.name) + BuiltinStep.all.map(\.name)
      + Outcome.allCases.map(\.word) + Subcommand.all.map(\.name)
      + Subcommand.all.flatMap { $0.options.map(\.name) } + variableWords
      + sentencesOfRunWords.keys.sorted() + KeysElsewhere.advice.keys.sorted()
      + KeysElsewhere.words.keys.sorted()
  }

  private static func functions(_ word: String) -> [Explanation] {
    let name = word.hasSuffix("()") ? String(word.dropLast(2)) : word
    return Function.allCases.map(\.row).filter { $0.name == name }.map { row in
      Explanation(
        kind: "a function of expressions", sentence: row.sentence,
        facts: [("call", row.signature)]
          + row.examples.prefix(2).map { ("example", "\($0.0) is \($0.1)") })
    }
  }

  private static func builtinSteps(_ word: String) -> [Explanation] {
    BuiltinStep.all.filter { $0.name == word }.map { step in
      Explanation(
        kind: "a built-in step, as in 'uses: \(word)'", sentence: step.summary,
        facts: step.keys.map { key in
          (key.name, key.summary + (key.isRequired ? " Required." : ""))
        })
    }
  }

  private static func outcomes(_ word: String) -> [Explanation] {
    Outcome.allCases.filter { $0.word == word }.map {
      Explanation(kind: "how a step can end", sentence: $0.sentence)
    }
  }

  private static func exitStatuses(_ word: String) -> [Explanation] {
    var known = ExitStatus.meanings.filter { $0.status == word }.map(\.meaning)
    if known.isEmpty, let number = Int32(word), (129...192).contains(number) {
      known = ["a run was stopped by \(signalName(number - 128))"]
    }
    return known.map { meaning in
      let plain = meaning.split(separator: "`", omittingEmptySubsequences: false)
      return Explanation(
        kind: "an exit status of oprun", sentence: plain.joined(separator: "'"))
    }
  }

  private static func commands(_ word: String) -> [Explanation] {
    Subcommand.all.filter { $0.name == word }.map { command in
      Explanation(
        kind: "a command of oprun", sentence: command.summary,
        facts: [("usage", "oprun \(command.synopsis)"), ("more", "oprun help \(word)")])
    }
  }

  /// Finds an option by its name, with or without dashes, or by its variable.
  private static func options(_ word: String) -> [Explanation] {
    var found: [(option: Option, commands: [String])] = []
    for command in Subcommand.all {
      for option in command.options
      where option.isWritten(word) || [option.name, option.variable].contains(word) {
        let place = found.firstIndex {
          $0.option.summary == option.summary && $0.option.variable == option.variable
        }
        if let place {
          found[place].commands.append(command.name)
        } else {
          found.append((option, [command.name]))
        }
      }
    }
    return found.map { option, commands in
      let usage = synopsis(of: option).drop { $0 == " " }
      var facts = [("usage", String(usage)), ("commands", inWords(commands, last: "and"))]
      if !option.variable.isEmpty { facts.append(("variable", option.variable)) }
      return Explanation(kind: "an option of oprun", sentence: option.summary, facts: facts)
    }
  }
}

extension Outcome {
  fileprivate var sentence: String {
    switch self {
    case .succeeded: "The command of the step exited with 0, and its hooks did, too."
    case .cached:
      "Nothing ran: the step is up to date, because nothing has changed since it succeeded."
    case .failed: "The command of the step, or one of its hooks, failed, and no attempt is left."
    case .timedOut: "The step was stopped because its time limit had passed."
    case .cancelled:
      "The step was stopped, or never started, because the run was stopped or cancelled."
    case .skipped:
      "The step did not run, and nothing is wrong: its 'if' is false, its matrix is empty, or what "
        + "it waits for did not happen."
    case .blocked:
      "The step did not run, because something that it depends on failed, was cancelled or was "
        + "blocked."
    }
  }
}

// The messages about the values of a pipeline file.

import Diagnostics

enum DecodingMessage {
  static func noExpression(_ key: String, at span: Span) -> Diagnostic {
    Diagnostic(
      "\(quoted(key)) cannot contain an expression: it must be known before the run", at: span)
  }

  static func ambiguousNumber(_ text: String, as number: String, at span: Span) -> Diagnostic {
    Diagnostic(
      "\(printable(text)) is read as the number \(number)", at: span,
      help: "write '\(printable(text))' in quotes, or \(number)")
  }

  static func badMerge(found: String, at span: Span) -> Diagnostic {
    Diagnostic("'<<' must be a map or a list of maps, not \(found)", at: span)
  }

  static func wrongType(
    _ wanted: WantedValue, found: String, at span: Span, help: String? = nil
  ) -> Diagnostic {
    let key = quoted(wanted.key)
    let subject = wanted.isItem ? "each item of \(key)" : key
    return Diagnostic("\(subject) must be \(wanted.words), not \(found)", at: span, help: help)
  }

  static func excludedNoAxis(_ name: String, axes: [String], at span: Span) -> Diagnostic {
    Diagnostic(
      "'exclude' names \(quoted(name)), which is not an axis of the matrix", at: span,
      help: didYouMean(suggestion(for: name, among: axes.prefix(100)))
        ?? (axes.isEmpty
          ? "the matrix has no axes, only the instances in 'include'"
          : "the axes are " + firstNames(of: axes.map(quoted), most: 8)))
  }

  static func empty(_ key: String, at span: Span, help: String? = nil) -> Diagnostic {
    Diagnostic("\(quoted(key)) must not be empty", at: span, help: help)
  }

  static let firstStep = "write '- id: hello' below it, and 'run: echo hello' below that"

  /// The help for steps in a list without ids. `first` is the first key of the map.
  static func stepsInList(_ first: String) -> String {
    first.hasPrefix("-")
      ? "write a space after the '-' of each step"
      : "begin each step with its id: '- id: \(printable(first))', and its keys below that"
  }

  /// The help for a step that is a string.
  static func stepOfText(_ text: String) -> String {
    "write an id: '- id: NAME', and 'run: \(printable(text))' below that"
  }

  static func missingSpace(after key: String, at span: Span) -> Diagnostic {
    Diagnostic(
      "no space after ':'", at: span, help: "a key is followed by ': ', as in '\(key): …'")
  }

  /// The message about an item in a list of words; `number` counts from 1.
  static func wrongItem(
    _ number: Int, of key: String, found: String, at span: Span
  ) -> Diagnostic {
    Diagnostic("item \(number) of \(quoted(key)) must be a string, not \(found)", at: span)
  }

  static func foreignAction(_ name: String, at span: Span) -> Diagnostic {
    let action = name.split(separator: "@").first ?? ""
    let help =
      switch action {
      case "actions/checkout":
        "remove this step: the files are already in the directory that oprun is started in"
      case "actions/upload-artifact", "actions/download-artifact", "actions/cache":
        "remove this step: files stay where they are from step to step"
      case let name where name.hasPrefix("actions/setup-"):
        "remove this step: steps use the tools of this machine"
      default:
        "write a command ('run'), or use a built-in step or a pipeline file: './deploy.yml'"
      }
    return Diagnostic(
      "\(quoted(name)) is a GitHub action, which runs only on GitHub", at: span, help: help)
  }

  static func container(_ name: String, at span: Span) -> Diagnostic {
    Diagnostic(
      "\(quoted(name)) is a container image, but steps run commands", at: span,
      help: "start the container with a command: 'run: docker run --rm …'")
  }

  static func slurmOfRun(_ key: String, at span: Span) -> Diagnostic {
    Diagnostic(
      "\(quoted(key)) applies to the whole run, not to a step", at: span,
      help: "write it in 'slurm' at top level")
  }

  static func refusedOption(_ name: String, help: String, at span: Span) -> Diagnostic {
    Diagnostic("oprun sets the option \(quoted("--" + name)) itself", at: span, help: help)
  }

  static func serviceInSlurm(at span: Span) -> Diagnostic {
    Diagnostic(
      "a service runs beside oprun, not in Slurm", at: span,
      help: "leave 'executor' out, or write 'executor: local'")
  }

  static func emptyProgram(_ key: String, at span: Span) -> Diagnostic {
    Diagnostic(
      "the first item of \(quoted(key)) must be the name of a program, not empty", at: span)
  }

  /// The message about a program whose name has a blank. `count` is the number of items: several of
  /// them may have been meant as the lines of a script.
  static func programWithBlank(_ text: String, among count: Int, at span: Span) -> Diagnostic {
    let words = text.split(separator: " ")
    let isOfShell =
      words.first.map { shellWords.contains(String($0)) } ?? false
      || text.contains { "|&;<>$`*\"'".contains($0) }
    let list = printable(words.joined(separator: ", "))
    let help =
      if count > 1 {
        "for a script write 'run: |', and each command on a line below it"
          + (isOfShell ? "" : "; for one command with arguments, a word in each item: [\(list), …]")
      } else {
        isOfShell
          ? "write it as a plain string, which a shell reads: \(quoted(text))"
          : "write [\(list)], or a plain string for a script"
      }
    return Diagnostic(
      "a list contains the words of one command, and no program is called \(quoted(text))",
      at: span, help: help)
  }

  /// Words at the start of lines that only a shell can run.
  private static let shellWords: Set = [
    "cd", "source", ".", "export", "set", "unset", "eval", "if", "for", "while", "case",
  ]

  /// The message about a hook, where a list may also hold several commands.
  static func commandsAsTexts(_ text: String, at span: Span) -> Diagnostic {
    Diagnostic(
      "a list of strings contains the words of one command, and no program is called \(quoted(text))",
      at: span,
      help: "for several commands write each as a map: [{run: \(quoted(text))}, …]")
  }

  static func runAndUses(at span: Span) -> Diagnostic {
    Diagnostic("a step has either 'run' or 'uses', not both", at: span)
  }

  static func withWithoutUses(at span: Span) -> Diagnostic {
    Diagnostic("'with' needs 'uses': it sets the inputs of a built-in step or a pipeline", at: span)
  }

  static func stepsAndMore(at span: Span) -> Diagnostic {
    Diagnostic("a step has exactly one of 'run', 'uses' and 'steps'", at: span)
  }

  static func needsSteps(_ key: String, at span: Span) -> Diagnostic {
    Diagnostic("\(quoted(key)) needs 'steps': it applies to the steps of a group", at: span)
  }

  static func notOfPipelineUse(_ key: String, isGroup: Bool, at span: Span) -> Diagnostic {
    Diagnostic(
      "\(quoted(key)) applies to a command, but this step \(isGroup ? "is a group" : "uses a pipeline")",
      at: span, help: "set it on the steps of that \(isGroup ? "group" : "pipeline")")
  }

  static func noStatusOfItsOwn(at span: Span) -> Diagnostic {
    Diagnostic(
      "'allow_failure' must be true or false here: several steps have no exit status of their own",
      at: span, help: "set 'exit_codes' on the steps themselves")
  }

  static func readyByItsSteps(isGroup: Bool, at span: Span) -> Diagnostic {
    Diagnostic(
      "'background' must be true or false here: a \(isGroup ? "group" : "pipeline") is ready when its "
        + "services are ready and its other steps have ended", at: span,
      help: "let one of its steps wait: {id: up, uses: wait, with: {tcp: …}}")
  }

  static func notOfSection(_ key: String, at span: Span) -> Diagnostic {
    Diagnostic(
      "\(quoted(key)) applies to a whole file, but this is one pipeline of it", at: span,
      help: "set it at top level")
  }

  static func tooManyParts(at span: Span) -> Diagnostic {
    Diagnostic("more than 10,000 groups and named pipelines, which is the limit", at: span)
  }

  static func nestedHook(at span: Span) -> Diagnostic {
    Diagnostic("a hook cannot use a pipeline", at: span)
  }

  static func shellWithOptions(_ text: String, words: String, at span: Span) -> Diagnostic {
    Diagnostic(
      "'shell' must be one word or a list, not \(quoted(text))", at: span,
      help: "write a list: [\(printable(words))]")
  }

  static func nul(_ key: String, at span: Span) -> Diagnostic {
    Diagnostic("\(quoted(key)) cannot contain the character '\\u{0}'", at: span)
  }

  static func nul(at span: Span) -> Diagnostic {
    Diagnostic("a string cannot contain the character '\\u{0}'", at: span)
  }

  static func notAPipeline(found: String, isList: Bool, at span: Span) -> Diagnostic {
    Diagnostic(
      "a pipeline file must be a map with 'steps', not \(found)", at: span,
      help: isList ? "write 'steps:' above the list" : nil)
  }

  static func needsMatrix(_ key: String, at span: Span) -> Diagnostic {
    Diagnostic("\(quoted(key)) needs 'matrix': it applies to the instances", at: span)
  }

  static func textForList(_ name: String, at span: Span) -> Diagnostic {
    Diagnostic(
      "\(quoted(name)) must be a list or one expression that evaluates to a list", at: span,
      help: "remove the text around '${{ }}'")
  }

  static func badCondition(
    _ key: String, wanted: String, found: String, at span: Span
  ) -> Diagnostic {
    Diagnostic("\(quoted(key)) must be \(wanted), not \(quoted(found))", at: span)
  }

  static func oneWait(at span: Span) -> Diagnostic {
    let kinds = ObjectKind.wait.alternatives.map { quoted($0) }
    return Diagnostic("a condition has one of \(inWords(kinds, last: "and"))", at: span)
  }

  static func sameVariable(_ variable: String, first: Span, at span: Span) -> Diagnostic {
    Diagnostic(
      "two parameters would be set by the variable \(quoted(variable))", at: span,
      secondary: [.init(first, "first here")])
  }

  static func defaultOfRequired(at span: Span) -> Diagnostic {
    Diagnostic("a required parameter cannot have a default", at: span)
  }

  static func restOfOtherType(_ type: String, at span: Span) -> Diagnostic {
    Diagnostic(
      "'rest' needs the type 'list', not \(quoted(type)): each argument after '--' is an item",
      at: span,
      help: "write type: list")
  }

  static func secondRest(_ name: String, first: Span, at span: Span) -> Diagnostic {
    Diagnostic(
      "only one parameter can take the arguments after '--', so \(quoted(name)) cannot", at: span,
      secondary: [.init(first, "this one takes them")])
  }

  static func badDefault(_ refusal: String, at span: Span) -> Diagnostic {
    Diagnostic("the default \(refusal)", at: span)
  }

  static func badPattern(_ text: String, _ reason: String, at span: Span) -> Diagnostic {
    Diagnostic("\(quoted(text)) is not a regular expression: \(reason)", at: span)
  }

  static let variable = "write a variable as NAME: value"
  static let leaveOut = "leave the key out, or write \"\" for an empty string"

  static let nothing = "to run nothing, write 'run: \":\"'"

  static let noInputs = "write 'inputs: []' if the command reads no file of the workspace"

  static func cachedService(at span: Span) -> Diagnostic {
    Diagnostic("a service cannot be cached: it has no result", at: span)
  }

  static func badID(_ id: String, what: String, at span: Span) -> Diagnostic {
    Diagnostic(
      "\(quoted(id)) cannot be \(what)", at: span,
      help: "use a letter or '_', then letters, digits, '_' and '-', at most 128 in all")
  }

  static func commandAlone(at span: Span) -> Diagnostic {
    Diagnostic("a command in 'vars' has only the key 'run'", at: span)
  }

  static func tooManyVars(at span: Span) -> Diagnostic {
    Diagnostic("more than \(PipelineModel.maxVarCount) 'vars', which is the limit", at: span)
  }

  static func badStepID(_ id: String, at span: Span) -> Diagnostic {
    Diagnostic(
      "\(quoted(id)) cannot be the id of a step", at: span,
      help: "use a letter or '_', then letters, digits, '_', '-', '.' and ':', at most 128 in all")
  }

  static func escapedID(at span: Span) -> Diagnostic {
    Diagnostic("an id must be written literally, without escapes, on a single line", at: span)
  }

  static func noDefault(_ key: String, at span: Span) -> Diagnostic {
    Diagnostic("\(quoted(key)) cannot be set in 'defaults': it belongs to a single step", at: span)
  }

  static func tooManySteps(at span: Span) -> Diagnostic {
    Diagnostic("more than 1,000,000 steps, which is the limit", at: span)
  }

  static func tooManyDependencies(at span: Span) -> Diagnostic {
    Diagnostic("more than 4,000,000 entries in 'depends_on' in all, which is the limit", at: span)
  }

  static func tooManyChoices(at span: Span) -> Diagnostic {
    Diagnostic("more than 1,000 values in 'enum', which is the limit", at: span)
  }

  static func tooManyNames(at span: Span) -> Diagnostic {
    Diagnostic("more than 100,000 names in one map, which is the limit", at: span)
  }

  static func tooManyTexts(at span: Span) -> Diagnostic {
    Diagnostic(
      "more than 4,000,000 strings or 64 MiB of text once aliases are expanded, which is the limit",
      at: span)
  }

  static func badVariable(_ name: String, at span: Span) -> Diagnostic {
    Diagnostic("\(quoted(name)) cannot be the name of an environment variable", at: span)
  }

  static func duplicateSecret(_ name: String, first: Span, at span: Span) -> Diagnostic {
    Diagnostic(
      "secret \(quoted(name)) is declared twice", at: span,
      secondary: [.init(first, "first here")])
  }

  static func pathWithoutFile(at span: Span) -> Diagnostic {
    Diagnostic(
      "'path' applies only to secrets with 'from: file'", at: span,
      help: "add 'from: file', or remove 'path': a variable has the name of its secret")
  }

  static func defaultQueue(at span: Span) -> Diagnostic {
    Diagnostic(
      "the queue 'default' already exists", at: span,
      help: "set its width with 'max_parallel' at top level")
  }

  static func noUnit(
    _ wanted: WantedValue, number: String, units: String, at span: Span
  ) -> Diagnostic {
    Diagnostic(
      "\(quoted(wanted.key)) must be \(wanted.words), but the number \(printable(number)) has no unit",
      at: span, help: units)
  }

  static let durationUnits = "units are ms, s, m, h and d, as in 250ms, 30s or 1h30m"
  static let quantityUnits =
    "units of sizes are K, M, G and T, as in 2G; of durations, ms, s, m, h and d"
  static let sizeUnits = "units are K, M, G and T, as in 512K, 2M or 1G"
}

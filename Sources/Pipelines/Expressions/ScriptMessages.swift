// The wording of what keeps a value out of a script.

import Diagnostics

extension ExpressionMessage {
  static let throughEnvironment = "pass it through 'env' and write \"$NAME\" here"
  static let throughEnvironmentOrQuoted =
    "pass it through 'env' and write \"$NAME\", or insert quote(…)"
  static let throughEnvironmentAlone = "pass the value through 'env'"

  static let nulInScript = FaultWords("the character '\\u{0}' cannot stand in a script")

  static func emptyInScript(help: String) -> FaultWords {
    FaultWords("the value is empty, and would leave a gap in the script", help: help)
  }

  static let quoteForOtherLanguage = FaultWords(
    "quote() writes a word for a shell, and this script is not for one",
    help: throughEnvironmentAlone)

  static func unsafe(_ text: String, help: String) -> FaultWords {
    FaultWords("the value \(quoted(text)) could become code in a script", help: help)
  }

  static func notNumeric(_ text: String) -> FaultWords {
    FaultWords(
      "the shell calculates with this value, it must be a whole number, not \(quoted(text))")
  }

  static func assignment(_ text: String, _ command: String) -> FaultWords {
    FaultWords(
      "\(quoted(text)) assigns a variable in the arguments of \(quoted(command))",
      help: throughEnvironment)
  }

  static func descriptor(_ text: String) -> FaultWords {
    FaultWords(
      "the shell would take \(quoted(text)) before '<' or '>' for a file descriptor",
      help: "write a space between them")
  }

  static func endsDocument(_ delimiter: String) -> FaultWords {
    FaultWords(
      "with this value the line is \(quoted(delimiter)), which ends the here-document",
      help: throughEnvironment)
  }

  static func shellWord(_ word: String) -> FaultWords {
    FaultWords(
      "\(quoted(word)) in the place of a command is one of the shell's own words",
      help: "a value may name a program here, nothing else")
  }

  /// Where no value may stand.
  static func refused(_ refusal: ShellPlace.Refusal) -> FaultWords {
    let message =
      switch refusal {
      case .unclear: "what the shell makes of this place is not clear"
      case .escaped: "a backslash stands before the value"
      case .parameterExpansion: "a value cannot stand inside '${…}' of the shell"
      case .variableName(let name): "the value would become a part of the name '$\(name)'"
      case .hereDocumentDelimiter: "a value cannot be what ends a here-document"
      case .assignedName: "a value cannot be the name of a variable that is assigned to"
      case .loopVariable: "a value cannot be the name of a loop's variable"
      case .script(let shell): "a value cannot be the script of \(quoted(shell))"
      case .testOperator: "a value cannot be an operator of a test"
      }
    if case .variableName(let name) = refusal {
      return FaultWords(message, help: "write '${\(printable(name))}' before it")
    }
    if refusal == .escaped {
      return FaultWords(message, help: "'$${{' writes '${{' itself")
    }
    return FaultWords(message, help: throughEnvironment)
  }

  /// Where a quoted value would not stay one word.
  static func quote(in place: ShellPlace) -> FaultWords {
    let message =
      switch place.context {
      case .quotes: "quote() stands inside quotes, where its own quotes end them"
      case .backquotes: "quote() stands inside backquotes, which take quoting apart"
      case .comment: "quote() stands in a comment, which a line break would end"
      case .hereDocument: "quote() stands in a here-document, where quotes are characters"
      case .codeArgument(let command): "quote() stands where \(quoted(command)) reads it as code"
      case .word: "quote() stands where the shell calculates"
      }
    let help =
      switch place.context {
      case .quotes: "leave out the quotes around it, or pass the value through 'env'"
      case .backquotes: "write $(…) in place of the backquotes"
      default: throughEnvironment
      }
    return FaultWords(message, help: help)
  }
}

// The messages about faults of expressions: of syntax, names and values, and positions where a
// value would become shell code.

import Diagnostics

/// A message, with a help line if the fix is known.
package struct UnlocatedFailure: Hashable, Sendable {
  package let message: String
  package let help: String?

  package init(_ message: String, help: String? = nil) {
    self.message = message
    self.help = help
  }

  func diagnostic(at span: Span) -> Diagnostic { Diagnostic(message, at: span, help: help) }
}

package enum ExpressionMessage {}

// Messages about syntax.
extension ExpressionMessage {
  static let emptyExpression = UnlocatedFailure("an expression is missing here")
  static let openTemplate = UnlocatedFailure(
    "this '${{' is never closed", help: "close it with '}}', or write '$${{' for '${{' itself")
  static let openString = UnlocatedFailure("this string is never closed")
  package static let nul = UnlocatedFailure("a string cannot contain the character '\\u{0}'")

  package static let badEscape = UnlocatedFailure(
    "unknown escape in this string",
    help: #"the escapes are \n \t \r \b \f \" \\ \/ and \u0041; 'single quotes' have none"#)
  static let noNameAfterDot = UnlocatedFailure(
    "a name must directly follow '.'", help: "write other names as ['…']")
  static let comparisonChain = UnlocatedFailure(
    "comparisons cannot be chained", help: "join comparisons with '&&', or add parentheses")
  package static let tooDeep = UnlocatedFailure(
    "the expression is nested more than 64 levels deep, which is the limit")
  static let expressionTooLong = UnlocatedFailure(
    "the expression is longer than 64 KiB, which is the limit")
  static let textAroundCondition = UnlocatedFailure(
    "a condition is one expression, without text around it",
    help: "write the whole condition as one expression; the braces may be left out")

  static func strayCharacter(_ character: String, beforeBraces: Bool) -> UnlocatedFailure {
    let help: String? =
      switch character {
      case "~", "=~": "matches(text, pattern) compares with a regular expression"
      case "!~": "!matches(text, pattern) compares with a regular expression"
      case "$" where beforeBraces, "{" where beforeBraces:
        "names inside an expression need no braces: params.x"
      case "=": "'==' compares"
      case "&": "'&&' means and"
      case "|": "'||' means or"
      case "$": "a name stands for its value: params.x, env.X"
      case "+":
        "expressions have no arithmetic; strings are joined outside of them: ${{ a }}${{ b }}"
      case "}": "'}}' closes '${{'"
      case "‘", "’", "“", "”": "put a string in straight quotes: 'text'"
      case "/":
        "expressions have no arithmetic; write a name that contains '/' in brackets: steps['a/b']"
      case "-", "*", "%": "expressions have no arithmetic"
      default: nil
      }
    return UnlocatedFailure("\(quoted(character)) has no meaning in an expression", help: help)
  }

  static func badNumber(_ text: String) -> UnlocatedFailure {
    UnlocatedFailure("\(quoted(text)) is not a number")
  }

  static func numberTooLarge(_ text: String) -> UnlocatedFailure {
    UnlocatedFailure(
      "the number \(printable(text)) is too large to be represented exactly",
      help: "write it as a string: '\(printable(text))'")
  }

  /// The message about a word that is an operator in other languages.
  static func foreignOperator(_ word: String, sign: String) -> UnlocatedFailure {
    let meaning =
      switch sign {
      case "!": "'!' means not: !(x == y)"
      case "&&": "'&&' means and"
      case "||": "'||' means or"
      default: "'\(sign)' compares"
      }
    return UnlocatedFailure("\(quoted(word)) is not an operator", help: meaning)
  }

  /// The message about a function between its arguments: `x contains 'y'`.
  static func infixFunction(_ row: FunctionRow) -> UnlocatedFailure {
    UnlocatedFailure(
      "\(quoted(row.name)) is a function, not an operator", help: "write \(row.signature)")
  }

  package static func unexpected(_ found: String?, wanted: String?) -> UnlocatedFailure {
    let isString = found.map { $0.hasPrefix("'") || $0.hasPrefix("\"") } ?? false
    let place =
      found.map { "found \(isString ? printable($0) : quoted($0))" }
      ?? "the expression ends too early"
    let wanted = wanted.map { $0.count == 1 ? quoted($0) : $0 }
    let rest =
      wanted.map { ", wanted \($0)" } ?? ", wanted an operator or the end of the expression"
    return UnlocatedFailure(place + rest)
  }
}

// Messages about names.
extension ExpressionMessage {
  /// The message about an unknown name. `function` is the function of this name, if there is one.
  static func unknownName(
    _ name: String, suggestion: String?, function: FunctionRow? = nil
  ) -> UnlocatedFailure {
    UnlocatedFailure(
      "unknown name \(quoted(name))",
      help: function.map { "call the function with parentheses: \($0.signature)" }
        ?? didYouMean(suggestion) ?? "write a string in quotes: '\(printable(name))'")
  }

  /// The message about a word that is compared with one of several strings.
  static func notQuoted(_ name: String, among choices: [String]) -> UnlocatedFailure {
    UnlocatedFailure(
      "\(quoted(name)) is not in quotes",
      help: choices.contains(name)
        ? "write '\(printable(name))'" : listed("the values are", choices.map { "'\($0)'" }))
  }

  /// The message about an unknown name with members.
  static func unknownRoot(
    _ name: String, suggestion: String?, among known: [String]
  ) -> UnlocatedFailure {
    UnlocatedFailure(
      "unknown name \(quoted(name))",
      help: didYouMean(suggestion) ?? "the names are \(known.joined(separator: ", "))")
  }

  static func unknownFunction(_ name: String, suggestion: String?) -> UnlocatedFailure {
    UnlocatedFailure("unknown function \(quoted(name))", help: didYouMean(suggestion))
  }

  /// The message about an unknown member. `known` are the existing names.
  static func unknownMember(
    _ name: String, of root: ContextRoot, suggestion: String?, among known: [String] = []
  ) -> UnlocatedFailure {
    let (kind, help): (String, String?) =
      switch root {
      case .params: ("parameter", listed("the parameters are", known) ?? declare(in: root))
      case .env: ("variable", nil)
      // The steps that may be named here are in 'depends_on'.
      case .steps: ("step", nil)
      case .matrix: ("matrix axis", listed("the axes are", known))
      case .secrets: ("secret", listed("the secrets are", known) ?? declare(in: root))
      case .vars: ("name in 'vars':", listed("the names are", known) ?? declare(in: root))
      case .run, .host: ("name in '\(root.name)':", listed("the names are", known))
      }
    return UnlocatedFailure(
      "unknown \(kind) \(quoted(name))", help: didYouMean(suggestion) ?? help)
  }

  private static func declare(in root: ContextRoot) -> String {
    "declare it under '\(root.name)' at top level"
  }

  static func unknownMember(
    _ name: String, of owner: String, suggestion: String?, among known: [String]
  ) -> UnlocatedFailure {
    UnlocatedFailure(
      "\(quoted(owner)) has no member \(quoted(name))",
      help: didYouMean(suggestion) ?? listed("its members are", known))
  }

  /// The names as a help line; nil if there are none.
  private static func listed(_ words: String, _ names: [String]) -> String? {
    if names.isEmpty { return nil }
    var seen: Set<String> = []
    let names = names.filter { seen.insert($0).inserted }
    return "\(words) \(firstNames(of: names.map(printable), most: 8))"
  }

  /// The message about a member that a value does not have.
  static func missingMember(
    _ name: String, of owner: String, suggestion: String?
  ) -> UnlocatedFailure {
    UnlocatedFailure(
      "\(quoted(owner)) has no member \(quoted(name))", help: didYouMean(suggestion))
  }

  /// The message about `path`, an output that a step did not write. `outcome` is that of the step,
  /// `written` are the outputs that it did write.
  static func missingOutput(
    _ path: (step: String, name: String, text: String), _ outcome: String?, among written: [String]
  ) -> UnlocatedFailure {
    let reason: String? =
      switch outcome {
      case "failed": "it failed"
      case "timed_out": "it timed out"
      case "skipped", "cancelled", "blocked": "it was \(outcome ?? "")"
      default: nil
      }
    let message = "step \(quoted(path.step)) wrote no output \(quoted(path.name))"
    if let reason {
      return UnlocatedFailure(
        "\(message): \(reason)", help: "give a default: \(printable(path.text)) ?? ''")
    }
    return UnlocatedFailure(
      message,
      help: didYouMean(suggestion(for: path.name, among: written)) ?? listed("it wrote", written)
        ?? "a step sets outputs with $OPRUN_OUTPUT; a service, before it is ready")
  }

  package static func unavailable(_ root: ContextRoot) -> UnlocatedFailure {
    root == .secrets
      ? UnlocatedFailure(
        "'secrets' cannot be used here",
        help: "pass the secret through 'env', and use the variable")
      : UnlocatedFailure("'\(root.name)' cannot be used here")
  }

  static func wholeRoot(_ root: ContextRoot) -> UnlocatedFailure {
    UnlocatedFailure(
      "'\(root.name)' cannot be used on its own",
      help: root == .steps ? "name a step: steps.ID.outputs.NAME" : "name one: \(root.name).NAME")
  }

  static func statusUnavailable(_ function: String) -> UnlocatedFailure {
    UnlocatedFailure("'\(function)()' can be used only in 'if'")
  }
}

// Messages about values.
extension ExpressionMessage {
  static func wrongOperand(_ sign: String, wanted: String, found: String) -> UnlocatedFailure {
    UnlocatedFailure(
      "'\(sign)' takes \(wanted), not \(found)",
      help: wanted == "true or false" ? comparison(of: found) : nil)
  }

  package static func wrongCondition(wanted: String, found: String) -> UnlocatedFailure {
    UnlocatedFailure(
      "the condition must be \(wanted), not \(found)", help: comparison(of: found))
  }

  /// The comparison that makes a condition of a value.
  private static func comparison(of found: String) -> String {
    switch found {
    case "a number": "compare: x != 0"
    case "a string": "compare: x == 'yes'"
    case "a list", "a map": "compare: len(x) > 0"
    default: "compare: x == 'yes', x != 0, len(x) > 0"
    }
  }

  package static func wrongValue(wanted: String, found: String) -> UnlocatedFailure {
    UnlocatedFailure("the value must be \(wanted), not \(found)")
  }

  static func incomparable(_ left: ComparedSide, _ right: ComparedSide) -> UnlocatedFailure {
    let (one, other) = right.isLiteral ? (right, left) : (left, right)
    return UnlocatedFailure(
      "cannot compare \(left.shown) with \(right.shown)",
      help: one.help(against: other) ?? other.help(against: one))
  }

  /// The message about a comparison with ''. `sign` is `==` or `!=`, between the name and `''`.
  static func nullIsNotEmpty(_ name: String, _ sign: String) -> UnlocatedFailure {
    UnlocatedFailure(
      "\(quoted(name)) may be null, which is not ''",
      help: "\(printable(name)) ?? '' \(sign) '' tests for both, "
        + "\(printable(name)) \(sign) null for null only")
  }

  static func mayBeMissing(_ secret: String) -> UnlocatedFailure {
    UnlocatedFailure(
      "\(quoted(secret)) is a secret that is not required, and null if it is missing",
      help: "give a default: \(printable(secret)) ?? ''")
  }

  /// The message about a string that no choice equals. `subject` is the other side of the
  /// comparison, as it is written.
  static func neverChosen(_ text: String, by subject: String?, of choices: [String])
    -> UnlocatedFailure
  {
    let close = Diagnostics.suggestion(for: text, among: choices.prefix(100))
    let all = firstNames(of: choices.map(quoted), most: 8)
    return UnlocatedFailure(
      "\(subject.map(quoted) ?? "the value") is never \(quoted(text))",
      help: didYouMean(close)
        ?? (choices.count == 1 ? "the only value is \(all)" : "the values are \(all)"))
  }

  static let textIn = UnlocatedFailure(
    "'in' takes a list or a map on its right, not a string", help: "contains(text, part)")

  static func foreignItem(_ item: String, in held: String) -> UnlocatedFailure {
    UnlocatedFailure("\(item) is never in a list whose items are \(held)")
  }

  static func argumentCount(_ row: FunctionRow, found: Int) -> UnlocatedFailure {
    let counts = row.argumentCounts
    let wanted =
      switch (counts.lowerBound, counts.upperBound) {
      case (0, 0): "no arguments"
      case (let low, let high) where low == high: "\(low) argument\(low == 1 ? "" : "s")"
      case (let low, 65_535): "at least \(low) argument\(low == 1 ? "" : "s")"
      case (let low, let high): "\(low) or \(high) arguments"
      }
    return UnlocatedFailure(
      "'\(row.name)' takes \(wanted), not \(found)",
      help: found > 0 || counts.lowerBound > 0 ? row.signature : nil)
  }

  static func wrongArgument(
    _ row: FunctionRow, _ parameter: FunctionRow.Parameter, found: String
  ) -> UnlocatedFailure {
    UnlocatedFailure(
      "'\(parameter.name)' of '\(row.name)' must be \(parameter.kinds.words), not \(found)")
  }

  static func wrongIndex(wanted: String, found: String) -> UnlocatedFailure {
    UnlocatedFailure("the index must be \(wanted), not \(found)")
  }

  /// The message about a value without members. `owner` is the value, as it is written.
  static func noMembers(_ found: String, in owner: String) -> UnlocatedFailure {
    let isOutputs = owner.hasPrefix("steps") && owner.hasSuffix("outputs") && found == "a list"
    return UnlocatedFailure(
      "\(quoted(owner)) is \(found), and only a map has members",
      help: isOutputs
        ? "a step with a matrix has outputs for each instance: \(printable(owner))[0].outputs.NAME; or write "
          + "'match: matrix' in 'depends_on'" : nil)
  }

  static func noItems(_ found: String, in owner: String) -> UnlocatedFailure {
    UnlocatedFailure("\(quoted(owner)) is \(found), and only a list or a map has items")
  }

  static func missingItem(_ index: String, count: Int) -> UnlocatedFailure {
    let items = count == 1 ? "1 item" : "\(count) items"
    return UnlocatedFailure(
      "item \(index) does not exist in a list of \(items)", help: "the first item is number 0")
  }

  static func notYetKnown(_ name: String) -> UnlocatedFailure {
    UnlocatedFailure("\(quoted(name)) is not known yet")
  }

  static let emptySeparator = UnlocatedFailure("the separator must not be empty")
  static let tooManyItems = UnlocatedFailure(
    "the result has more than 1,000,000 items, which is the limit")
  static let tooMuchMade = UnlocatedFailure(
    "expressions produce values of more than 64 MiB in all, which is the limit")
  static let tooMuchRead = UnlocatedFailure(
    "expressions search values of more than 512 MiB in all, which is the limit")
  static let tooMuchMatched = UnlocatedFailure(
    "'matches' takes more than 10,000,000 steps in all, which is the limit",
    help: "a step is one character of the text at one position of the pattern")
  static let resultTooLong = UnlocatedFailure(
    "the result is longer than 16 MiB, which is the limit")

  static func unjoinable(_ found: String) -> UnlocatedFailure {
    UnlocatedFailure(
      "'join' takes a list of strings, numbers, true or false, but this list contains \(found)")
  }

  static func badPattern(_ reason: String) -> UnlocatedFailure {
    UnlocatedFailure("the pattern is invalid: \(reason)")
  }

  static func badJSON(_ reason: String, at offset: Int) -> UnlocatedFailure {
    UnlocatedFailure("the string is not JSON: \(reason) at byte \(offset + 1)")
  }
}

// Messages about values in strings.
extension ExpressionMessage {
  static func holdsSecret(_ expression: String, _ name: String) -> UnlocatedFailure {
    UnlocatedFailure(
      "\(quoted(expression)) holds the secret \(quoted(name)), and anyone can see a command line",
      help: "pass it through 'env' and write \"$NAME\" in a script")
  }

  /// The message about a list that cannot become part of a list of strings.
  static func noListItem(_ found: String) -> UnlocatedFailure {
    UnlocatedFailure(
      "the items of a list that becomes part of another must be strings or numbers, not \(found)",
      help: found == "a map" || found == "a list" ? "toJSON(x) turns a value into a string" : nil)
  }

  package static let noCommand = UnlocatedFailure(
    "a command needs a program, but no word is left", help: "write the program as a word of its own"
  )

  static func noText(_ found: String, _ expression: Expression) -> UnlocatedFailure {
    if found == "null" { return ScriptMessage.null(expression) { _ in nil } }
    let written = expression.text(expression.range(of: expression.root))
    return UnlocatedFailure(
      "\(quoted(written)) is \(found), which cannot be inserted into text",
      help: found == "a map"
        ? "toJSON(x) turns it into a string" : "join(x, ' ') or toJSON(x) turns it into a string")
  }
}

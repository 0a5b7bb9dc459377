// Expressions by their grammar, so that most of them reach the checker and many the evaluator.

struct ExpressionGenerator {
  var random: FuzzRandom

  static let words = [
    "&&", "||", "!", "??", "?", ":", "==", "!=", "<", "<=", " in ", "(", ")", "[", "]", ",", ".",
    "'", "''", "\"", "\\", "\\u0041", "${{", "}}", "$${{", "null", "true", "params.version",
    "steps.build.outputs.version", "env.HOME", "success()", "len(", "1e309", "-1", "0.5", "\0",
    "\u{FEFF}", "é", "\u{1F600}", "\n", "9007199254740993", "fromJSON('[1]')",
  ]

  private static let names = [
    "params.version", "params.count", "params.fast", "params.tag", "params.targets", "matrix.os",
    "matrix.swift", "env.HOME", "env.NOT_SET", "steps.build.outputs.version", "steps.build.outcome",
    "steps.my-step.outputs.x-y", "steps.test.outputs", "steps.later.outcome", "run.id", "host.cpus",
    "secrets.TOKEN", "params", "unknown", "params.verson",
  ]
  private static let functions = [
    "contains", "startsWith", "endsWith", "matches", "join", "split", "lower", "upper", "trim",
    "len",
    "basename", "dirname", "toJSON", "fromJSON", "quote", "hashFiles", "exists", "success",
    "failure", "cancelled", "always", "unknown",
  ]
  private static let signs = ["==", "!=", "<", "<=", ">", ">=", "in", "&&", "||", "??"]

  mutating func expression(depth: Int = 0) -> String {
    if depth > 5 { return atom() }
    switch random.below(9) {
    case 0, 1, 2:
      return expression(depth: depth + 1) + " " + random.pick(Self.signs) + " "
        + expression(depth: depth + 1)
    case 3: return "!" + expression(depth: depth + 1)
    case 4: return "(" + expression(depth: depth + 1) + ")"
    case 5: return call(depth)
    case 6:
      return expression(depth: depth + 1) + " ? " + expression(depth: depth + 1) + " : "
        + expression(depth: depth + 1)
    case 7: return "[" + items(depth).joined(separator: ", ") + "]"
    default: return path(depth)
    }
  }

  private mutating func items(_ depth: Int) -> [String] {
    (0..<random.below(4)).map { _ in expression(depth: depth + 2) }
  }

  private mutating func call(_ depth: Int) -> String {
    random.pick(Self.functions) + "(" + items(depth).joined(separator: ",") + ")"
  }

  private mutating func path(_ depth: Int) -> String {
    switch random.below(4) {
    case 0: atom() + "[" + expression(depth: depth + 2) + "]"
    case 1: atom() + "." + random.pick(["version", "a", "x-y", "outputs", "outcome"])
    default: atom()
    }
  }

  private mutating func atom() -> String {
    switch random.below(8) {
    case 0: random.pick(["true", "false", "null"])
    case 1: random.pick(["0", "1", "-3", "2.5", "1e3", "6.3"])
    case 2: random.pick(["'a'", "'it''s'", "''", "'linux'", "'1.2'", "\"\\n\\u00e9\"", "'🙂'"])
    case 3: random.pick(["fromJSON('{\"a\": [1, null]}')", "fromJSON('[]')", "fromJSON('x')"])
    default: random.pick(Self.names)
    }
  }

  /// A script or another text with expressions in it.
  mutating func text() -> String {
    let pieces = [
      "echo ", "\"", "'", "`", "$(", ")", "$((", "))", "${x:-", "}", "<<EOF\n", "\nEOF\n", "\n",
      "; ",
      " | ", "case x in ", " esac", "#", "\\", "$x", "[[ ", " ]]", " -eq ", "<<-'A' ", "\tA\n",
      "{ ",
      "f() ", "if ", "then ", "a=", "a=(", "$'", "<(", "&", ">", "let ", "eval ", "bash -c ", " ",
    ]
    return (0..<random.below(12)).map { _ in
      random.oneIn(2) ? random.pick(pieces) : "${{ \(expression(depth: 3)) }}"
    }.joined()
  }
}

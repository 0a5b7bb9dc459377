// The messages about values that are refused in a script or an argument, with the lines to write
// instead.

import Diagnostics

enum ScriptMessage {
  package static let nul = UnlocatedFailure(
    "a script or an argument cannot contain the character '\\u{0}'")

  package static func empty(_ value: InsertedValue, _ reader: ScriptReader) -> UnlocatedFailure {
    UnlocatedFailure(
      "the value is empty, which would leave a gap in the script", help: help(value, reader))
  }

  /// The message about a value that is not data. `found` is the first character that is not allowed.
  package static func unsafe(
    _ value: InsertedValue, found: Character, _ reader: ScriptReader
  ) -> UnlocatedFailure {
    let reason =
      value.isQuoted ? "quote() does not change that" : "it contains \(quoted(String(found)))"
    return UnlocatedFailure(
      "the value \(quoted(value.text)) cannot be inserted in a script: \(reason)",
      help: help(value, reader))
  }

  package static func option(_ value: InsertedValue, _ reader: ScriptReader) -> UnlocatedFailure {
    UnlocatedFailure(
      "the value \(quoted(value.text)) cannot begin a word of a script: it would be read as an option",
      help: help(value, reader))
  }

  package static func assignment(_ value: InsertedValue, _ reader: ScriptReader) -> UnlocatedFailure
  {
    UnlocatedFailure(
      "the value \(quoted(value.text)) cannot be inserted here: its '=' could set a variable",
      help: help(value, reader))
  }

  static func endOfDocument(
    _ value: InsertedValue, _ reader: ScriptReader
  ) -> UnlocatedFailure {
    UnlocatedFailure(
      "the value \(quoted(value.text)) cannot be inserted on this line of a script: it would end the "
        + "here-document",
      help: help(value, reader))
  }

  static func endOfCase(_ value: InsertedValue, _ reader: ScriptReader) -> UnlocatedFailure {
    UnlocatedFailure(
      "the value \(quoted(value.text)) cannot be inserted here: the word 'esac' could end a 'case'",
      help: help(value, reader))
  }

  static func wordsInBraces(_ value: InsertedValue, _ reader: ScriptReader) -> UnlocatedFailure {
    UnlocatedFailure(
      "the value \(quoted(value.text)) cannot be inserted between braces: its ',' could begin a word that "
        + "is an option or sets a variable",
      help: help(value, reader))
  }

  static func qualifier(_ value: InsertedValue, _ reader: ScriptReader) -> UnlocatedFailure {
    UnlocatedFailure(
      "the value \(quoted(value.text)) cannot be inserted between these parentheses: zsh could run it as "
        + "part of a pattern",
      help: help(value, reader))
  }

  static func notWholeString(_ value: InsertedValue, _ reader: ScriptReader) -> UnlocatedFailure {
    UnlocatedFailure(
      "the value \(quoted(value.text)) cannot be inserted in a string of code that is more than one word",
      help: help(value, reader))
  }

  static func outsideQuotes(
    _ value: InsertedValue, _ reader: ScriptReader
  ) -> UnlocatedFailure {
    UnlocatedFailure(
      "the value \(quoted(value.text)) cannot be inserted in code outside of quotes: only a number can",
      help: help(value, reader))
  }

  static func optionArgument(_ value: InsertedValue) -> UnlocatedFailure {
    UnlocatedFailure(
      "the value \(quoted(value.text)) cannot begin an argument: it would be read as an option",
      help: "add the element `--` before it, if that ends the program's options")
  }

  /// The message about null in text. `closest` finds the variable that was probably meant by one
  /// that is not set.
  static func null(
    _ expression: Expression, closest: (String) -> String?
  ) -> UnlocatedFailure {
    let value = InsertedValue(text: "", expression: expression)
    let help = helpForNull(value)
    return expression.unset(help: help, closest: closest)
      ?? UnlocatedFailure(
        "\(quoted(value.source)) is null, which cannot be inserted into text", help: help)
  }

  /// The text to write instead of a value that may be null. A default that is empty has no place in a script.
  private static func helpForNull(_ value: InsertedValue) -> String {
    guard value.isPath else { return "give a default: x ?? ''" }
    let variable = value.variable
    let written = "\(value.source) ?? ''"
    let setting =
      variable.isThere
      ? "" : "add `\(variable.name): \"${{ \(written) }}\"` to the step's `env`, and "
    return
      "give a default: \(written); in a script, \(setting)write `\"$\(variable.name)\"` in its place"
  }

  // MARK: Help

  private static func help(_ value: InsertedValue, _ reader: ScriptReader) -> String {
    let program = reader.program
    let interpreter = Interpreter.named(program)
    if reader.form == .element, case .all? = interpreter?.operands {
      return "everything after \(quoted(program)) is read as code: pass the value in a file"
    }
    let surroundings = ShellSurroundings(after: value.textBefore)
    if reader.form == .element, interpreter?.isBourneLike == true {
      let list = "[\(printable(program)), -c, 'echo \"$1\"', --, \(value.scalar)]"
      let reference = surroundings.reference(to: "1")
      return "write `\(reference)` in its place, and the value as an argument: `\(list)`"
    }
    let variable = value.variable
    let reference = reference(to: variable.name, in: reader, surroundings)
    let reading =
      reference.map { "write `\($0)` in its place" }
      ?? "read the variable `\(variable.name)` in its place"
    if variable.isThere { return reading }
    return "add `\(variable.name): \(value.scalar)` to the step's `env`, and \(reading)"
  }

  /// The reference to an environment variable in a language; nil if the language is not known.
  private static func reference(
    to name: String, in reader: ScriptReader, _ surroundings: ShellSurroundings
  ) -> String? {
    let program = reader.program
    if Interpreter.named(program)?.isBourneLike == true {
      // After a wrapper, another program may read the code.
      return reader.isShell ? surroundings.reference(to: name) : nil
    }
    // Within a string of the language, a reference would be a part of that string.
    guard case .nothing = surroundings else { return nil }
    return switch String(program.prefix { !"0123456789".contains($0) }) {
    case "python", "pypy": "os.environ[\"\(name)\"]"
    case "perl": "$ENV{\(name)}"
    case "ruby": "ENV[\"\(name)\"]"
    case "node", "nodejs", "bun", "deno": "process.env.\(name)"
    case "php": "getenv(\"\(name)\")"
    case "lua", "luajit": "os.getenv(\"\(name)\")"
    case "awk", "gawk", "mawk", "nawk": "ENVIRON[\"\(name)\"]"
    case "pwsh", "powershell": "$env:\(name)"
    case "nu": "$env.\(name)"
    default: nil
    }
  }
}

extension Expression {
  /// The message about a variable or a parameter that has no value; nil if the expression is neither.
  package func unset(help: String, closest: (String) -> String?) -> UnlocatedFailure? {
    switch InsertedValue(text: "", expression: self).owner {
    case ("env", let name)?:
      UnlocatedFailure(
        "variable \(quoted(name)) is not set", help: didYouMean(closest(name)) ?? help)
    case ("params", let name)?:
      UnlocatedFailure("parameter \(quoted(name)) has no value", help: help)
    default: nil
    }
  }
}

extension ScriptReader {
  /// The name of the program that reads the code.
  fileprivate var program: String {
    let word = words.first { Interpreter.named($0) != nil } ?? words.first ?? ""
    return word.split(separator: "/").last.map(String.init) ?? word
  }
}

extension InsertedValue {
  /// The text before the expression, including `${{`.
  fileprivate var textBefore: ArraySlice<UInt8> {
    expression.content[expression.content.startIndex..<expression.base]
  }

  /// The expression as it is written, as a template in a YAML scalar.
  fileprivate var scalar: String {
    let written = "${{ \(source) }}"
    return written.utf8.contains { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }
      ? "'\(written.replacingText("'", with: "''"))'" : "\"\(written)\""
  }

  /// The expression on one line, as folding left it; without `quote()` around it.
  fileprivate var source: String {
    let written = self.written
    return isQuoted ? String(written.dropFirst(Self.quoteCall.count).dropLast()) : written
  }

  private var written: String {
    expression.text(expression.range(of: expression.root))
      .split { $0.isWhitespace }.joined(separator: " ")
  }

  fileprivate var isQuoted: Bool {
    written.hasPrefix(Self.quoteCall) && written.hasSuffix(")")
  }

  private static let quoteCall = "quote("

  /// A variable for the value; `isThere` if every command has it.
  fileprivate var variable: (name: String, isThere: Bool) {
    let names = path
    guard let last = names.last else { return ("VALUE", false) }
    switch owner?.root {
    case "params": return ("OPRUN_PARAM_" + Self.variableName(last), true)
    case "env": return (last, true)
    default: break
    }
    let name = Self.variableName(last)
    let isTaken = Self.meaningful.contains(name) || name.hasPrefix("OPRUN")
    return (isTaken ? Self.variableName(names[0]) + "_" + name : name, false)
  }

  fileprivate var isPath: Bool { !path.isEmpty }

  /// The names in `env.X`; nil if the expression is not a context and one of its members.
  fileprivate var owner: (root: String, member: String)? {
    let names = path
    return names.count == 2 ? (names[0], names[1]) : nil
  }

  /// The names in `steps.build.outputs.tag`; empty if the expression is not such a path.
  private var path: [String] {
    let names = source.split(separator: ".", omittingEmptySubsequences: false)
    let arePlain = names.allSatisfy { name in
      name.utf8.first.map(isNameStart) ?? false
        && name.utf8.allSatisfy { isNameByte($0) || $0 == UInt8(ascii: "-") }
    }
    return arePlain && names.count > 1 ? names.map(String.init) : []
  }

  private static func variableName(_ name: String) -> String {
    name.uppercased().replacingText("-", with: "_")
  }

  /// The names with a meaning to shells or to programs of all kinds.
  private static let meaningful: Set<String> = [
    "PATH", "HOME", "USER", "SHELL", "LANG", "LANGUAGE", "TERM", "PWD", "OLDPWD", "IFS", "ENV",
    "TMPDIR", "UID", "EUID", "PS1", "PS4", "SHLVL", "HOSTNAME", "LOGNAME", "MAIL", "EDITOR",
    "PAGER", "DISPLAY", "TZ", "SECONDS", "RANDOM", "LINENO", "OPTIND", "OPTARG", "REPLY", "CC",
    "CXX", "CFLAGS", "CXXFLAGS", "LDFLAGS", "MAKEFLAGS", "CDPATH", "GROUPS", "COLUMNS", "LINES",
  ]
}

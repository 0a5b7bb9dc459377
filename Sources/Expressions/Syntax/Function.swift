// The functions of expressions: one row each, which drives parsing, checking, evaluation,
// suggestions and docs/expressions.md.

package enum Function: UInt8, CaseIterable, Sendable {
  case contains, startsWith, endsWith, matches
  case join, split, lower, upper, trim, len
  case basename, dirname
  case toJSON, fromJSON
  case quote
  case hashFiles, exists
  case success, failure, cancelled, always
}

/// Everything that is known about one function.
package struct FunctionRow: Sendable {
  package struct Parameter: Sendable {
    package let name: String
    package let kinds: ExpressionType.Kinds
    package var isOptional = false
    /// True if it takes any number of arguments, but at least one.
    package var isRepeated = false
  }

  package let name: String
  package let parameters: [Parameter]
  package let result: ExpressionType
  package let sentence: String
  /// Expressions and their results; the tests evaluate them.
  package let examples: [(String, String)]
  /// True if the result depends on the endings of direct dependencies.
  package var isStatus = false

  /// The row of the function for which it is made; `name` is that of the variable that has it.
  fileprivate init(
    _ parameters: [Parameter], _ result: ExpressionType, _ sentence: String,
    _ examples: [(String, String)], name: String = #function
  ) {
    self.name = name
    self.parameters = parameters
    self.result = result
    self.sentence = sentence
    self.examples = examples
  }

  /// The signature, such as `join(list, separator?)`.
  package var signature: String {
    let list = parameters.map { $0.name + ($0.isRepeated ? "…" : $0.isOptional ? "?" : "") }
    return "\(name)(\(list.joined(separator: ", ")))"
  }

  /// The numbers of arguments that are allowed.
  var argumentCounts: ClosedRange<Int> {
    let required = parameters.filter { !$0.isOptional }.count
    return required...(parameters.last?.isRepeated == true ? 65_535 : parameters.count)
  }

  /// The parameter for the argument with this number.
  package func parameter(_ number: Int) -> Parameter {
    parameters[min(number, parameters.count - 1)]
  }
}

extension Function {
  package var row: FunctionRow { Self.rows[Int(rawValue)] }

  private static let rows = allCases.map(\.newRow)
  private static let names = rows.map(\.name)

  package static func named(_ name: ArraySlice<UInt8>) -> Function? {
    for (number, known) in names.enumerated()
    where known.utf8.count == name.count && known.utf8.elementsEqual(name) {
      return Function(rawValue: UInt8(truncatingIfNeeded: number))
    }
    return nil
  }

  private var newRow: FunctionRow {
    switch self {
    case .contains: Rows.contains
    case .startsWith: Rows.startsWith
    case .endsWith: Rows.endsWith
    case .matches: Rows.matches
    case .lower: Rows.lower
    case .upper: Rows.upper
    case .trim: Rows.trim
    case .basename: Rows.basename
    case .dirname: Rows.dirname
    case .join: Rows.join
    case .split: Rows.split
    case .len: Rows.len
    case .toJSON: Rows.toJSON
    case .fromJSON: Rows.fromJSON
    case .quote: Rows.quote
    case .hashFiles: Rows.hashFiles
    case .exists: Rows.exists
    case .success: Rows.success
    case .failure: Rows.failure
    case .cancelled: Rows.cancelled
    case .always: Rows.always
    }
  }

  /// The rows; each has the name of its function.
  private enum Rows {
    static func parameter(
      _ name: String, _ kinds: ExpressionType.Kinds, isOptional: Bool = false
    ) -> FunctionRow.Parameter {
      FunctionRow.Parameter(name: name, kinds: kinds, isOptional: isOptional)
    }

    static func status(
      _ sentence: String, example: String, name: String = #function
    ) -> FunctionRow {
      var row = FunctionRow([], .bool, sentence, [("\(name)()", example)], name: name)
      row.isStatus = true
      return row
    }

    static var contains: FunctionRow {
      FunctionRow(
        [Self.parameter("text or list", [.string, .list]), Self.parameter("part", .all)], .bool,
        "Whether a string contains another, or a list contains a value.",
        [
          ("contains('release/1.2', '/')", "true"), ("contains(['a', 'b'], 'c')", "false"),
        ])
    }
    static var startsWith: FunctionRow {
      FunctionRow(
        [Self.parameter("text", .string), Self.parameter("start", .string)], .bool,
        "Whether a string begins with another. Upper and lower case differ.",
        [("startsWith('v1.2', 'v')", "true"), ("startsWith('V1.2', 'v')", "false")])
    }
    static var endsWith: FunctionRow {
      FunctionRow(
        [Self.parameter("text", .string), Self.parameter("end", .string)], .bool,
        "Whether a string ends with another.", [("endsWith('a.tar.gz', '.gz')", "true")])
    }
    static var matches: FunctionRow {
      FunctionRow(
        [Self.parameter("text", .string), Self.parameter("pattern", .string)], .bool,
        "Whether a [pattern](#patterns) is found in a string.",
        [
          (#"matches('v1.20', '^v\d+\.\d+$')"#, "true"),
          ("matches('release', '^v')", "false"),
        ])
    }
    static var lower: FunctionRow {
      FunctionRow(
        [Self.parameter("text", .string)], .string, "The string in lower case.",
        [("lower('Linux ÄÖ')", "'linux äö'")])
    }
    static var upper: FunctionRow {
      FunctionRow(
        [Self.parameter("text", .string)], .string, "The string in upper case.",
        [("upper('linux')", "'LINUX'")])
    }
    static var trim: FunctionRow {
      FunctionRow(
        [Self.parameter("text", .string)], .string,
        "The string without spaces, tabs and line breaks at either end.",
        [("trim('  a b ')", "'a b'"), (#"trim("1.2\n")"#, "'1.2'")])
    }
    static var basename: FunctionRow {
      FunctionRow(
        [Self.parameter("path", .string)], .string,
        "The part of a path after the last '/', like the command of that name.",
        [("basename('src/main.c')", "'main.c'"), ("basename('src/')", "'src'")])
    }
    static var dirname: FunctionRow {
      FunctionRow(
        [Self.parameter("path", .string)], .string,
        "The part of a path before the last '/', like the command of that name.",
        [("dirname('src/main.c')", "'src'"), ("dirname('main.c')", "'.'")])
    }
    static var join: FunctionRow {
      FunctionRow(
        [Self.parameter("list", .list), Self.parameter("separator", .string, isOptional: true)],
        .string,
        "The items of a list as one string, separated by ',' if no separator is given.",
        [("join(['a', 'b'])", "'a,b'"), ("join([1, 2, 3], ' ')", "'1 2 3'")])
    }
    static var split: FunctionRow {
      FunctionRow(
        [Self.parameter("text", .string), Self.parameter("separator", .string)],
        .list(of: .string),
        "The parts of a string between separators. Without a separator in it, a list of that string.",
        [("split('a,b,', ',')", "['a', 'b', '']"), ("split('a', ',')", "['a']")])
    }
    static var len: FunctionRow {
      FunctionRow(
        [Self.parameter("value", [.string, .list, .map])], .number,
        "The number of characters (Unicode scalars) of a string, items of a list, or names of a map.",
        [("len('äbc')", "3"), ("len([])", "0"), (#"len(fromJSON('{"a": 1}'))"#, "1")])
    }
    static var toJSON: FunctionRow {
      FunctionRow(
        [Self.parameter("value", .all)], .string, "The value as JSON on one line.",
        [("toJSON(['a', 1, null])", #"'["a",1,null]'"#)])
    }
    static var fromJSON: FunctionRow {
      FunctionRow(
        [Self.parameter("text", .string)], .any, "The value that a string of JSON represents.",
        [("fromJSON('[1, 2]')[1]", "2"), (#"fromJSON('{"os": "linux"}').os"#, "'linux'")])
    }
    static var quote: FunctionRow {
      FunctionRow(
        [Self.parameter("value", .text)], .string,
        "The string as one word for a shell, in single quotes: for files and messages. In a script the "
          + "result is treated like any other value.",
        [("quote('a b')", "'''a b'''"), (#"quote("it's")"#, #"'''it''\''''s'''"#)])
    }
    static var hashFiles: FunctionRow {
      FunctionRow(
        [.init(name: "pattern", kinds: .string, isRepeated: true)], .string,
        "The SHA-256 of all files that match, by name and content; '' if there are none.",
        [
          (
            "hashFiles('src/**')",
            "'e2d0fe1585a63ec6009c8016ff8dda8b17719a637405a4e23c0ff81339148249'"
          )
        ])
    }
    static var exists: FunctionRow {
      FunctionRow(
        [Self.parameter("path", .string)], .bool,
        "Whether a file or directory with this path exists.",
        [("exists('README.md')", "true")])
    }
    static var success: FunctionRow {
      status(
        "Whether every direct dependency is ok: succeeded, cached, skipped, or failed but allowed.",
        example: "false")
    }
    static var failure: FunctionRow {
      status(
        "Whether a direct dependency failed or timed out, without being allowed to, or was blocked.",
        example: "true")
    }
    static var cancelled: FunctionRow {
      status("Whether a direct dependency was cancelled.", example: "false")
    }
    static var always: FunctionRow {
      status("True, whatever happened to the dependencies.", example: "true")
    }
  }
}

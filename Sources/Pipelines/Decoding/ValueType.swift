// What a value in a pipeline file must be, in one word each. Decoding and the JSON schema say it
// exactly, messages in a few words. It knows neither nodes nor JSON.

import Diagnostics
import Plans

/// What a value must be. A text is any scalar that is not nothing, as it is written.
package indirect enum ValueType: Hashable, Sendable {
  /// Known before anything runs: no expressions.
  case text
  /// The same, and not "".
  case filledText
  /// Expressions may stand in it.
  case template
  /// The same, and not "".
  case filledTemplate
  case identifier
  case stepID
  /// The id of a step, or of one instance: `test[os=linux]`.
  case dependency
  case boolean
  case integer(ClosedRange<Int>)
  /// Not negative, with at most six decimals.
  case amount
  /// From 1 to 1000, with at most three decimals.
  case factor
  /// Longer than nothing.
  case duration
  /// Nothing at all is allowed too.
  case durationOrZero
  case size
  case choice([String])
  /// One whole text, with what it looks like; the expression is one of ECMA 262.
  case pattern(String, matching: String)
  /// A script, or the words of a command.
  case command
  /// One word, or the words of a command.
  case shell
  /// One command or several, in the forms that `hookRow` tells.
  case hook
  /// A whole expression, bare or in `${{ }}`.
  case condition
  /// Text with an expression in `${{ }}`.
  case expression
  /// A built-in step, or the path of a pipeline file.
  case uses
  case builtIn
  /// Any value but a map and nothing, without expressions.
  case constant
  case constantList
  case wholeNumber
  case number
  /// Axes, `include` and `exclude`.
  case matrix
  /// Names with types; of a group, with values.
  case stepOutputs
  case list(ValueType)
  /// At least one.
  case filledList(ValueType)
  /// Names of the user's own, one type of value.
  case map(ValueType, names: NameRule = .any)
  /// A map with the keys of a table.
  case object(ObjectKind)
  case either([ValueType])
  case anything

  /// What the names in a map must be.
  package enum NameRule: Hashable, Sendable {
    case any
    case identifier
    case queue
    case variable
  }

  /// One map of names to values, or several that are merged in their order.
  package static let variables = ValueType.either([
    variableMap, .list(variableMap),
  ])
  static let variableMap = ValueType.map(.template, names: .variable)

  /// `outputs` of a step that runs a command.
  static let outputTypes = ValueType.map(
    .choice(OutputType.allCases.map(\.rawValue)), names: .identifier)

  /// In a sentence: "must be …".
  package var words: String {
    switch self {
    case .text, .filledText, .template, .filledTemplate: ParamModel.Kind.string.words
    case .condition, .uses, .builtIn: "a string"
    case .expression: "an expression in ${{ }}"
    case .constant: "a plain value"
    case .constantList: ParamModel.Kind.list.words
    case .wholeNumber: ParamModel.Kind.int.words
    case .number: ParamModel.Kind.number.words
    case .matrix: "a map of names to lists"
    case .stepOutputs: Self.outputTypes.words
    case .identifier, .stepID, .dependency: "an id"
    case .boolean: ParamModel.Kind.bool.words
    case .integer(let range): Self.words(for: range)
    case .amount, .factor: "a number"
    case .duration, .durationOrZero: "a duration such as 30s"
    case .size: "a size such as 2M"
    case .choice(let names):
      names.count == 1 ? "'\(names[0])'" : "one of " + names.joined(separator: ", ")
    case .pattern(let example, _): example
    case .command, .shell: "a string or a list of strings"
    case .hook: "a string, a list of strings or a map with 'run'"
    case .list(let item), .filledList(let item): "a list of \(item.plural)"
    case .map(let value, _): "a map of names to \(value.plural)"
    case .object(let kind): kind.words
    case .either(let types): inWords(types.map(\.words))
    case .anything: "anything"
    }
  }

  private var plural: String {
    switch self {
    case .identifier, .stepID, .dependency: "ids"
    case .text, .filledText, .template, .filledTemplate: "strings"
    case .constant: "plain values"
    case .amount, .factor, .integer: "numbers"
    case .object, .map: "maps"
    case .either(let types): inWords(types.map(\.plural))
    case .condition, .uses, .builtIn, .expression,
      .constantList, .wholeNumber, .number, .matrix, .stepOutputs, .boolean, .duration,
      .durationOrZero, .size,
      .choice,
      .pattern, .command, .shell, .hook, .list, .filledList, .anything:
      words
    }
  }

  private static func words(for range: ClosedRange<Int>) -> String {
    switch (range.lowerBound, range.upperBound) {
    case (1, 1): "1"
    case (let low, 1_000_000...): "a whole number of at least \(low)"
    case (let low, let high): "a whole number from \(low) to \(high)"
    }
  }
}

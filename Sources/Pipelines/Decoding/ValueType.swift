// The types of values in a pipeline file, as one case each. Decoding and the JSON schema define
// them exactly, messages describe them in a few words. They know neither nodes nor JSON.

import Diagnostics
import Plans

/// The type of a value. A text is any scalar that has a value, as it is written.
package indirect enum ValueType: Hashable, Sendable {
  /// A string that is known before anything runs: no expressions.
  case text
  /// A string that is known before anything runs, except "".
  case filledText
  /// A string that may contain expressions.
  case template
  /// A string that may contain expressions, except "".
  case filledTemplate
  case identifier
  case stepID
  /// The id of a step, or of one instance: `test[os=linux]`.
  case dependency
  case boolean
  case integer(ClosedRange<Int>)
  /// A number that is not negative, with at most six decimal places.
  case amount
  /// An amount, a size (which counts GiB) or a duration (which counts hours).
  case quantity
  /// A number from 1 to 1000, with at most three decimal places.
  case factor
  /// A duration longer than zero.
  case duration
  /// A duration, which may be zero.
  case durationOrZero
  case size
  case choice([String])
  /// A string that must match a pattern as a whole, with a description; the pattern is a regular
  /// expression of ECMA 262.
  case pattern(String, matching: String)
  /// A script, or the words of a command.
  case command
  /// One word, or the words of a command.
  case shell
  /// One command or several, in the forms that `hookRow` describes.
  case hook
  /// A whole expression, with or without `${{ }}`.
  case condition
  /// A string with an expression in `${{ }}`.
  case expression
  /// A built-in step, or the path of a pipeline file.
  case uses
  case builtIn
  /// Any value except a map and null, without expressions.
  case constant
  case constantList
  case wholeNumber
  case number
  /// Axes, `include` and `exclude`.
  case matrix
  /// Names with types; for a group, names with values.
  case stepOutputs
  case list(ValueType)
  /// A list of at least one item.
  case filledList(ValueType)
  /// A map with names that the user chooses, and one type of value.
  case map(ValueType, names: NameRule = .any)
  /// A map with the keys of a table.
  case object(ObjectKind)
  case either([ValueType])
  case anything
  /// A value of the type, or an expression that is known before the run.
  case early(ValueType)

  /// The rule for the names in a map.
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

  /// The type of `outputs` of a step that runs a command.
  static let outputTypes = ValueType.map(
    .choice(OutputType.allCases.map(\.rawValue)), names: .identifier)

  /// The words for "must be …" in a message.
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
    case .amount: "a number"
    case .quantity: "a number, a size such as 2G or a duration such as 30m"
    case .factor: "a number from 1 to 1000"
    case .duration, .durationOrZero: "a duration such as 30s"
    case .size: "a size such as 2M"
    case .choice(let names):
      names.count == 1 ? "'\(names[0])'" : "one of " + names.joined(separator: ", ")
    case .pattern(let example, _): example
    case .command, .shell: "a string or a list of strings"
    case .hook: "a string, a list of strings or a map with 'run'"
    case .list(.anything), .filledList(.anything): "a list"
    case .list(let item), .filledList(let item): "a list of \(item.plural)"
    case .map(let value, _): "a map of names to \(value.plural)"
    case .object(let kind): kind.words
    case .either(let types): inWords(types.map(\.words))
    case .anything: "anything"
    case .early(let type): type.words
    }
  }

  /// The kinds of maps with keys of a table that a value may be, or may contain.
  package var objectKinds: [ObjectKind] {
    switch self {
    case .object(let kind): [kind]
    case .hook: [.hook]
    case .list(let type), .filledList(let type), .map(let type, _), .early(let type):
      type.objectKinds
    case .either(let types): types.flatMap(\.objectKinds)
    case .text, .filledText, .template, .filledTemplate, .identifier, .stepID, .dependency,
      .boolean, .integer, .amount, .quantity, .factor, .duration, .durationOrZero, .size, .choice,
      .pattern, .command, .shell, .condition, .expression, .uses, .builtIn, .constant,
      .constantList, .wholeNumber, .number, .matrix, .stepOutputs, .anything:
      []
    }
  }

  /// The type of the items of a list; nil if the value cannot be a list.
  var itemType: ValueType? {
    switch self {
    case .list(let type), .filledList(let type): type
    case .either(let types): types.lazy.compactMap(\.itemType).first
    case .early(let type): type.itemType
    case .text, .filledText, .template, .filledTemplate, .identifier, .stepID, .dependency,
      .boolean, .integer, .amount, .quantity, .factor, .duration, .durationOrZero, .size, .choice,
      .pattern, .command, .shell, .hook, .condition, .expression, .uses, .builtIn, .constant,
      .constantList, .wholeNumber, .number, .matrix, .stepOutputs, .map, .object, .anything:
      nil
    }
  }

  /// True if the value can be a map.
  var isMap: Bool { !objectKinds.isEmpty || mapValueType != nil }

  /// The type of the values of a map with free names; nil if the value cannot be such a map.
  var mapValueType: ValueType? {
    switch self {
    case .map(let type, _): type
    case .either(let types): types.lazy.compactMap(\.mapValueType).first
    case .early(let type): type.mapValueType
    case .text, .filledText, .template, .filledTemplate, .identifier, .stepID, .dependency,
      .boolean, .integer, .amount, .quantity, .factor, .duration, .durationOrZero, .size, .choice,
      .pattern, .command, .shell, .hook, .condition, .expression, .uses, .builtIn, .constant,
      .constantList, .wholeNumber, .number, .matrix, .stepOutputs, .list, .filledList, .object,
      .anything:
      nil
    }
  }

  private var plural: String {
    switch self {
    case .identifier, .stepID, .dependency: "ids"
    case .text, .filledText, .template, .filledTemplate: "strings"
    case .constant: "plain values"
    case .amount, .factor, .integer: "numbers"
    case .quantity: "numbers, sizes or durations"
    case .object, .map: "maps"
    case .either(let types): inWords(types.map(\.plural))
    case .early(let type): type.plural
    case .pattern(let item, _): "items, each " + item
    case .condition, .uses, .builtIn, .expression,
      .constantList, .wholeNumber, .number, .matrix, .stepOutputs, .boolean, .duration,
      .durationOrZero, .size,
      .choice,
      .command, .shell, .hook, .list, .filledList, .anything:
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

// Determines the values of a pipeline's parameters: from the command line, then the environment,
// then defaults.

import Diagnostics
import Expressions
import Plans

/// The values of parameters, and the faults of the given ones.
struct Parameters {
  /// The values; null for a parameter that is not required and was not given; missing if the value
  /// is not known.
  private(set) var values: [String: Value] = [:]
  /// The faults of the given values, for the command line.
  private(set) var faults = ParameterFaults()
  private let patterns = PatternMatcher()

  init(_ params: [ParamModel], _ options: PlanningOptions) {
    let (arguments, rest) = (options.parameters, options.rest)
    let names = Set(params.map(\.name))
    let suggester = Suggester()
    for argument in arguments where !names.contains(argument.name) && argument.run == nil {
      faults.append(
        ParameterMessage.unknown(
          argument.name, among: params.isEmpty ? nil : params.lazy.map(\.name), suggester))
    }
    let given = Dictionary(arguments.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
    var taker: String?
    if !rest.isEmpty {
      taker = params.first(where: \.takesRest)?.name
      if taker == nil { faults.append(ParameterMessage.noTaker(of: rest[0])) }
    }
    for param in params {
      if param.name == taker {
        take(.list(rest.map { .string($0) }), from: "the arguments after --", for: param)
        continue
      }
      let mayLook = !options.prefersDefaults || param.isRequired && param.defaultValue == nil
      let variable = mayLook ? options.inherited.value(param.variable) : nil
      let given =
        given[param.name].map { ($0.run.map { "run \($0)" } ?? "--param \(param.name)", $0.value) }
        ?? (try? variable?.get()).map { (param.variable, $0) }
      if let (origin, text) = given {
        take(text, from: origin, for: param)
      } else if case .failure(let text)? = variable {
        faults.append(
          ParameterMessage.refused(
            param.name, "must be UTF-8, not '\(text.shown)'", param.variable))
      } else if let value = param.defaultValue {
        values[param.name] = value
      } else if !param.isRequired {
        values[param.name] = .null
      } else if options.demandsAllParameters {
        faults.append(ParameterMessage.missing(param))
      }
    }
  }

  private mutating func take(_ text: String, from origin: String, for param: ParamModel) {
    guard let value = param.value(of: text) else {
      faults.append(
        ParameterMessage.refused(param.name, param.refusal(ofText: text), origin))
      return
    }
    take(value, from: origin, for: param)
  }

  private mutating func take(_ value: Value, from origin: String, for param: ParamModel) {
    if let refusal = param.refusal(of: value, patterns) {
      faults.append(ParameterMessage.refused(param.name, refusal, origin))
    }
    values[param.name] = value
  }
}

/// The faults that are shown, and the number of the others.
package struct ParameterFaults: Hashable, Sendable {
  package private(set) var messages: [String] = []
  /// The number of faults beyond those in `messages`.
  package private(set) var omittedCount = 0

  package static let limit = 20

  package init() {}

  package var isEmpty: Bool { messages.isEmpty }

  /// Adds a fault; the message is made only if it is kept.
  mutating func append(_ message: @autoclosure () -> String) {
    if messages.count < Self.limit { messages.append(message()) } else { omittedCount += 1 }
  }
}

enum ParameterMessage {
  /// The message about an unknown parameter. `known` is nil if the pipeline has none.
  static func unknown(
    _ name: String, among known: (some Sequence<String>)?, _ suggester: Suggester
  ) -> String {
    let help =
      known.map { known in
        didYouMeanClause(suggester.closest(to: name, among: known))
      } ?? ", the pipeline has no parameters"
    return "unknown parameter \(quoted(name))\(help)"
  }

  static func noTaker(of word: String) -> String {
    "no parameter takes \(quoted(word)), which follows '--': one of type 'list' takes such arguments "
      + "with 'rest: true'"
  }

  static func missing(_ param: ParamModel) -> String {
    "parameter \(quoted(param.name)) is required: pass --param \(param.name)=… or set "
      + param.variable
  }

  static func refused(_ name: String, _ refusal: String, _ origin: String) -> String {
    "parameter \(quoted(name)) \(refusal) (from \(printable(origin)))"
  }
}

extension ParamModel.Kind {
  /// The type of a value in the file.
  var valueType: ValueType {
    switch self {
    case .string: .text
    case .int: .wholeNumber
    case .number: .number
    case .bool: .boolean
    case .list: .constantList
    }
  }
}

extension PipelineModel {
  var paramsByName: [String: ParamModel] {
    Dictionary(params.lazy.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }
}

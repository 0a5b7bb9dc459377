// Values of parameters: how they are made from text, and their faults.

import Diagnostics
package import Expressions

extension ParamModel.Kind {
  /// The words for "must be …" in a message.
  package var words: String {
    switch self {
    case .string: "a string"
    case .int: "a whole number"
    case .number: "a number"
    case .bool: "true or false"
    case .list: "a list"
    }
  }

  package func holds(_ value: Value) -> Bool {
    switch (self, value) {
    case (.string, .string), (.number, .number), (.bool, .bool), (.list, .list): true
    case (.int, .number(let number)): number == number.rounded()
    case (.string, _), (.int, _), (.number, _), (.bool, _), (.list, _): false
    }
  }

  package var type: ExpressionType {
    switch self {
    case .string: .string
    case .int, .number: .number
    case .bool: .bool
    case .list: ExpressionType(.list)
    }
  }
}

/// The environment variable that sets a parameter, and in which steps find it.
package func parameterVariable(_ name: String) -> String {
  "OPRUN_PARAM_" + name.uppercased().map { $0 == "-" ? "_" : String($0) }.joined()
}

extension ParamModel {
  package var variable: String { parameterVariable(name) }

  /// The variable for a value; nil for null, which has no variable.
  package func variable(holding value: Value) -> EnvironmentVariable? {
    value == .null ? nil : EnvironmentVariable(name: variable, value: value.text ?? value.json)
  }

  package var type: ExpressionType {
    let type = textChoices.map(ExpressionType.string) ?? kind.type
    return isRequired || defaultValue != nil ? type : type.optional
  }

  private var textChoices: [String]? {
    guard kind == .string, let choices, !choices.isEmpty else { return nil }
    return choices.compactMap(\.text)
  }

  /// A value that was given as text; nil if it is not of the parameter's type. A list is JSON, or
  /// strings separated by commas.
  package func value(of text: String) -> Value? {
    switch kind {
    case .string: return .string(text)
    case .bool: return ["true": .bool(true), "false": .bool(false)][text]
    case .int, .number:
      return number(in: text).flatMap { numberText($0) == text ? .number($0) : nil }
    case .list:
      if text.hasPrefix("[") {
        guard let value = try? JSONReader.value(of: text, keepsNumbers: true), case .list = value
        else { return nil }
        return value
      }
      if text.isEmpty { return .list([]) }
      return .list(
        text.split(separator: ",", omittingEmptySubsequences: false).map {
          .string(String($0))
        })
    }
  }

  /// The number in a text, however it is written.
  private func number(in text: String) -> Double? {
    guard text.utf8.allSatisfy({ isDecimalDigit($0) || "+-.eE".utf8.contains($0) }),
      let number = Double(text), number.isFinite, kind.holds(.number(number))
    else { return nil }
    return kind == .number || number.magnitude <= largestExactInteger ? number : nil
  }

  /// Why a text gives no value of the parameter's type, as the words after its name.
  package func refusal(ofText text: String) -> String {
    if kind == .list, text.hasPrefix("[") {
      do throws(JSONFailure) {
        _ = try JSONReader.value(of: text, keepsNumbers: true)
      } catch  where error.isChangedNumber {
        return "holds a number that would change: \(error.reason)"
      } catch {}
    }
    if kind == .int || kind == .number, let number = number(in: text) {
      return "would become \(quoted(numberText(number))): write it like that, "
        + "or give the parameter the type 'string'"
    }
    return "must be \(kind.words), not \(quoted(text))"
  }

  /// Why a value of the right type is not allowed, as the words after its name: "must be one of 'a', 'b'".
  package func refusal(of value: Value, _ patterns: PatternMatcher) -> String? {
    if let choices, !choices.isEmpty, !choices.contains(value) {
      let names =
        choices.prefix(10).map { $0.text.map(quoted) ?? $0.json }.joined(separator: ", ")
        + (choices.count > 10 ? ", …" : "")
      return "must be one of \(names), not \(value.text.map(quoted) ?? value.json)"
    }
    guard let pattern else { return nil }
    let texts: [Value] = if case .list(let items) = value { items } else { [value] }
    do throws(PatternFailure) {
      for text in texts where try !pattern.matches(text.text ?? text.json, patterns) {
        return
          "must match \(quoted(pattern.pattern)), not \(text.text.map(quoted) ?? text.json)"
      }
      return nil
    } catch {
      return "cannot be compared with \(quoted(pattern.pattern)): \(error.reason)"
    }
  }

  /// The parameter as it is described to people.
  package var described: ParameterDescription {
    ParameterDescription(
      name: name, type: kind.rawValue, defaultValue: defaultValue.map { $0.text ?? $0.json },
      choices: (choices ?? []).map { $0.text ?? $0.json }, isRequired: isRequired,
      description: description, takesRest: takesRest)
  }

  /// Why the default is not allowed.
  package func refusal(_ patterns: PatternMatcher) -> String? {
    defaultValue.flatMap { refusal(of: $0, patterns) }
  }
}

extension ParamModel {
  /// Why a value cannot be given, as the words after the parameter's name.
  package func fault(of value: Value) -> String? {
    if value == .null { return isRequired ? "must be \(kind.words), not null" : nil }
    guard kind.holds(value) else {
      let found = value.text.map(quoted) ?? value.json
      if case .string = value { return "must be \(kind.words), not the string \(found)" }
      return "must be \(kind.words), not \(found)"
    }
    return refusal(of: value, PatternMatcher())
  }
}

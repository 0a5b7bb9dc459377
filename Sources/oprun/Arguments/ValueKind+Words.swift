// The messages about the values of options.

import BuiltinSteps
import Diagnostics

extension ValueKind {
  var wanted: String {
    switch self {
    case .count(let least): "a whole number of at least \(least)"
    case .duration: "a duration such as 250ms, 30s or 1h30m"
    case .assignment: "a name and a value, as in name=value"
    case .choice(let words): inWords(words)
    case .text(_, let wanted): wanted
    }
  }

  /// The help for a value that is refused; `source` is the flag or the variable that it came from.
  func help(for text: String, _ source: String) -> String? {
    switch self {
    case .count(let least):
      least > 0 ? "leave it out for the usual number" : nil
    case .duration: exceededLimit(text) ?? didYouMean(durationMeant(by: text))
    case .assignment:
      source.hasPrefix("--") && UsageFailure.isParameterName(text)
        ? "write '\(source) \(text)=VALUE'" : nil
    case .choice(let words):
      didYouMean(suggestion(for: text, among: words) ?? wordMeant(by: text, among: words))
    case .text: nil
    }
  }
}

/// The word that is meant by another: `always` for `yes`, `off` for `false`.
private func wordMeant(by text: String, among words: [String]) -> String? {
  let answers = [["yes", "true", "on", "1", "always"], ["no", "false", "off", "0", "never"]]
  return answers.first { $0.contains(text.lowercased()) }.flatMap { alike in
    words.first { alike.contains($0) }
  }
}

/// The duration that is meant: `30s` for `30`, `5m` for `5min`.
private func durationMeant(by text: String) -> String? {
  let number = text.prefix { $0.isNumber }
  let unit = text.dropFirst(number.count).lowercased()
  let letters = unit.hasPrefix("ms") || unit.hasPrefix("mil") ? "ms" : String(unit.prefix(1))
  let meant = String(number) + (unit.isEmpty ? "s" : letters)
  return unit.allSatisfy(\.isLetter) && nanoseconds(meant) != nil ? meant : nil
}

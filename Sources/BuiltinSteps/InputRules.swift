// Conditions between the inputs of a step, and inside patterns. The rules are checked when a
// pipeline is planned, as far as values are known, and by the program, which knows all of them.

import Diagnostics

/// A mistake in the inputs of a step. Its message names keys as `with` does.
package struct StepInputFailure: Error, Hashable, Sendable {
  package let message: String
  package var help: String?
  /// The input to change; one of those that are given.
  package let key: String
}

/// A condition that inputs must satisfy.
package struct InputRule: Sendable {
  /// All keys that the rule depends on.
  package let keys: [String]
  private let check: @Sendable (Inputs) throws(StepInputFailure) -> Void

  init(_ keys: String..., check: @escaping @Sendable (Inputs) throws(StepInputFailure) -> Void) {
    self.keys = keys
    self.check = check
  }

  /// The violation of the rule; nil if the inputs satisfy it.
  package func fault(in inputs: Inputs) -> StepInputFailure? {
    do throws(StepInputFailure) {
      try check(inputs)
      return nil
    } catch { return error }
  }
}

extension BuiltinStep {
  /// The maximum number of results that a step makes of one image.
  package static let mostSizes = 64
}

extension Inputs {
  /// The requested sizes: widths and heights are paired; a single one of either goes with all of the others.
  package var boxes: [Box] {
    let (widths, heights) = (integers("width"), integers("height"))
    return (0..<max(widths.count, heights.count)).map { index in
      Box(
        width: widths.count > 1 ? widths[index] : widths.first,
        height: heights.count > 1 ? heights[index] : heights.first)
    }
  }
}

extension InputRule {
  /// The rule for hashes: as many as URLs, and none with a list, which has its own.
  static let hashes = InputRule("url", "urls", "list", "sha256") {
    inputs throws(StepInputFailure) in
    let hashCount = inputs.texts("sha256").count
    if hashCount == 0 { return }
    if inputs.isGiven("list") {
      throw StepInputFailure(
        message: "'sha256' cannot be used with 'list'", help: "write the hashes into the list",
        key: "sha256")
    }
    let urlCount = inputs.texts("url").count + inputs.texts("urls").count
    guard hashCount == urlCount else {
      throw StepInputFailure(
        message: "'sha256' wants a hash for each URL, found \(hashCount) for \(urlCount)",
        key: "sha256")
    }
  }

  /// The rule for headers: RFC 9110, 5.1 and 5.5.
  static let headers = InputRule("headers") { inputs throws(StepInputFailure) in
    for (name, value) in inputs.pairs("headers") {
      guard isToken(name) else {
        throw .badHeader(maskedValue, help: "a name has no spaces and no colon: 'X-Key: value'")
      }
      guard value.unicodeScalars.allSatisfy({ escape($0) == nil }) else {
        throw .badHeader("\(name): \(maskedValue)", help: "a value is a single line")
      }
    }
  }

  private static func isToken(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy { byte in
        (0x21...0x7e).contains(byte) && !"()<>@,;:\\\"/[]?={}".utf8.contains(byte)
      }
  }

  /// The rule for the target of downloads.
  static let downloadTarget = InputRule("to") { inputs throws(StepInputFailure) in
    let text = inputs.text("to") ?? ""
    // A directory is used as it is written.
    if text.hasSuffix("/") { return }
    _ = try PathPattern(text, fields: [.name, .ext, .index])
  }

  /// The rule for the target of images.
  static let target = InputRule("to") { inputs throws(StepInputFailure) in
    _ = try PathPattern.ofResults(inputs.text("to") ?? "")
  }

  /// The rule that each size needs its own path.
  static let sizes = InputRule("width", "height") { inputs throws(StepInputFailure) in
    let (widths, heights) = (inputs.integers("width"), inputs.integers("height"))
    let count = max(widths.count, heights.count)
    let key = widths.count < heights.count ? "height" : "width"
    for list in [widths, heights] where list.count > 1 && list.count != count {
      throw StepInputFailure(
        message: "'width' and 'height' want as many values, or one of either, "
          + "found \(widths.count) and \(heights.count)", key: key)
    }
    guard count <= BuiltinStep.mostSizes else {
      throw StepInputFailure(
        message: "'width' and 'height' want at most \(BuiltinStep.mostSizes) sizes, found \(count)",
        key: key)
    }
    var seen: Set<Box> = []
    for box in inputs.boxes where !seen.insert(box).inserted {
      throw StepInputFailure(message: "a size is given twice: \(box.words)", key: key)
    }
  }

  /// The rule that a `fit` which does not keep proportions needs both sides.
  static let sides = InputRule("fit", "width", "height") { inputs throws(StepInputFailure) in
    let fit = inputs.text("fit") ?? ""
    guard fit != "inside", let missing = ["width", "height"].first(where: { !inputs.isGiven($0) })
    else { return }
    throw StepInputFailure(
      message: "'fit: \(fit)' needs 'width' and 'height'; '\(missing)' is missing", key: "fit")
  }

  /// The rule that several results of one image need different names, whether or not `to` is a directory.
  static let paths = InputRule("to", "width", "height") { inputs throws(StepInputFailure) in
    guard let pattern = try? PathPattern.ofResults(inputs.text("to") ?? ""),
      sizes.fault(in: inputs) == nil
    else { return }
    for side in [PathPattern.Field.width, .height]
    where pattern.uses(side) && !inputs.isGiven(side.rawValue) {
      throw .fieldWithoutValue(side)
    }
    var seen: [String: Box] = [:]
    for box in inputs.boxes {
      let path = pattern.path(PathPattern.Values(name: "name", ext: "ext", box: box, index: 1))
      guard let other = seen.updateValue(box, forKey: path) else { continue }
      throw StepInputFailure(
        message: "'to' gives the same path to the sizes \(other.words) and \(box.words)",
        help: "put '{width}' or '{height}' in it", key: "to")
    }
  }
}

extension PathPattern {
  /// The pattern for results: a directory with a slash at its end gets files named like the images.
  package static func ofResults(_ text: String) throws(StepInputFailure) -> PathPattern {
    try PathPattern(text.hasSuffix("/") ? text + namesInFolder : text)
  }

  package static let namesInFolder = "{name}.{ext}"
}

extension StepInputFailure {
  static func badField(
    in pattern: String, at rest: Substring, wanted fields: [PathPattern.Field]
  ) -> StepInputFailure {
    let known = fields.map(\.rawValue)
    guard let end = rest.firstIndex(of: "}") else {
      return StepInputFailure(
        message: "'to' has a '{' without a '}': \(quoted(pattern))", help: "'{{' is a brace",
        key: "to")
    }
    let name = String(rest[..<end])
    return StepInputFailure(
      message: "'to' has an unknown field \(quoted("{\(name)}")), "
        + "wanted one of \(known.map { "{\($0)}" }.joined(separator: ", "))",
      help: didYouMean(suggestion(for: name, among: known).map { "{\($0)}" }), key: "to")
  }

  static func badHeader(_ found: String, help: String) -> StepInputFailure {
    StepInputFailure(
      message: "'headers' wants 'Name: value', found \(quoted(found))", help: help, key: "headers")
  }

  static func strayBrace(in pattern: String) -> StepInputFailure {
    StepInputFailure(
      message: "'to' has a '}' without a '{': \(quoted(pattern))", help: "'}}' is a brace",
      key: "to")
  }

  static func noFileName(in pattern: String) -> StepInputFailure {
    StepInputFailure(
      message: "'to' wants a path that ends in a file's name, found \(quoted(pattern))",
      help: "for example \(quoted(pattern + PathPattern.namesInFolder))", key: "to")
  }

  static func fieldWithoutValue(_ field: PathPattern.Field) -> StepInputFailure {
    StepInputFailure(
      message: "'to' has '{\(field.rawValue)}', but no '\(field.rawValue)' is given", key: "to")
  }
}

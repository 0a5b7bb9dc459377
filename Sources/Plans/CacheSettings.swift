// The cache declaration of a step: the files and values on which its result depends, and what that
// result is. A plan does not know who looks results up, or where they are kept.

package import Diagnostics
package import Expressions

/// The cache declaration of a step with all expressions evaluated.
package struct CacheSettings: Hashable, Sendable {
  /// Patterns of the files that the command reads, relative to its working directory or absolute. A
  /// pattern that begins with `!` excludes files.
  package var inputs: [String] = []
  /// Patterns of the files that the command makes, relative to its working directory.
  package var outputs: [String] = []
  /// Patterns of the files that the command may use freely, and nothing else relies on.
  package var scratch: [String] = []
  /// The inherited variables that the command gets, and depends on.
  package var environment: [String] = []
  /// Commands whose output the result depends on: `cc --version`.
  package var tools: [String] = []
  /// True if the command can reach nothing else in the workspace.
  package var isEnforced = true

  package init() {}
}

/// The address of the shared cache, as the file specifies it.
package struct SharedCacheAddress: Hashable, Sendable {
  /// The URL or path; nil for no shared cache.
  package var url: String?
  /// The name of the secret that gives access.
  package var secret: String?

  package init() {}

  /// True if the text looks like the URL of a server; not all of it is examined.
  package static func isURL(_ text: String) -> Bool {
    guard let scheme = ["http://", "https://"].first(where: { text.hasPrefix($0) }) else {
      return false
    }
    return text.utf8.count > scheme.utf8.count
      && text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
  }
}

/// The cache declaration of a step with expressions in the patterns.
package struct CacheModel: Hashable, Sendable {
  package var inputs: [Text] = []
  package var outputs: [Text] = []
  package var scratch: [Text] = []
  /// The locations of the patterns in the file: of inputs, then of outputs, then of scratch. Empty
  /// once the patterns are replaced.
  package var spans: [Span] = []
  /// The other settings; their patterns are empty.
  package var rest = CacheSettings()

  package init() {}

  package var templates: [Template] { (inputs + outputs + scratch).compactMap(\.template) }

  /// True if there are expressions, without making a list of them.
  package var hasTemplates: Bool {
    let isTemplate = { (text: Text) in text.template != nil }
    return inputs.contains(where: isTemplate) || outputs.contains(where: isTemplate)
      || scratch.contains(where: isTemplate)
  }

  /// The model with every pattern replaced by those that it stands for.
  package func mapped(
    _ body: (Text) throws(EvaluationFailure) -> [Text]
  ) throws(EvaluationFailure) -> CacheModel {
    var result = CacheModel()
    result.rest = rest
    for text in inputs { result.inputs += try checked(text, body(text), .inputs) }
    for text in outputs { result.outputs += try checked(text, body(text), .outputs) }
    for text in scratch { result.scratch += try checked(text, body(text), .scratch) }
    return result
  }

  /// The settings, with expressions as they are written.
  package var shown: CacheSettings {
    var settings = rest
    settings.inputs = inputs.map(\.shown)
    settings.outputs = outputs.map(\.shown)
    settings.scratch = scratch.map(\.shown)
    return settings
  }

  /// The location of a pattern, or of the first one with an expression, from which it may come; nil
  /// if there is none.
  package func span(of pattern: String, in part: CachePart) -> Span? {
    let (start, texts) =
      switch part {
      case .inputs: (0, inputs)
      case .outputs: (inputs.count, outputs)
      case .scratch: (inputs.count + outputs.count, scratch)
      }
    let number =
      texts.firstIndex { $0.plain.map { areSameBytes($0, pattern) } == true }
      ?? texts.firstIndex { $0.template != nil }
    return number.flatMap { spans.indices.contains(start + $0) ? spans[start + $0] : nil }
  }

  private func checked(
    _ written: Text, _ texts: [Text], _ part: CachePart
  ) throws(EvaluationFailure) -> [Text] {
    guard let expression = written.template?.expressions.first,
      let fault = texts.lazy.compactMap({
        $0.plain.flatMap { part.fault(in: $0, isWritten: false) }
      })
      .first
    else { return texts }
    throw EvaluationFailure(fault, in: expression, at: expression.range(of: expression.root))
  }
}

/// The three lists of patterns.
package enum CachePart: String, Sendable {
  case inputs, outputs, scratch
}

extension String {
  /// True for a path as it would be written after it was resolved: no name begins with a dot, and
  /// none is empty.
  package var goesDown: Bool {
    var copy = self
    return copy.withUTF8 { bytes in
      var isStart = true
      for byte in bytes {
        if isStart, byte == UInt8(ascii: ".") || byte == UInt8(ascii: "/") { return false }
        isStart = byte == UInt8(ascii: "/")
      }
      return !isStart
    }
  }
}

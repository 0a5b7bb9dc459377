// Turns a list of templates into an argument vector. Elements that are code to a program accept the
// same values as a script; the others accept any text.

import Diagnostics

/// An argument vector: its elements, piece by piece.
package struct ArgumentText {
  private let elements: [[TextPiece]]

  package init(_ elements: [[TextPiece]]) { self.elements = elements }

  /// The arguments; nil if a part is not known yet.
  package var texts: [String]? {
    let texts = elements.compactMap(Self.text)
    return texts.count == elements.count ? texts : nil
  }

  /// Fails for a value that could be more than data.
  package func check() throws(EvaluationFailure) {
    var reader = ArgumentReader()
    for element in elements {
      let known = element.prefix { $0.text != nil }.compactMap(\.text).joined()
      let holdsValue = element.contains { if case .authors = $0 { false } else { true } }
      switch reader.role(of: known, holdsValue: holdsValue) {
      case .script(let program):
        try check(script: element, for: ScriptReader(.element, [program]))
      case .data(let isBehindDashes): try check(element, isBehindDashes: isBehindDashes)
      }
    }
  }

  private func check(
    script element: [TextPiece], for reader: ScriptReader
  ) throws(EvaluationFailure) {
    var checker = ScriptChecker(for: reader)
    for piece in element {
      if let words = checker.objection(to: piece) { try piece.refuse(words) }
    }
    try checker.checkLines()
  }

  private func check(
    _ element: [TextPiece], isBehindDashes: Bool
  ) throws(EvaluationFailure) {
    var isEmpty = true
    for piece in element {
      let isOption = isEmpty && !isBehindDashes
      if let words = piece.objection(isOption: isOption) { try piece.refuse(words) }
      isEmpty = isEmpty && piece.text?.isEmpty == true
    }
  }

  private static func text(of element: [TextPiece]) -> String? {
    var text = ""
    for piece in element {
      guard let known = piece.text else { return nil }
      text += known
    }
    return text
  }
}

extension TextPiece {
  /// The objection to a piece of an argument that is data.
  fileprivate func objection(isOption: Bool) -> UnlocatedFailure? {
    switch self {
    case .authors(let text, _): text.utf8.contains(0) ? ScriptMessage.nul : nil
    case .value(let value): ScriptRule.objection(to: value, in: .argument(isOption: isOption))
    case .unknown: nil
    }
  }

  /// Throws a failure, except for literal text, which has been examined before and is never refused.
  fileprivate func refuse(_ words: UnlocatedFailure) throws(EvaluationFailure) {
    guard let expression else { return }
    throw EvaluationFailure(words, in: expression, at: expression.range(of: expression.root))
  }
}

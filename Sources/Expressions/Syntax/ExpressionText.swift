// Expressions and templates as text again: the rest after folding, as it could be written.

import Diagnostics

extension Expression {
  /// The expression as text, such as `params.branch == 'main'`: as it is written, if nothing is
  /// folded and it is on one line.
  package var description: String {
    let written = content[range(of: root)]
    if template.isAsWritten, !written.contains(UInt8(ascii: "\n")) {
      return String(decoding: written, as: UTF8.self)
    }
    var text = ""
    write(root, in: .conditional, to: &text)
    return text
  }

  /// Writes a node, in parentheses if the surrounding operator has higher precedence.
  private func write(_ node: Int, in outer: Precedence, to text: inout String) {
    let precedence = precedence(of: node)
    if precedence < outer { text += "(" }
    writeBare(node, precedence, to: &text)
    if precedence < outer { text += ")" }
  }

  private func precedence(of node: Int) -> Precedence {
    switch nodes[node].kind {
    case .conditional: .conditional
    case .not: .not
    case .binary: BinaryOperator(rawValue: nodes[node].detail)?.precedence ?? .postfix
    case .null, .true, .false, .number, .string, .constant, .root, .unknownName, .member, .index,
      .list,
      .call, .unknownCall:
      .postfix
    }
  }

  private func writeBare(_ node: Int, _ precedence: Precedence, to text: inout String) {
    if let value = literal(node) { return value.write(to: &text) }
    switch nodes[node].kind {
    case .member:
      // A dot after a number would be a decimal point.
      let isNumber = literal(node - 1)?.type == .number
      text += isNumber ? "(" : ""
      write(node - 1, in: .postfix, to: &text)
      text += (isNumber ? ")." : ".") + memberName(of: node)
    case .index:
      let (owner, index) = pair(of: node)
      write(owner, in: .postfix, to: &text)
      text += "["
      write(index, in: .conditional, to: &text)
      text += "]"
    case .not:
      text += "!"
      write(node - 1, in: .not, to: &text)
    case .binary: writeBinary(node, precedence, to: &text)
    case .conditional:
      let operands = operands(of: node)
      write(operands[0], in: .or, to: &text)
      text += " ? "
      write(operands[1], in: .conditional, to: &text)
      text += " : "
      write(operands[2], in: .conditional, to: &text)
    case .list: writeItems(node, "[", "]", to: &text)
    case .call, .unknownCall:
      writeItems(node, self.text(nameRange(of: node)) + "(", ")", to: &text)
    case .root, .unknownName, .null, .true, .false, .number, .string, .constant:
      text += self.text(nameRange(of: node))
    }
  }

  private func writeBinary(_ node: Int, _ precedence: Precedence, to text: inout String) {
    let sign = BinaryOperator(rawValue: nodes[node].detail)?.sign ?? ""
    let inner = Precedence(rawValue: precedence.rawValue + 1) ?? .postfix
    for (number, operand) in operands(of: node).enumerated() {
      if number > 0 { text += " \(sign) " }
      write(operand, in: inner, to: &text)
    }
  }

  private func writeItems(_ node: Int, _ open: String, _ close: String, to text: inout String) {
    text += open
    for (number, operand) in operands(of: node).enumerated() {
      if number > 0 { text += ", " }
      write(operand, in: .conditional, to: &text)
    }
    text += close
  }
}

extension Value {
  /// The value as it could be written in an expression, except for maps.
  package var literal: String {
    var text = ""
    write(to: &text)
    return text
  }

  fileprivate func write(to text: inout String) {
    switch self {
    case .string(let string): text += stringLiteral(string)
    case .list(let items):
      text += "["
      for (number, item) in items.enumerated() {
        if number > 0 { text += ", " }
        item.write(to: &text)
      }
      text += "]"
    case .map: text += "fromJSON(\(stringLiteral(json)))"
    case .null, .bool, .number: text += json
    }
  }
}

/// The string in single quotes, or in double quotes if a character needs an escape.
private func stringLiteral(_ text: String) -> String {
  let quote = UInt8(ascii: "'")
  if text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) { return jsonString(text) }
  return text.utf8.contains(quote) ? "'\(text.replacingText("'", with: "''"))'" : "'\(text)'"
}

// Converts defaults and examples of the key tables, which are YAML, to JSON.

import Diagnostics

extension JSONValue {
  /// Makes the value of a YAML text; nil if it cannot be parsed.
  init?(yaml: String) {
    let bytes = Array(yaml.utf8)
    let value = bytes.withUnsafeBufferPointer { text -> JSONValue? in
      var tree = Tree(source: text, base: 0)
      do throws(Diagnostic) {
        let check = try TextCheck(text, base: 0)
        var reader = TreeReader(text, check: check, base: 0)
        while try reader.nextStep(into: &tree) != nil {}
      } catch {
        return nil
      }
      return Decoder(bytes: bytes, start: 0, tree: tree, log: DiagnosticLog()).jsonValue(0)
    }
    guard let value else { return nil }
    self = value
  }
}

extension Decoder {
  fileprivate func jsonValue(_ node: NodeIndex) -> JSONValue {
    switch tree.nodes[node].kind {
    case .map:
      return .object(
        JSONObject(
          writtenPairs(of: node).map {
            JSONMember(name: tree.string($0.key), value: jsonValue($0.value))
          }))
    case .list: return .list(items(of: node).map(jsonValue))
    case .plain, .quoted, .block, .alias: return jsonScalar(node)
    }
  }

  private func jsonScalar(_ node: NodeIndex) -> JSONValue {
    let text = tree.string(node)
    guard tree.nodes[node].kind == .plain else { return .string(text) }
    if isNull(node) { return .null }
    if let boolean = plainBoolean(node) { return .boolean(boolean) }
    if let number = plainInteger(node) { return .number(String(number)) }
    let isDecimal = tree.withBytes(of: node) {
      !beginsWithSpareZero($0) && parseDecimal($0, decimals: 9) != nil
    }
    return isDecimal ? .number(text) : .string(text)
  }
}

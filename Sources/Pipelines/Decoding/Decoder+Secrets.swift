// The secrets that a pipeline declares. Their values are not read here.

import Diagnostics
import Expressions
import Plans

extension Decoder {
  mutating func decodeSecrets(_ value: NodeIndex) {
    let list = tree.resolve(value)
    guard tree.nodes[list].kind == .list else {
      let hasKey = tree.nodes[list].kind == .map && tree.next(after: list) > list + 1
      let first = hasKey ? tree.resolve(list + 1) : list
      return reportUnreadable(value, PipelineKey.secrets.row, help: secretHelp(naming: first))
    }
    var spans: [String: Span] = [:]
    for item in items(of: list) {
      guard let secret = secret(item, spans: &spans) else { continue }
      model.secrets.append(secret)
    }
  }

  private mutating func secret(
    _ item: NodeIndex, spans: inout [String: Span]
  ) -> SecretModel? {
    let map = tree.resolve(item)
    guard tree.nodes[map].kind == .map else {
      reportUnreadable(item, PipelineKey.secrets.row, help: secretHelp(naming: map))
      return nil
    }
    let fields = readFields(of: map, SecretKey.table) { $0.owner(ofSecret: $1) }
    let name = fields[.name].flatMap { secretName($0, spans: &spans) }
    if !fields.holds(.name) {
      log.report(at: firstKeySpan(of: map)) {
        DecodingMessage.missing(["name"], "in 'secrets'", at: $0)
      }
    }
    let isRequired = fields[.required].map { boolean($0, SecretKey.required.row) ?? true } ?? true
    guard let location = location(fields), let name, let node = fields[.name] else { return nil }
    return SecretModel(
      span: span(node), source: SecretSource(name: name, location: location, isRequired: isRequired)
    )
  }

  /// The help for a bare name of a secret, which shows its declaration; nil for anything else.
  private func secretHelp(naming node: NodeIndex) -> String? {
    guard tree.nodes[node].isScalar, tree.withBytes(of: node, isIdentifier) else { return nil }
    return "write a list of maps: [{name: \(tree.string(node))}]"
  }

  private func owner(ofSecret fields: Fields<SecretKey>) -> String {
    guard let name = fields[.name], tree.nodes[tree.resolve(name)].isScalar else {
      return "in a secret"
    }
    return "in secret \(quoted(tree.string(tree.resolve(name))))"
  }

  private mutating func secretName(
    _ value: NodeIndex, spans: inout [String: Span]
  ) -> String? {
    guard let node = scalar(value, SecretKey.name.row) else { return nil }
    let name = tree.string(node)
    guard tree.withBytes(of: node, isIdentifier) else {
      report(node) { DecodingMessage.badID(name, what: "the name of a secret", at: $0) }
      return nil
    }
    if let first = spans.updateValue(span(node), forKey: name) {
      spans[name] = first
      report(node) { DecodingMessage.duplicateSecret(name, first: first, at: $0) }
      return nil
    }
    return name
  }

  /// The source of a secret. `path` is allowed only with `from: file`.
  private mutating func location(_ fields: Fields<SecretKey>) -> SecretSource.Location? {
    let path = fields[.path].flatMap { filledText($0, SecretKey.path.row) }
    var isFile = false
    if let from = fields[.from] {
      guard let origin = choice(from, SecretKey.from.row, ["env": false, "file": true]) else {
        return nil
      }
      isFile = origin
    }
    if isFile, !fields.holds(.path) {
      let owner = owner(ofSecret: fields)
      log.report(at: firstKeySpan(of: fields.map)) {
        DecodingMessage.missing(["path"], owner, at: $0)
      }
    }
    if !isFile, let value = fields[.path] {
      report(keyNode(of: value)) { DecodingMessage.pathWithoutFile(at: $0) }
      return nil
    }
    return isFile ? path.map { .file($0) } : .environment
  }
}

// The declarations of a step's outputs.
extension Decoder {
  mutating func outputs(_ value: NodeIndex) -> [OutputDeclaration]? {
    let row = KeyRow(named: StepKey.outputs.row.key, .outputTypes)
    let map = tree.resolve(value)
    guard tree.nodes[map].kind == .map else {
      reportType(value, row)
      return nil
    }
    return pairs(of: map, owner: "in 'outputs'").compactMap { name, pair in
      guard tree.withBytes(of: pair.key, isIdentifier) else {
        report(pair.key) { DecodingMessage.badID(name, what: "the name of an output", at: $0) }
        return nil
      }
      return choice(pair.value, row.valueRow(name), outputTypes).map {
        OutputDeclaration(name: name, type: $0)
      }
    }
  }
}

private let outputTypes = Dictionary(
  uniqueKeysWithValues: OutputType.allCases.map { ($0.rawValue, $0) })

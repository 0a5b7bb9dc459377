// Decodes the cache declaration of a step.

import Diagnostics
import Expressions
import Plans

extension Decoder {
  mutating func cache(_ value: NodeIndex, _ step: Fields<StepKey>) -> CacheModel? {
    let map = tree.resolve(value)
    guard tree.nodes[map].kind == .map else {
      reportType(value, StepKey.cache.row)
      return nil
    }
    if let service = step[.background], plainBoolean(tree.resolve(service)) != false {
      report(keyNode(of: value)) { DecodingMessage.cachedService(at: $0) }
    }
    let fields = readFields(of: map, CacheKey.table) { _, _ in "in 'cache'" }
    if !fields.holds(.inputs) {
      log.report(at: firstKeySpan(of: map)) {
        DecodingMessage.missing(["inputs"], "in 'cache'", at: $0, help: DecodingMessage.noInputs)
      }
    }
    var model = CacheModel()
    model.inputs = patterns(fields[.inputs], CacheKey.inputs.row, .inputs, &model.spans)
    model.outputs = patterns(fields[.outputs], CacheKey.outputs.row, .outputs, &model.spans)
    model.scratch = patterns(fields[.scratch], CacheKey.scratch.row, .scratch, &model.spans)
    model.rest.environment = fields[.env].map { variableNames($0) } ?? []
    model.rest.tools = fields[.tools].map { texts($0, CacheKey.tools.row) } ?? []
    model.rest.isEnforced = fields[.enforce].flatMap { boolean($0, CacheKey.enforce.row) } ?? true
    return model
  }

  private mutating func patterns(
    _ value: NodeIndex?, _ row: KeyRow, _ part: CachePart, _ spans: inout [Span]
  ) -> [Text] {
    guard let value else { return [] }
    return listed(value, row).compactMap { item in
      guard let text = filledTemplate(item, row.itemRow) else { return nil }
      if let fault = text.plain.flatMap({ part.fault(in: $0) }) {
        report(item) { Diagnostic(fault.message, at: $0, help: fault.help) }
      }
      spans.append(span(item))
      return text
    }
  }

  private mutating func variableNames(_ value: NodeIndex) -> [String] {
    let row = CacheKey.env.row
    return listed(value, row).compactMap { item in
      guard let node = scalar(item, row.itemRow) else { return nil }
      let name = tree.string(node)
      guard isVariableName(name), tree.nodes[node].kind != .plain || plainBoolean(node) == nil
      else {
        reportType(item, row.itemRow)
        return nil
      }
      return name
    }
  }

  private mutating func texts(_ value: NodeIndex, _ row: KeyRow) -> [String] {
    listed(value, row).compactMap { filledText($0, row.itemRow) }
  }

  /// The items of a list; anything else is reported.
  private mutating func listed(_ value: NodeIndex, _ row: KeyRow) -> [NodeIndex] {
    let list = tree.resolve(value)
    guard tree.nodes[list].kind == .list else {
      reportType(value, row)
      return []
    }
    return items(of: list)
  }
}

private func isVariableName(_ text: String) -> Bool {
  guard let first = text.utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
  else { return false }
  return text.utf8.allSatisfy { byte in
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}

// Decodes the shared cache of a file.
extension Decoder {
  mutating func decodeSharedCache(_ fields: Fields<PipelineKey>) {
    if let value = fields[.cacheURL] { model.sharedCache.url = cacheURL(value) }
    if let value = fields[.cacheSecret], let node = scalar(value, PipelineKey.cacheSecret.row) {
      model.sharedCache.secret = tree.string(node)
      model.cacheSecretSpan = span(node)
    }
  }

  private mutating func cacheURL(_ value: NodeIndex) -> String? {
    guard let url = text(value, PipelineKey.cacheURL.row) else { return nil }
    guard SharedCacheAddress.isURL(url) else {
      reportType(value, PipelineKey.cacheURL.row)
      return nil
    }
    return url
  }
}

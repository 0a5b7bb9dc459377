// Maps with free names, and merge keys.

import Diagnostics

/// A key and its value.
struct Pair {
  let key: NodeIndex
  let value: NodeIndex
}

extension Decoder {
  /// The maximum number of names in one map. Names cost much more than the text in which they are written.
  private static let maxNameCount = 100_000

  /// The pairs of a map with free names, merged ones last; a name occurs once.
  mutating func pairs(of map: NodeIndex, owner: String) -> [(name: String, pair: Pair)] {
    var result: [(name: String, pair: Pair)] = []
    var places: [String: NodeIndex] = [:]
    var merges: [NodeIndex] = []
    for pair in writtenPairs(of: map) {
      if isMergeKey(pair.key) {
        if let first = merges.first {
          reportDuplicate(pair.key, first: keyNode(of: first), owner)
        }
        merges.append(pair.value)
        continue
      }
      guard admitsName(pair.key) else { continue }
      guard result.count < Self.maxNameCount else {
        report(pair.key) { DecodingMessage.tooManyNames(at: $0) }
        break
      }
      let name = tree.string(pair.key)
      if places[name] == nil {
        places[name] = pair.key
        result.append((name, pair))
      } else {
        reportDuplicate(pair.key, first: places[name] ?? pair.key, owner)
      }
    }
    for pair in merges.isEmpty ? [] : mergedPairs(merges) where admitsName(pair.key) {
      let name = tree.string(pair.key)
      if places.updateValue(pair.key, forKey: name) == nil { result.append((name, pair)) }
    }
    return result
  }

  private mutating func admitsName(_ key: NodeIndex) -> Bool {
    guard holdsNUL(key) else { return true }
    report(key) { DecodingMessage.nul(at: $0) }
    return false
  }

  /// The pairs that the values of merge keys contribute, strongest first. The search is iterative:
  /// a merged map may merge others, within the limits of nesting and of aliases.
  mutating func mergedPairs(_ values: [NodeIndex]) -> [Pair] {
    var result: [Pair] = []
    var waiting: [NodeIndex] = values.flatMap(mergeSources).reversed()
    while let value = waiting.popLast() {
      let map = tree.resolve(value)
      guard tree.nodes[map].kind == .map else {
        let found = found(map)
        report(value) { DecodingMessage.badMerge(found: found, at: $0) }
        continue
      }
      var nested: [NodeIndex] = []
      for pair in writtenPairs(of: map) {
        if isMergeKey(pair.key) { nested.append(pair.value) } else { result.append(pair) }
      }
      checkDuplicates(in: map)
      waiting.append(contentsOf: nested.flatMap(mergeSources).reversed())
    }
    return result
  }

  /// The values of a merge key, which takes one map or a list of maps.
  private func mergeSources(_ value: NodeIndex) -> [NodeIndex] {
    let node = tree.resolve(value)
    return tree.nodes[node].kind == .list ? items(of: node) : [value]
  }

  func writtenPairs(of map: NodeIndex) -> [Pair] {
    var result: [Pair] = []
    var key = map + 1
    let end = tree.next(after: map)
    while key < end {
      result.append(Pair(key: key, value: key + 1))
      key = tree.next(after: key + 1)
    }
    return result
  }

  func items(of list: NodeIndex) -> [NodeIndex] {
    var result: [NodeIndex] = []
    var item = list + 1
    let end = tree.next(after: list)
    while item < end {
      result.append(item)
      item = tree.next(after: item)
    }
    return result
  }

  /// The text that was cut by a comma between braces into a value and keys without values: `echo
  /// hello, world` for `world` in `{run: echo hello, world}`. Nil for any other key, and for all
  /// such keys but the first.
  func splitText(before key: NodeIndex) -> String? {
    guard isFirstBareKey(key) else { return nil }
    var latest = (key: -1, value: -1)
    return splitValue(before: key, &latest).flatMap { splitText($0, through: key) }
  }

  func splitText(_ value: NodeIndex, through key: NodeIndex) -> String? {
    let start = Int(tree.nodes[value].start) - tree.base
    let end = Int(tree.nodes[key].end) - tree.base
    guard start < end else { return nil }
    return String(decoding: tree.source[start..<end], as: UTF8.self)
  }

  /// The value with which such a text begins. `latest` is the result for an earlier key, so that
  /// the way back to it is not repeated.
  func splitValue(
    before key: NodeIndex, _ latest: inout (key: NodeIndex, value: NodeIndex)
  ) -> NodeIndex? {
    guard isBare(key) else { return nil }
    var value = key - 1
    while value > 1, isBare(value - 1) {
      value = value - 1 == latest.key ? latest.value : value - 2
    }
    latest = (key, value)
    guard value > 0, tree.nodes[value].kind == .plain, sign(behind: value) == UInt8(ascii: ",")
    else { return nil }
    return value
  }

  /// True if the key is the first of one such text.
  func isFirstBareKey(_ key: NodeIndex) -> Bool { key < 3 || !isBare(key - 2) }

  /// True for a plain key between braces with neither a colon nor a value.
  private func isBare(_ key: NodeIndex) -> Bool {
    guard key > 0, key + 1 < tree.nodes.count, tree.nodes[key].kind == .plain,
      tree.nodes[key + 1].kind == .plain, tree.withBytes(of: key + 1, { $0.isEmpty })
    else { return false }
    let next = sign(behind: key)
    return next == UInt8(ascii: ",") || next == UInt8(ascii: "}")
  }

  /// The first character after a node that is not blank.
  private func sign(behind node: NodeIndex) -> UInt8? {
    tree.source[(Int(tree.nodes[node].end) - tree.base)...].first {
      !" \t\r\n".utf8.contains($0)
    }
  }

  /// Reports keys that are written twice in one map.
  mutating func checkDuplicates(in map: NodeIndex) {
    var places: [String: NodeIndex] = [:]
    for pair in writtenPairs(of: map) {
      let name = tree.string(pair.key)
      if let first = places[name] {
        reportDuplicate(pair.key, first: first, "in this map")
      } else {
        places[name] = pair.key
      }
    }
  }

  mutating func reportDuplicate(_ key: NodeIndex, first: NodeIndex, _ owner: String) {
    let (name, first) = (tree.string(key), span(first))
    report(key) { DecodingMessage.duplicateKey(name, owner, first: first, at: $0) }
  }

  /// Reports duplicate keys even where nothing else is read: below `x-` keys.
  mutating func checkUnread(_ root: NodeIndex) {
    for node in root..<tree.next(after: root) where tree.nodes[node].kind == .map {
      checkDuplicates(in: node)
    }
  }
}

// Turns the tree into the model: the state that all decoding shares, and the decoding of the keys
// of a map.

import Diagnostics
import Expressions
import Plans

/// Turns nodes into a model. Faults are reported and left out; decoding continues.
struct Decoder {
  /// The bytes of the file, for strings that stay in it.
  let bytes: [UInt8]
  /// The offset of the file's start on the number line.
  let start: Int
  var tree: Tree
  var log: DiagnosticLog
  var model = PipelineModel()
  /// True if the file is included in another one, which may have the steps.
  var isPart = false
  /// The other tool whose file this looks like; nil if there is none.
  var foreignFile: ForeignFile?
  /// Indices into `model.settings` by hash.
  var settingsNumbers: [Int: Int32] = [:]
  /// The number of steps of all models but `model`: of groups, named pipelines, and the file around these.
  var otherStepCount = 0
  var otherDependencyCount = 0
  /// The number of groups and named pipelines.
  var partCount = 0
  /// The number of strings that the model keeps, and their bytes: aliases could repeat them without end.
  var keptTextCount = 0
  var keptByteCount = 0
  /// The memory for the values of the next map, reused from the step before: allocating it for each
  /// step would take a hundredth of a dry run.
  var roomForFields: [Int32] = []
  let patterns = PatternMatcher()
  let readExpressions = ReadExpressions()

  init(bytes: [UInt8], start: Int, tree: Tree, log: DiagnosticLog) {
    self.bytes = bytes
    self.start = start
    self.tree = tree
    self.log = log
    // Memory that is not touched costs nothing; growing an array costs twice its size.
    let byteCount = tree.source.count
    model.steps.reserveCapacity(min(byteCount / 32, PipelineModel.maxStepCount))
    model.dependencies.reserveCapacity(min(byteCount / 16, PipelineModel.maxDependencyCount))
  }

  /// The capacity for parts that only some steps have; none in a group or a named pipeline, of
  /// which there may be many.
  var roomForSome: Int {
    partCount > 0 ? 0 : min(tree.source.count / 64, PipelineModel.maxStepCount)
  }

  func span(_ node: NodeIndex) -> Span {
    Span(start: Int(tree.nodes[node].start), end: Int(tree.nodes[node].end))
  }

  /// Reports at a node; the message is made only if it is kept.
  mutating func report(_ node: NodeIndex, _ make: (Span) -> Diagnostic) {
    log.report(at: span(node), make)
  }
}

/// The values of a map whose keys are those of a table.
struct Fields<Key: ObjectKey> {
  /// The map from which they were read.
  let map: NodeIndex
  fileprivate var present: UInt64 = 0
  /// The keys for which mistyped ones were taken.
  fileprivate var presumed: UInt64 = 0
  /// The nodes of values. An array, not stored inline: reading an element of inline storage would
  /// copy all of them.
  private(set) var nodes: [Int32]

  /// Reuses the memory of other fields, if there is any.
  fileprivate init(map: NodeIndex, room: inout [Int32]) {
    self.map = map
    nodes = room.isEmpty ? [Int32](repeating: 0, count: KeyTable<Key>.mostKeys) : room
    room = []
  }

  /// The value of a key; nil if it is not written.
  subscript(key: Key) -> NodeIndex? {
    present & Self.bit(key) == 0 ? nil : Int(nodes[Int(key.rawValue)])
  }

  /// True if the key is written, or a mistyped one was taken for it.
  func holds(_ key: Key) -> Bool { (present | presumed) & Self.bit(key) != 0 }

  /// True if the key itself is written.
  func isWritten(_ key: Key) -> Bool { present & Self.bit(key) != 0 }

  /// True if there is a key that is not among these.
  func holdsMore(than keys: UInt64) -> Bool { present & ~keys != 0 }

  static func bit(_ key: Key) -> UInt64 { 1 << UInt64(key.rawValue) }

  fileprivate mutating func set(_ key: Key, _ node: NodeIndex) {
    present |= Self.bit(key)
    nodes[Int(key.rawValue)] = Int32(truncatingIfNeeded: node)
  }

  /// Counts a mistyped key as written, so that it is not also reported as missing.
  fileprivate mutating func presume(_ key: Key) { presumed |= Self.bit(key) }

  /// Keeps a key as written, but not its value, which is not read then.
  fileprivate mutating func forgetValue(of key: Key) {
    present &= ~Self.bit(key)
    presume(key)
  }
}

extension Decoder {
  /// Reads the keys of a map; `owner` names the owner of the keys in messages: `in step 'a'`.
  mutating func readFields<Key: ObjectKey>(
    of map: NodeIndex, _ table: KeyTable<Key>, owner: (Decoder, Fields<Key>) -> String
  ) -> Fields<Key> {
    var fields = Fields<Key>(map: map, room: &roomForFields)
    var strangers: [NodeIndex] = []
    var merges: [NodeIndex] = []
    var key = map + 1
    let end = tree.next(after: map)
    while key < end {
      let value = key + 1
      if let known = tree.withBytes(of: key, { table.find($0) }) {
        if fields.holds(known) { strangers.append(key) } else { fields.set(known, value) }
      } else if isMergeKey(key) {
        if let first = merges.first {
          reportDuplicate(key, first: keyNode(of: first), owner(self, fields))
        }
        merges.append(value)
      } else {
        strangers.append(key)
      }
      key = tree.next(after: value)
    }
    if !merges.isEmpty { merge(merges, into: &fields, table, &strangers) }
    if !strangers.isEmpty {
      reportStrangers(strangers, in: &fields, table, owner(self, fields))
    }
    return fields
  }

  func isMergeKey(_ key: NodeIndex) -> Bool {
    tree.nodes[key].kind == .plain && tree.withBytes(of: key) { $0.elementsEqual("<<".utf8) }
  }

  private mutating func merge<Key: ObjectKey>(
    _ values: [NodeIndex], into fields: inout Fields<Key>, _ table: KeyTable<Key>,
    _ strangers: inout [NodeIndex]
  ) {
    for pair in mergedPairs(values) {
      if let known = tree.withBytes(of: pair.key, table.find) {
        if !fields.holds(known) { fields.set(known, pair.value) }
      } else {
        strangers.append(pair.key)
      }
    }
  }

  /// Reports unknown keys. Only a file with errors gets here, so there is one copy for all tables:
  /// one for each kind of key, with its callees, would be 100 KB.
  @_semantics("optimize.sil.specialize.generic.never")
  private mutating func reportStrangers<Key: ObjectKey>(
    _ keys: [NodeIndex], in fields: inout Fields<Key>, _ table: KeyTable<Key>, _ owner: String
  ) {
    var latest = (key: -1, value: -1)
    var walk = (next: fields.map + 1, empty: nil as NodeIndex?)
    for key in keys where log.hasRoom(at: span(key)) {
      if let known = tree.withBytes(of: key, { table.find($0) }), let first = fields[known] {
        reportDuplicate(key, first: keyNode(of: first), owner)
      } else if !(Key.allowsExtensions && isExtension(key)) {
        let name = tree.string(key)
        if let empty = emptyKey(before: key, in: fields.map, table, &walk) {
          if let known = tree.withBytes(of: empty, table.find), fields[known] == empty + 1 {
            report(key) { DecodingMessage.beside(known.row.key, name, at: $0) }
            fields.forgetValue(of: known)
          }
          continue
        }
        if let value = splitValue(before: key, &latest) {
          if isFirstBareKey(key), let text = splitText(value, through: key) {
            report(key) { DecodingMessage.splitAtComma(name, owner, text, at: $0) }
          }
          continue
        }
        let close = known(meantBy: name, table)
        let help = close == nil ? help(for: name, table) : condition(key, close)
        report(key) {
          DecodingMessage.unknownKey(name, owner, help: help ?? didYouMean(close), at: $0)
        }
        if let meant = Key.allCases.first(where: { $0.row.key == close }) { fields.presume(meant) }
      }
    }
  }

  /// The key that was probably meant by an unknown one: that of another tool, a similar one, or one
  /// that it abbreviates.
  private func known<Key: ObjectKey>(meantBy name: String, _ table: KeyTable<Key>) -> String? {
    if let key = Key.elsewhere[name] { return key.row.key }
    if KeysElsewhere.advice[name] != nil { return nil }
    let keys = table.rows.lazy.map(\.key)
    if let close = log.suggester.closest(to: name, among: keys) { return close }
    let letters = name.utf8.filter { $0 != UInt8(ascii: "_") }
    return log.suggester.closest(to: name, among: Key.elsewhere.keys.sorted())
      .flatMap { Key.elsewhere[$0]?.row.key }
      ?? keys.first {
        letters.count > 3 && $0.utf8.filter { $0 != UInt8(ascii: "_") }.starts(with: letters)
      }
  }

  /// The largest number of keys that are listed when one is unknown.
  private static var fewKeys: Int { 8 }

  /// The help for an unknown key that is similar to no other.
  private func help<Key: ObjectKey>(for name: String, _ table: KeyTable<Key>) -> String? {
    Key.foreign[name]?.advice ?? Key.advice[name] ?? KeysElsewhere.advice[name]
      ?? (table.rows.count > Self.fewKeys
        ? nil : "the keys are \(inWords(table.rows.map(\.key), last: "and"))")
  }

  /// The condition here for one of another tool.
  private func condition(_ key: NodeIndex, _ meant: String?) -> String? {
    let value = tree.resolve(key + 1)
    guard meant == StepKey.condition.row.key, tree.nodes[value].isScalar else { return nil }
    return KeysElsewhere.conditions[tree.string(value)]
  }

  /// The last known key before an unknown one, if it needs a map or a text below it, and there is
  /// none. `walk` is where the last search ended.
  private func emptyKey<Key: ObjectKey>(
    before key: NodeIndex, in map: NodeIndex, _ table: KeyTable<Key>,
    _ walk: inout (next: NodeIndex, empty: NodeIndex?)
  ) -> NodeIndex? {
    while walk.next < key, walk.next < tree.next(after: map) {
      if let known = tree.withBytes(of: walk.next, { table.find($0) }) {
        let value = walk.next + 1
        let type = known.row.type
        let isEmpty =
          isNull(value)
          ? type == .matrix || type.isMap && (type.itemType == nil || type.mapValueType != nil)
          : tree.nodes[value].kind == .block && tree.withBytes(of: value) { $0.isEmpty }
        walk.empty = isEmpty ? walk.next : nil
      }
      walk.next = tree.next(after: walk.next + 1)
    }
    guard let empty = walk.empty, empty < key, key < tree.next(after: map) else { return nil }
    let between = Int(tree.nodes[empty].end) - tree.base..<Int(tree.nodes[key].start) - tree.base
    return tree.source[between].contains(UInt8(ascii: "\n")) ? empty : nil
  }

  private func isExtension(_ key: NodeIndex) -> Bool {
    tree.withBytes(of: key) { $0.starts(with: "x-".utf8) }
  }

  /// The key of a value, which directly precedes it.
  func keyNode(of value: NodeIndex) -> NodeIndex { value - 1 }
}

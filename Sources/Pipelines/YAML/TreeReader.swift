// Builds the tree of a YAML text from events, and hands out the steps one by one, so that only the
// nodes of one step are kept at a time. It knows no key of a pipeline except `steps`.

import Diagnostics
import Expressions

/// Reads one document. It is iterative, so that hostile nesting reaches a limit, not the end of the stack.
package struct TreeReader: ~Copyable {
  static let maxDepth = 64
  static let maxScalarByteCount = 1 << 20
  /// The maximum number of nodes kept at a time.
  static let maxNodeCount = 4_000_000
  /// The number of nodes that aliases may stand for; or ten times the written ones, if that is more.
  static let aliasBudget = 1_000_000

  /// A map or list that is not closed yet.
  private struct Open {
    var index: NodeIndex
    var isMap: Bool
    var expectsKey: Bool
    /// The number of nodes that aliases in it stand for.
    var aliased = 0
    /// The number of levels below it.
    var height = 0
    var anchor: Int?
  }

  private var events: EventStream
  private var offsets: CharacterOffsets
  private let text: UnsafeBufferPointer<UInt8>
  private let check: TextCheck
  private let base: Int

  private var anchors = Anchors()
  private var outer: [Open] = []
  private var top = Open(index: -1, isMap: false, expectsKey: false)
  private var depth = 0
  private var written = 0
  private var aliased = 0
  private var hasDocument = false

  /// The list whose items are handed out.
  private(set) var stepList: NodeIndex?
  private var isAfterStepsKey = false
  private var itemStart: Tree.Mark?
  private var anchorsBeforeItem = 0

  /// Starts reading. `base` is the offset of the text's start on the number line.
  init(_ text: UnsafeBufferPointer<UInt8>, check: TextCheck, base: Int) {
    self.text = text
    self.check = check
    self.base = base
    events = EventStream(text, isASCII: check.isASCII)
    offsets = CharacterOffsets(text, isASCII: check.isASCII)
  }

  /// True if a value that was read may stand for others.
  var hasAnchors: Bool { anchors.count > 0 }

  /// Reads up to the end of the next step, and forgets the step before unless an alias may still
  /// refer to it. Nil when the document has ended; its root is then node 0.
  mutating func nextStep(into tree: inout Tree) throws(Diagnostic) -> NodeIndex? {
    if let mark = itemStart {
      if anchors.count == anchorsBeforeItem { tree.discard(since: mark) }
      startItem(in: tree)
    }
    while true {
      switch try advance() {
      case .scalar: try addScalar(to: &tree)
      case .mapStart: try open(.map, events.mapTraits, in: &tree)
      case .listStart: try open(.list, events.listTraits, in: &tree)
      case .mapEnd, .listEnd: close(in: &tree)
      case .alias: try addAlias(to: &tree)
      case .documentStart: try startDocument()
      case .streamEnd:
        if !hasDocument { throw YAMLMessage.emptyFile(at: base) }
        return nil
      case .streamStart, .documentEnd: continue
      }
      if depth == 2, let step = finishedStep(in: tree) { return step }
    }
  }
}

// The list of steps.
extension TreeReader {
  private mutating func startItem(in tree: Tree) {
    itemStart = tree.mark
    anchorsBeforeItem = anchors.count
  }

  private func finishedStep(in tree: Tree) -> NodeIndex? {
    guard top.index == stepList, let start = itemStart, tree.nodes.count > start.nodeCount else {
      return nil
    }
    return start.nodeCount
  }

  /// Notes whether a scalar is the key `steps`. Called for scalars directly below the root map.
  private mutating func noteTopLevelKey(_ bytes: UnsafeBufferPointer<UInt8>) {
    isAfterStepsKey = stepList == nil && top.expectsKey && bytes.elementsEqual("steps".utf8)
  }
}

// Handling of one event each.
extension TreeReader {
  private mutating func advance() throws(Diagnostic) -> EventStream.Kind {
    do {
      return try events.advance()
    } catch {
      throw YAMLMessage.syntax(error, text: text, base: base)
    }
  }

  /// The location of the current event.
  @inline(__always)
  private mutating func eventSpan() -> Span {
    let start = base + offsets.byteOffset(of: events.start)
    let end = base + offsets.byteOffset(of: events.end)
    return Span(start: start, end: max(start, end))
  }

  private mutating func startDocument() throws(Diagnostic) {
    if hasDocument { throw YAMLMessage.secondDocument(at: eventSpan()) }
    hasDocument = true
  }

  private mutating func addScalar(to tree: inout Tree) throws(Diagnostic) {
    let place = eventSpan()
    var span = place
    let bytes = events.scalar
    let traits = events.scalarTraits
    if bytes.count > Self.maxScalarByteCount { throw YAMLMessage.scalarTooLong(at: span) }
    if depth == 1 { noteTopLevelKey(bytes) }
    let kind = events.style
    let isWritten = isWritten(bytes, as: kind, at: &span)
    var node = Node(start: span.start, end: span.end, link: 0, kind: kind)
    if !isWritten {
      node.link = tree.store(bytes)
      node.isInArena = true
      node.hasExpression = holdsExpression(bytes)
    } else if check.hasExpressions {
      node.hasExpression = holdsExpression(bytes)
    }
    if !traits.isPlain {
      let anchored = Anchored(node: tree.nodes.count, size: 1, height: 0, isComplete: true)
      try note(traits, of: anchored, at: place)
    }
    try append(node, to: &tree)
    if depth > 0, top.isMap { top.expectsKey.toggle() }
  }

  /// True if a scalar is in the file byte for byte. An anchor before it is removed from its span.
  @inline(__always)
  private func isWritten(
    _ bytes: UnsafeBufferPointer<UInt8>, as kind: Node.Kind, at span: inout Span
  ) -> Bool {
    let inset = kind == .quoted ? 1 : 0
    let start = Int(span.end) - base - inset - bytes.count
    // An empty block has no text; its location is that of its indicator.
    if bytes.isEmpty, kind == .block { return false }
    guard start >= Int(span.start) - base + inset else { return false }
    guard let written = text.baseAddress, let read = bytes.baseAddress,
      areEqual(written + start, read, count: bytes.count)
    else { return false }
    span.start = UInt32(truncatingIfNeeded: start + base - inset)
    return true
  }

  private mutating func open(
    _ kind: Node.Kind, _ traits: EventStream.Traits, in tree: inout Tree
  ) throws(Diagnostic) {
    let span = eventSpan()
    if depth == Self.maxDepth { throw YAMLMessage.tooDeep(at: span) }
    if depth > 0, top.isMap {
      if top.expectsKey { throw YAMLMessage.complexKey(at: span) }
      top.expectsKey = true
    }
    let index = tree.nodes.count
    try append(Node(start: span.start, end: span.end, link: 0, kind: kind), to: &tree)
    outer.append(top)
    depth += 1
    top = Open(index: index, isMap: kind == .map, expectsKey: kind == .map)
    if !traits.isPlain {
      let anchored = Anchored(node: index, size: 1, height: 0, isComplete: false)
      top.anchor = try note(traits, of: anchored, at: span)
    }
    if depth == 2, isAfterStepsKey, kind == .list, top.anchor == nil {
      stepList = index
      startItem(in: tree)
    }
    isAfterStepsKey = false
  }

  private mutating func close(in tree: inout Tree) {
    let closed = top
    let isFlow = events.end > events.start
    let end = isFlow ? eventSpan().end : tree.nodes[tree.nodes.count - 1].end
    tree.nodes[closed.index].end = max(end, tree.nodes[closed.index].end)
    tree.nodes[closed.index].link = UInt32(truncatingIfNeeded: tree.nodes.count)
    if let slot = closed.anchor {
      let size = tree.nodes.count - closed.index + closed.aliased
      anchors.complete(slot, size: size, height: closed.height + 1)
    }
    if closed.index == stepList { itemStart = nil }
    top = outer.removeLast()
    depth -= 1
    top.aliased += closed.aliased
    top.height = max(top.height, closed.height + 1)
  }

  private mutating func addAlias(to tree: inout Tree) throws(Diagnostic) {
    let span = eventSpan()
    let name = events.aliasName
    guard let target = anchors[name] else {
      let close = suggestion(for: name, among: anchors.names.sorted())
      throw YAMLMessage.unknownAnchor(name, suggestion: close, at: span)
    }
    if !target.isComplete { throw YAMLMessage.aliasInItself(name, at: span) }
    if top.isMap, top.expectsKey { throw YAMLMessage.complexKey(at: span) }
    if depth + target.height > Self.maxDepth { throw YAMLMessage.tooDeep(at: span) }
    aliased += target.size
    if aliased > max(Self.aliasBudget, 10 * written) { throw YAMLMessage.aliasBudget(at: span) }
    let link = UInt32(truncatingIfNeeded: target.node)
    try append(Node(start: span.start, end: span.end, link: link, kind: .alias), to: &tree)
    top.aliased += target.size
    top.height = max(top.height, target.height)
    top.expectsKey = top.isMap
    isAfterStepsKey = false
  }

  @inline(__always)
  private mutating func append(_ node: Node, to tree: inout Tree) throws(Diagnostic) {
    written += 1
    if tree.nodes.count == Self.maxNodeCount {
      throw YAMLMessage.tooManyNodes(at: Span(start: Int(node.start), end: Int(node.end)))
    }
    tree.nodes.append(node)
  }

  /// Records an anchor, and refuses a tag. Returns the anchor's number.
  @discardableResult
  private mutating func note(
    _ traits: EventStream.Traits, of value: Anchored, at span: Span
  ) throws(Diagnostic) -> Int? {
    if let tag = traits.tagName { throw YAMLMessage.tag(tag, at: span) }
    guard let name = traits.anchorName else { return nil }
    if anchors.count == Anchors.maxCount { throw YAMLMessage.tooManyAnchors(at: span) }
    return anchors.add(name, value)
  }
}

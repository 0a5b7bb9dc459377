// The tree of a YAML text as flat arrays: every value, key and alias in the order they are written.

import Diagnostics
import Expressions

/// The index of a node in its tree.
typealias NodeIndex = Int

/// One key, value or alias. It takes 16 bytes, because a pipeline of 100,000 steps has a million.
struct Node {
  enum Kind: UInt8 {
    case map, list
    /// A scalar without quotes: the only one that can be a number, a boolean or null.
    case plain
    case quoted
    /// A scalar after `|` or `>`.
    case block
    case alias
  }

  /// The start of the node on the number line of the source map.
  var start: UInt32
  var end: UInt32
  /// For a map or list, the index after its last descendant. For an alias, its target. For a scalar
  /// that is not in the file unchanged, the position of its text in the arena.
  var link: UInt32
  let kind: Kind
  var isInArena = false
  /// True if the scalar contains `${{`.
  var hasExpression = false

  var isScalar: Bool { kind == .plain || kind == .quoted || kind == .block }
}

/// The nodes, and the bytes of scalars whose content differs from how they are written.
package struct Tree {
  /// The file, without its byte order mark.
  let source: UnsafeBufferPointer<UInt8>
  /// The offset of `source` on the number line.
  let base: Int
  var nodes: [Node] = []
  private var arena: [UInt8] = []
  /// True if all scalars that were read so far are known to be ASCII.
  var isASCII = false

  init(source: UnsafeBufferPointer<UInt8>, base: Int) {
    self.source = source
    self.base = base
  }

  /// The index after a node and everything that it contains.
  func next(after index: NodeIndex) -> NodeIndex {
    let node = nodes[index]
    return node.kind.rawValue <= Node.Kind.list.rawValue ? Int(node.link) : index + 1
  }

  /// The target of an alias, or any other node itself. Aliases never lead to aliases.
  func resolve(_ index: NodeIndex) -> NodeIndex {
    nodes[index].kind == .alias ? Int(nodes[index].link) : index
  }

  /// The text of a scalar.
  func withBytes<R>(of index: NodeIndex, _ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
    let node = nodes[index]
    if node.isInArena {
      let place = Int(node.link)
      return arena.withUnsafeBufferPointer { arena in
        let count = (0..<4).reduce(0) { $0 | Int(arena[place + $1]) << (8 * $1) }
        return body(UnsafeBufferPointer(rebasing: arena[(place + 4)..<(place + 4 + count)]))
      }
    }
    let inset = node.kind == .quoted ? 1 : 0
    let range = (Int(node.start) - base + inset)..<(Int(node.end) - base - inset)
    return body(UnsafeBufferPointer(rebasing: source[range]))
  }

  /// True if all scalars of a node, and of the values of its aliases, are ASCII.
  func isASCII(_ index: NodeIndex) -> Bool {
    if isASCII { return true }
    return (index..<next(after: index)).allSatisfy { index in
      switch nodes[index].kind {
      case .map, .list: true
      case .alias: isASCII(resolve(index))
      case .plain, .quoted, .block: withBytes(of: index) { $0.allSatisfy { $0 < 0x80 } }
      }
    }
  }

  /// The location of a scalar's text, without quotes; only for one that is not in the arena.
  func textSpan(_ index: NodeIndex) -> Span {
    let node = nodes[index]
    let inset = node.kind == .quoted && !node.isInArena ? 1 : 0
    return Span(start: Int(node.start) + inset, end: Int(node.end) - inset)
  }

  /// True if a value is `null`, `~` or empty.
  func isNull(_ index: NodeIndex) -> Bool {
    guard nodes[index].kind == .plain else { return false }
    return withBytes(of: index) { bytes in
      switch bytes.count {
      case 0: true
      case 1: bytes[0] == UInt8(ascii: "~")
      case 4: bytes.elementsEqual("null".utf8)
      default: false
      }
    }
  }

  func string(_ index: NodeIndex) -> String {
    withBytes(of: index) { String(decoding: $0, as: UTF8.self) }
  }

  /// Stores a scalar's text; returns its position for `Node.link`.
  mutating func store(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt32 {
    let place = arena.count
    // Escapes of an ASCII file can stand for other characters.
    if isASCII, bytes.contains(where: { $0 >= 0x80 }) { isASCII = false }
    for shift in 0..<4 { arena.append(UInt8(truncatingIfNeeded: bytes.count >> (8 * shift))) }
    arena.append(contentsOf: bytes)
    return UInt32(truncatingIfNeeded: place)
  }

  /// A state of the tree to which it can be reset.
  struct Mark {
    let nodeCount: Int
    fileprivate let arenaCount: Int
  }

  var mark: Mark { Mark(nodeCount: nodes.count, arenaCount: arena.count) }

  /// Forgets every node that was added since a mark.
  mutating func discard(since mark: Mark) {
    nodes.removeLast(nodes.count - mark.nodeCount)
    arena.removeLast(arena.count - mark.arenaCount)
  }
}

extension Tree {
  /// The origin of a scalar.
  func origin(_ index: NodeIndex) -> TextOrigin {
    TextOrigin(textSpan(index), isWritten: !nodes[index].isInArena)
  }
}

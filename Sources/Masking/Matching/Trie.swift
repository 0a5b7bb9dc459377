// All patterns as one tree of bytes, with the links of Aho and Corasick (1975): from a node to the
// longest other node that ends in the same way. It is built once; matching reads an `Automaton`.

/// The nodes in order of their depth; the children of a node are adjacent.
struct Trie {
  /// The first child of each node, and one more entry: the children of `n` are
  /// `firstChild[n]..<firstChild[n + 1]`.
  private(set) var firstChild: [UInt32] = []
  /// The byte that leads to the node.
  private(set) var byte: [UInt8] = [0]
  /// The node of the longest proper suffix of this node's path that is also a path.
  private(set) var suffix: [UInt32] = [0]
  private var depth: [UInt32] = [0]
  /// The length of the longest pattern that ends at the node; 0 if none does.
  private(set) var matchLength: [UInt32] = [0]

  var nodeCount: Int { byte.count }

  /// The patterns must be sorted, without duplicates, and none may be empty.
  init(_ patterns: [[UInt8]]) {
    // The nodes of one depth while they are made: for each, the patterns that share its path.
    var level = [patterns.indices]
    var depth = 0
    while !level.isEmpty {
      var next: [Range<Int>] = []
      for range in level {
        firstChild.append(UInt32(nodeCount))
        grow(range, of: patterns, at: depth, into: &next)
      }
      level = next
      depth += 1
    }
    firstChild.append(UInt32(nodeCount))
    link()
  }

  private mutating func grow(
    _ range: Range<Int>, of patterns: [[UInt8]], at depth: Int, into next: inout [Range<Int>]
  ) {
    var start = range.lowerBound
    let end = range.upperBound
    // The shortest pattern is the first, and may end here.
    if start < end, patterns[start].count == depth { start += 1 }
    while start < end {
      let letter = patterns[start][depth]
      var last = start + 1
      while last < end, patterns[last][depth] == letter { last += 1 }
      next.append(start..<last)
      byte.append(letter)
      self.depth.append(UInt32(depth + 1))
      matchLength.append(patterns[start].count == depth + 1 ? UInt32(depth + 1) : 0)
      start = last
    }
  }

  /// Links shallow nodes first, because a node's link leads to one that already has its own.
  private mutating func link() {
    suffix = Array(repeating: 0, count: nodeCount)
    for node in 0..<nodeCount {
      for child in children(of: node) {
        if node > 0 { suffix[child] = UInt32(step(from: Int(suffix[node]), by: byte[child])) }
        if matchLength[child] == 0 { matchLength[child] = matchLength[Int(suffix[child])] }
      }
    }
  }

  /// Returns for each node the length of the longest suffix of its path with which a longer path
  /// begins. It replaces the depths, which are no longer needed.
  mutating func takeOpenByteCounts() -> [UInt32] {
    for node in 1..<nodeCount where children(of: node).isEmpty {
      depth[node] = depth[Int(suffix[node])]
    }
    defer { depth = [] }
    return depth
  }

  func children(of node: Int) -> Range<Int> { Int(firstChild[node])..<Int(firstChild[node + 1]) }

  private func step(from start: Int, by byte: UInt8) -> Int {
    var node = start
    while true {
      if let child = children(of: node).first(where: { self.byte[$0] == byte }) { return child }
      if node == 0 { return 0 }
      node = Int(suffix[node])
    }
  }
}

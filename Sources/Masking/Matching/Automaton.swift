// Finds every occurrence of many patterns in one pass over a text that comes in pieces (Aho and
// Corasick, 1975). It knows bytes, but nothing about secrets.

/// An occurrence in a text, or several that overlap, as positions in bytes since the text began.
struct Hit: Hashable {
  var start: Int
  var end: Int
}

/// States are the nodes of a trie. Near the root, where a scan nearly always is, a state has a row
/// with its next state for every byte; a deeper one has its children and a link to follow, so a
/// long pattern needs few bytes of memory for each of its bytes.
final class Automaton: Sendable {
  typealias State = UInt32

  private let skip: SkipTable
  /// The class of each byte. Bytes that no pattern contains are one class.
  private let classes: FixedTable<UInt8>
  private let rows: FixedTable<UInt32>
  /// The logarithm of the length of a row, which has `1 << rowShift` entries.
  private let rowShift: UInt32
  private let rowCount: State
  /// States up to this one are at most one byte deep.
  private let lastShallow: State
  private let trie: Trie
  private let openBytes: [UInt32]

  static let start: State = 0
  /// The bit in an entry of `rows` that says that a pattern ends in that state.
  private static let matchBit: UInt32 = 1 << 31
  /// The maximum number of entries in rows: 256 KiB for the states that are one or two bytes deep,
  /// where a scan nearly always is.
  private static let rowEntryLimit = 1 << 16

  /// Builds the automaton. There must be at least one pattern, and none shorter than four bytes.
  init(_ patterns: Set<[UInt8]>) {
    let patterns = patterns.sorted { $0.lexicographicallyPrecedes($1) }
    var trie = Trie(patterns)
    let (classes, classCount) = Self.classes(of: trie)
    var shift = 0
    while 1 << shift < classCount { shift += 1 }
    let count = min(trie.nodeCount, Self.rowEntryLimit >> shift)
    skip = SkipTable(patterns)
    self.classes = FixedTable(classes)
    rows = Self.rows(of: trie, count: count, classes: classes, shift: shift)
    rowShift = UInt32(shift)
    rowCount = State(count)
    lastShallow = trie.firstChild[1] - 1
    openBytes = trie.takeOpenByteCounts()
    self.trie = trie
  }

  private static func classes(of trie: Trie) -> (classes: [UInt8], count: Int) {
    let used = Set(trie.byte.dropFirst()).sorted()
    var classes = [UInt8](repeating: 0, count: 256)
    // The first class is for all other bytes, if there are any.
    let first = used.count < 256 ? 1 : 0
    for (number, byte) in used.enumerated() { classes[Int(byte)] = UInt8(first + number) }
    return (classes, first + used.count)
  }

  private static func rows(
    of trie: Trie, count: Int, classes: [UInt8], shift: Int
  ) -> FixedTable<UInt32> {
    FixedTable(count: count << shift) { rows in
      for node in 0..<count {
        let row = node << shift
        let other = Int(trie.suffix[node]) << shift
        for entry in 0..<(1 << shift) { rows[row + entry] = node > 0 ? rows[other + entry] : start }
        for child in trie.children(of: node) {
          let bit = trie.matchLength[child] > 0 ? matchBit : 0
          rows[row + Int(classes[Int(trie.byte[child])])] = UInt32(child) | bit
        }
      }
    }
  }

  /// The number of preceding bytes that may be the beginning of an incomplete occurrence.
  func openByteCount(in state: State) -> Int { Int(openBytes[Int(state)]) }

  /// Continues from a state through the bytes, the first of which is at `position`; adds what it
  /// finds to `hits`. Linear, whatever the text.
  func scan(
    _ bytes: UnsafeRawBufferPointer, at position: Int, from start: State, hits: inout [Hit]
  ) -> State {
    guard let text = bytes.baseAddress else { return start }
    let (rows, classes, skip) = (rows.start, classes.start, skip)
    let (rowShift, rowCount, lastShallow) = (rowShift, rowCount, lastShallow)
    let lastWindow = bytes.count - skip.window
    var state = start
    var index = 0
    while index < bytes.count {
      if state <= lastShallow {
        // No occurrence has begun, or only its first byte has been read: the window starts there.
        let begin = index - (state == Self.start ? 0 : 1)
        let candidate = skip.candidate(text, from: begin, to: lastWindow)
        if candidate > begin {
          index = candidate
          state = Self.start
        }
      }
      let byte = text.load(fromByteOffset: index, as: UInt8.self)
      let entry =
        state < rowCount
        ? rows[Int(state << rowShift | UInt32(classes[Int(byte)]))] : deepNext(state, byte)
      index += 1
      state = entry & ~Self.matchBit
      if entry & Self.matchBit != 0 {
        hits.add(end: position + index, length: Int(trie.matchLength[Int(state)]))
      }
    }
    return state
  }

  /// The next state after one byte. `matchLength` is that of the longest pattern that ends there; 0
  /// if none does.
  @inline(__always)
  func next(_ state: State, _ byte: UInt8) -> (state: State, matchLength: Int) {
    let entry =
      state < rowCount
      ? rows.start[Int(state << rowShift | UInt32(classes.start[Int(byte)]))]
      : deepNext(state, byte)
    let next = entry & ~Self.matchBit
    return (next, entry == next ? 0 : Int(trie.matchLength[Int(next)]))
  }

  /// The next state of a deep state. The cost of following links is covered by the bytes that led
  /// this deep.
  private func deepNext(_ deep: State, _ byte: UInt8) -> UInt32 {
    var state = deep
    while state >= rowCount {
      for child in trie.children(of: Int(state)) where trie.byte[child] == byte {
        return State(child) | (trie.matchLength[child] > 0 ? Self.matchBit : 0)
      }
      state = trie.suffix[Int(state)]
    }
    return rows.start[Int(state << rowShift | UInt32(classes.start[Int(byte)]))]
  }
}

extension [Hit] {
  /// Merges the occurrences of another search; those that overlap become one.
  mutating func merge(_ others: [Hit]) {
    guard !others.isEmpty else { return }
    let all = (self + others).sorted { $0.start < $1.start }
    removeAll(keepingCapacity: true)
    for hit in all {
      if let last, last.end > hit.start {
        self[count - 1].end = Swift.max(last.end, hit.end)
      } else {
        append(hit)
      }
    }
  }

  /// Adds an occurrence. Occurrences must be added in the order of their ends; those that overlap become one.
  mutating func add(end: Int, length: Int) {
    var hit = Hit(start: end - length, end: end)
    while let last, last.end > hit.start {
      hit.start = Swift.min(hit.start, last.start)
      removeLast()
    }
    append(hit)
  }
}

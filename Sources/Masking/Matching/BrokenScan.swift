// The search for patterns with white space in them, in one text that arrives in pieces.

/// One stream. It needs memory for the longest pattern, and a mark for each run of white space in
/// it.
struct BrokenScan: Sendable {
  private let forms: BrokenForms
  private var state = Automaton.start
  /// The number of bytes other than white space since the search was restarted.
  private var count = 0
  /// The number of white-space bytes before the next byte.
  private var blanks = 1
  /// The positions of bytes that follow white space.
  private var marks: [Mark] = []
  private var markLimit = 64

  private struct Mark {
    let count: Int
    let position: Int
  }

  /// The length of white space that ends an occurrence which has begun.
  private static let mostBlanks = 64
  /// The number of bytes from which an occurrence is held back at the end of a line: with fewer,
  /// nearly every line would be.
  private static let fewestBeforeBlank = 3

  init(_ forms: BrokenForms) { self.forms = forms }

  /// The number of bytes before a piece of a pattern in which the pattern may have begun, with a shorter piece.
  private var reach: Int { 3 * forms.pieceSize + Self.mostBlanks }

  /// Scans the next bytes; the first is at `position`.
  mutating func scan(_ bytes: UnsafeRawBufferPointer, at position: Int, hits: inout [Hit]) {
    var index = run(bytes, 0..<min(reach, bytes.count), at: position, hits: &hits)
    while index < bytes.count {
      let candidate = forms.candidate(bytes, from: index)
      let start = (candidate ?? bytes.count) - reach
      if start > index {
        beginAnew()
        index = start
      }
      let end = candidate.map { min($0 + forms.pieceSize, bytes.count) } ?? bytes.count
      index = run(bytes, index..<max(index, end), at: position, hits: &hits)
    }
  }

  /// The position from which on nothing is decided; at most `end`.
  func firstOpen(upTo end: Int) -> Int {
    let open = forms.automaton.openByteCount(in: state)
    guard open >= (blanks > 0 ? Self.fewestBeforeBlank : 1) else { return end }
    return self.position(of: count - open)
  }

  mutating func beginAnew() {
    state = Automaton.start
    count = 0
    blanks = 1
    marks.removeAll(keepingCapacity: true)
  }

  /// Examines every byte of the range, and continues while a pattern is being read. Returns where
  /// it ends.
  private mutating func run(
    _ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, at position: Int, hits: inout [Hit]
  ) -> Int {
    var index = range.lowerBound
    var end = range.upperBound
    while true {
      while index < end {
        read(bytes[index], at: position + index, hits: &hits)
        index += 1
      }
      guard end < bytes.count,
        forms.automaton.openByteCount(in: state) >= forms.pieceSize
      else { return index }
      end = min(end + 16, bytes.count)
    }
  }

  @inline(__always)
  private mutating func read(_ byte: UInt8, at position: Int, hits: inout [Hit]) {
    if byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
      blanks += 1
      if blanks > Self.mostBlanks, state != Automaton.start { beginAnew() }
      return
    }
    if blanks > 0 {
      blanks = 0
      addMark(at: position)
    }
    let next = forms.automaton.next(state, byte)
    state = next.state
    count += 1
    if next.matchLength > 0 {
      let start = self.position(of: count - next.matchLength)
      hits.add(end: position + 1, length: position + 1 - start)
    }
  }

  private mutating func addMark(at position: Int) {
    if marks.count >= markLimit {
      let first = count - forms.automaton.openByteCount(in: state)
      let unneeded = marks.lastIndex { $0.count <= first } ?? 0
      marks.removeFirst(unneeded)
      markLimit = max(64, 2 * marks.count)
    }
    marks.append(Mark(count: count, position: position))
  }

  /// The position of a byte, given its number; it must belong to the pattern that is being read.
  private func position(of number: Int) -> Int {
    var (low, high) = (0, marks.count)
    while low < high {
      let middle = (low + high) / 2
      if marks[middle].count <= number { low = middle + 1 } else { high = middle }
    }
    guard low > 0 else { preconditionFailure("a byte that was forgotten") }
    return marks[low - 1].position + number - marks[low - 1].count
  }
}

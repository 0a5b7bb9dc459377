// Remembers how far a scalar has been scanned, so that many errors in one long string need one scan
// instead of one each. It does not know how scalars are written.

import Diagnostics

/// The marks of the scalar that was used last.
final class ScalarOffsets {
  /// The index of a byte in a scalar's content, and its offset in the file.
  package struct Mark {
    package let index: Int
    package let offset: Int
  }

  /// The number of bytes between two marks.
  private static let distance = 512

  private var span: Span?
  private var marks: [Mark] = []

  package func turn(to span: Span) {
    if self.span == span { return }
    self.span = span
    marks = []
  }

  /// The last mark that is not after `index`.
  package func mark(before index: Int) -> Mark? {
    var low = 0
    var high = marks.count
    while low < high {
      let middle = (low + high) / 2
      if marks[middle].index <= index { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? nil : marks[low - 1]
  }

  package func note(_ index: Int, _ offset: Int) {
    if let last = marks.last, index < last.index + Self.distance { return }
    marks.append(Mark(index: index, offset: offset))
  }
}

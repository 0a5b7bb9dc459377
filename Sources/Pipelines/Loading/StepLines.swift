// The positions of the steps of a file, so that some of them can be planned without the others.

import Diagnostics

/// The positions of the steps of one file, collected while the file is decoded.
struct StepPlaces {
  private var starts: [UInt32] = []
  private var end: UInt32 = 0
  /// True if the positions are certain. Only in ASCII are line ends certain to be where libyaml
  /// sees them; and with an anchor, a value may stand in several places.
  var areCertain = false

  mutating func add(_ step: Node) {
    starts.append(step.start)
    end = step.end
  }

  /// The lines of each step, as ranges of bytes that end where the next step begins. Nil if they
  /// are not certain, or if a line belongs to more than one step.
  func lines(in file: [UInt8]) -> [Range<Int>]? {
    guard areCertain, !file.contains(UInt8(ascii: "\r")) else { return nil }
    return file.withUnsafeBufferPointer { text in
      var lines: [Range<Int>] = []
      lines.reserveCapacity(starts.count)
      for start in starts {
        guard let line = startOfItem(at: Int(start), in: text) else { return nil }
        if let last = lines.indices.last {
          guard line > lines[last].lowerBound else { return nil }
          lines[last] = lines[last].lowerBound..<line
        }
        lines.append(line..<line)
      }
      if let last = lines.indices.last {
        lines[last] = lines[last].lowerBound..<endOfLine(before: Int(end), in: text)
      }
      return lines
    }
  }
}

/// The steps of a pipeline of one file, as they are written. They are kept while the pipeline runs,
/// unlike everything else that was read.
package struct WrittenSteps {
  let places: StepPlaces
  let file: [UInt8]

  package var lines: [Range<Int>]? { places.lines(in: file) }
}

/// The start of the line of an item of a list; nil if something else is before it.
private func startOfItem(at place: Int, in text: UnsafeBufferPointer<UInt8>) -> Int? {
  var start = place
  var dashCount = 0
  while start > 0, text[start - 1] != UInt8(ascii: "\n") {
    start -= 1
    switch text[start] {
    case UInt8(ascii: " "): continue
    case UInt8(ascii: "-"): dashCount += 1
    default: return nil
    }
  }
  return dashCount == 1 ? start : nil
}

/// The end of the line that contains the byte before a position.
private func endOfLine(before place: Int, in text: UnsafeBufferPointer<UInt8>) -> Int {
  var end = max(1, place) - 1
  while end < text.count, text[end] != UInt8(ascii: "\n") { end += 1 }
  return min(end + 1, text.count)
}

/// The file without some of its lines, given in ascending order: they become empty lines, so that
/// the others keep their numbers.
package func leavingOut(_ lines: [Range<Int>], of file: [UInt8]) -> [UInt8] {
  var left: [UInt8] = []
  var end = 0
  for range in lines {
    left += file[end..<range.lowerBound]
    // The empty lines would belong to a block of text before them, which a comment ends.
    left.append(UInt8(ascii: "#"))
    for byte in file[range] where byte == UInt8(ascii: "\n") { left.append(byte) }
    end = range.upperBound
  }
  return left + file[end...]
}

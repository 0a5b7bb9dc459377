// The texts that spans point into: one number line, of which each file is a section.

/// The files of a pipeline.
package struct SourceMap: Sendable {
  package struct File: Sendable {
    package let path: String
    package let bytes: [UInt8]
    /// The offset of the file's first byte on the number line.
    package let start: Int
    /// True if lines of the file must not be shown, only locations in it.
    package let isSecret: Bool

    package var range: Range<Int> { start..<(start + bytes.count) }
  }

  package private(set) var files: [File] = []

  package init() {}

  /// Appends a file; returns the offset of its first byte. One byte is left free after each file,
  /// so that the end of a file has its own offset.
  @discardableResult
  package mutating func add(path: String, bytes: [UInt8], isSecret: Bool = false) -> Int {
    let start = files.last.map { $0.range.upperBound + 1 } ?? 0
    files.append(File(path: path, bytes: bytes, start: start, isSecret: isSecret))
    return start
  }

  /// The texts of all files at their offsets on the number line.
  package var joined: [UInt8] {
    var bytes: [UInt8] = []
    for file in files {
      while bytes.count < file.start { bytes.append(UInt8(ascii: "\n")) }
      bytes += file.bytes
    }
    return bytes
  }

  /// The index of the file that contains the offset. Needs at least one file. Logarithmic.
  package func fileIndex(at offset: Int) -> Int {
    precondition(!files.isEmpty, "a span needs a file to point into")
    var first = 0
    var end = files.count
    while first < end {
      let middle = (first + end) >> 1
      if files[middle].start <= offset { first = middle + 1 } else { end = middle }
    }
    return max(0, first - 1)
  }
}

/// A line and a column for people: both count from 1, the column in Unicode scalars.
package struct Position: Hashable, Sendable {
  package let path: String
  package let line: Int
  package let column: Int
}

extension SourceMap {
  /// The position of the start of a span. Reads the file up to there, so it is for one position, not for many.
  package func position(of span: Span) -> Position {
    let file = files[fileIndex(at: Int(span.start))]
    let place = LineTable(file.bytes, upTo: Int(span.start) - file.start)
      .position(at: Int(span.start) - file.start, in: file.bytes)
    return Position(path: file.path, line: place.line, column: place.column)
  }
}

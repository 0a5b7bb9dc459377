// The changes made by formatting, in the format of `diff -u`, which `patch` understands.

extension FormattedText {
  private struct Change {
    enum Kind { case kept, removed, added }

    let kind: Kind
    let text: ArraySlice<UInt8>
    var lacksNewline = false
  }

  /// The changes with three lines around each. `name` is the name of the file in the output.
  package func diff(named name: String) -> [UInt8] {
    let changes = changes
    var result = Array("--- \(name)\n+++ \(name)\n".utf8)
    var (oldLine, newLine) = (1, 1)
    var index = 0
    while index < changes.count {
      guard let (start, stop) = hunk(after: index, changes) else { break }
      let hunk = changes[start..<stop]
      for change in changes[index..<start] {
        if change.kind != .added { oldLine += 1 }
        if change.kind != .removed { newLine += 1 }
      }
      write(hunk, oldLine, newLine, to: &result)
      oldLine += hunk.count { $0.kind != .added }
      newLine += hunk.count { $0.kind != .removed }
      index = stop
    }
    return result
  }

  private static let context = 3

  /// The start and the end of the next group of changes; nil if there is none.
  private func hunk(after index: Int, _ changes: [Change]) -> (start: Int, stop: Int)? {
    guard let first = changes[index...].firstIndex(where: { $0.kind != .kept }) else { return nil }
    var last = first
    var next = first
    while next < changes.count, next - last <= 2 * Self.context + 1 {
      if changes[next].kind != .kept { last = next }
      next += 1
    }
    return (max(index, first - Self.context), min(changes.count, last + 1 + Self.context))
  }

  private func write(
    _ hunk: ArraySlice<Change>, _ oldLine: Int, _ newLine: Int, to result: inout [UInt8]
  ) {
    let oldCount = hunk.count { $0.kind != .added }
    let newCount = hunk.count { $0.kind != .removed }
    let old = "\(oldCount == 0 ? oldLine - 1 : oldLine),\(oldCount)"
    let new = "\(newCount == 0 ? newLine - 1 : newLine),\(newCount)"
    result += "@@ -\(old) +\(new) @@\n".utf8
    for change in hunk {
      switch change.kind {
      case .kept: result.append(Byte.space)
      case .removed: result.append(UInt8(ascii: "-"))
      case .added: result.append(UInt8(ascii: "+"))
      }
      result += change.text
      result.append(Byte.newline)
      if change.lacksNewline { result += "\\ No newline at end of file\n".utf8 }
    }
  }

  /// All lines, in order; in a row of lines that change, the old ones come first.
  private var changes: [Change] {
    var changes: [Change] = []
    var added: [Change] = []
    var next = 0
    for (number, old) in oldLines.enumerated() {
      let lacksNewline = !endedWithNewline && number == oldLines.count - 1
      var new: Change?
      if next < lines.count, lines[next].source == number {
        new = Change(kind: .added, text: lines[next].text[...])
        new?.lacksNewline = !endsWithNewline && next == lines.count - 1
        next += 1
      }
      if let new, new.text == old, new.lacksNewline == lacksNewline {
        changes += added + [Change(kind: .kept, text: old, lacksNewline: lacksNewline)]
        added = []
      } else {
        changes.append(Change(kind: .removed, text: old, lacksNewline: lacksNewline))
        if let new { added.append(new) }
      }
    }
    return changes + added
  }
}

// Moves the tokens of a text to the columns that docs/formatting.md prescribes. libyaml decides
// what is a token, and which lines a value has; comments are what is left between tokens.

/// One pass over a text.
struct Formatter {
  let text: UnsafeBufferPointer<UInt8>
  var layout = Layout()
  var stack = BlockStack()
  /// The block maps and lists around the last visible token.
  private var outerStack = BlockStack()
  private var previous: YAMLToken.Kind?
  /// The end of what has been written.
  private var position = 0
  /// The start of the line with `position`.
  private var lineStart = 0
  private var flowDepth = 0
  private var startsKey = false
  /// The number of columns by which the current line is moved, or inside brackets, the line with
  /// the outermost opening one.
  private(set) var shift = 0

  /// `text` must outlive the formatter; its lines end with line feeds.
  init(_ text: UnsafeBufferPointer<UInt8>) { self.text = text }

  mutating func format() throws(FormattingFailure) -> Layout {
    var tokens = TokenStream(text)
    while let token = tokens.next() {
      if flowDepth == 0 { note(token) }
      if token.kind == .end {
        writeGap(before: nil)
        layout.finish()
        return layout
      }
      if token.isVisible { write(token) }
    }
    throw .invalid
  }

  private mutating func note(_ token: YAMLToken) {
    if token.kind == .key { startsKey = true }
    stack.note(token.kind, oldColumn: column(of: token.start))
  }

  private mutating func write(_ token: YAMLToken) {
    writeGap(before: token)
    if layout.isAtLineStart {
      indent(token)
    } else {
      layout.append(spaces: space(before: token.kind))
    }
    if token.kind == .flowStart { flowDepth += 1 }
    if token.kind == .flowEnd { flowDepth -= 1 }
    if token.kind == .block {
      writeBlock(token)
    } else {
      writeLines(token)
    }
    move(to: token.end)
    previous = token.kind
    startsKey = false
    outerStack = stack
  }

  // MARK: Columns

  /// The number of bytes before an offset in its line.
  private func column(of offset: Int) -> Int {
    var start = offset
    while start > lineStart, text[start - 1] != Byte.newline { start -= 1 }
    return offset - start
  }

  private mutating func move(to offset: Int) {
    var start = offset
    while start > position, text[start - 1] != Byte.newline { start -= 1 }
    if start > position { lineStart = start }
    position = offset
  }

  /// Indents the first token of a line.
  private mutating func indent(_ token: YAMLToken) {
    let old = column(of: token.start)
    if flowDepth > 0 {
      layout.append(spaces: columnInBrackets(old))
    } else {
      let new = column(for: token.kind)
      shift = new - old
      layout.append(spaces: new)
    }
  }

  /// The column of the first token of a line in block context.
  private func column(for kind: YAMLToken.Kind) -> Int {
    switch kind {
    case .directive, .documentStart, .documentEnd: 0
    case .dash, .colon, .key: stack.newColumn
    case .mapStart, .listStart, .blockEnd, .flowStart, .flowEnd, .comma, .anchor, .alias, .plain,
      .quoted, .block, .end:
      startsKey ? stack.newColumn : stack.inside
    }
  }

  /// The column for a line inside brackets: it moves along with the line in which they begin. Some
  /// people put the last bracket below the key.
  private func columnInBrackets(_ old: Int) -> Int {
    old > stack.oldColumn
      ? max(old + shift, stack.inside) : max(0, min(old + shift, stack.newColumn))
  }

  // MARK: Between tokens

  private func space(before kind: YAMLToken.Kind) -> Int {
    switch (previous, kind) {
    case (.flowStart, _): 0
    // In `{a: , b}`, older YAML readers take a colon without a space for a part of the key.
    case (.colon, _): 1
    case (_, .comma), (_, .flowEnd): 0
    // The name of an alias or an anchor may contain a colon.
    case (.alias, .colon), (.anchor, .colon): 1
    case (.plain, .colon), (.quoted, .colon), (.flowEnd, .colon): 0
    default: 1
    }
  }

  /// Writes the comments and line ends before a token, or before the end of the text.
  private mutating func writeGap(before token: YAMLToken?) {
    let end = token?.start ?? text.count
    var start = position
    while start < end {
      switch text[start] {
      case Byte.newline:
        layout.endLine()
        start += 1
        lineStart = start
      case Byte.hash:
        var stop = start
        while stop < end, text[stop] != Byte.newline { stop += 1 }
        writeComment(start..<stop, before: token)
        start = stop
      default: start += 1
      }
    }
    position = start
  }

  private mutating func writeComment(_ range: Range<Int>, before token: YAMLToken?) {
    if layout.isAtLineStart {
      layout.append(spaces: commentColumn(range.lowerBound - lineStart, before: token))
    } else {
      var count = 0
      while text[range.lowerBound - 1 - count] == Byte.space { count += 1 }
      layout.append(spaces: max(count, 1))
    }
    layout.append(text[range.lowerBound..<trimmedEnd(range)])
  }

  /// The column of a comment on a line of its own: it belongs to the next token, or to a map or
  /// list that ends or goes on here, whichever begins nearest left of it.
  private func commentColumn(_ old: Int, before token: YAMLToken?) -> Int {
    if flowDepth > 0 { return columnInBrackets(old) }
    var best: (old: Int, new: Int)?
    if let token {
      let column = column(of: token.start)
      if column <= old { best = (column, self.column(for: token.kind)) }
    }
    for entry in stack.entries + outerStack.entries
    where entry.oldColumn <= old && entry.oldColumn > best?.old ?? -1 {
      best = (entry.oldColumn, entry.newColumn)
    }
    return best?.new ?? 0
  }

  // MARK: Values

  /// Writes a token that may continue on further lines, which are folded when they are read.
  private mutating func writeLines(_ token: YAMLToken) {
    var start = token.start
    while true {
      var end = start
      while end < token.end, text[end] != Byte.newline { end += 1 }
      if end == token.end {
        layout.append(text[start..<end])
        return
      }
      let trimmed = trimmedEnd(start..<end)
      // A blank behind a backslash counts, even at the end of a line.
      layout.append(text[start..<(token.kind == .quoted && trimmed > start ? end : trimmed)])
      layout.endLine()
      var next = end + 1
      while next < token.end, Byte.isBlank(text[next]) { next += 1 }
      let isEmpty = next < token.end && text[next] == Byte.newline
      layout.append(spaces: isEmpty ? 0 : max(next - end - 1 + shift, stack.inside))
      start = next
    }
  }

  /// The end of a range without the blanks at its end.
  func trimmedEnd(_ range: Range<Int>) -> Int {
    var end = range.upperBound
    while end > range.lowerBound, Byte.isBlank(text[end - 1]) { end -= 1 }
    return end
  }
}

// The block maps and lists around a token, with their columns before and after formatting.

/// The block maps and lists that are open, the outermost first.
struct BlockStack {
  enum Kind {
    case map, list
    /// A list whose dashes are below the first letter of its key. libyaml has no token for it.
    case flushList
  }

  struct Entry {
    let kind: Kind
    let oldColumn: Int
    let newColumn: Int
  }

  private(set) var entries: [Entry] = []

  static let width = 2

  /// The column of the innermost one before formatting.
  var oldColumn: Int { entries.last?.oldColumn ?? -1 }

  /// The column of the content of a key or an item of the innermost one.
  var inside: Int { entries.last.map { $0.newColumn + Self.width } ?? 0 }

  var newColumn: Int { entries.last?.newColumn ?? 0 }

  /// Takes account of a token in block context.
  mutating func note(_ kind: YAMLToken.Kind, oldColumn: Int) {
    switch kind {
    case .mapStart: open(.map, oldColumn)
    case .listStart: open(.list, oldColumn)
    case .dash where entries.last?.kind == .map: open(.flushList, self.oldColumn)
    case .key: closeFlushList()
    case .blockEnd:
      closeFlushList()
      _ = entries.popLast()
    case .dash, .directive, .documentStart, .documentEnd, .flowStart, .flowEnd, .comma, .colon,
      .anchor, .alias, .plain, .quoted, .block, .end:
      break
    }
  }

  private mutating func open(_ kind: Kind, _ oldColumn: Int) {
    entries.append(Entry(kind: kind, oldColumn: oldColumn, newColumn: inside))
  }

  private mutating func closeFlushList() {
    if entries.last?.kind == .flushList { entries.removeLast() }
  }
}

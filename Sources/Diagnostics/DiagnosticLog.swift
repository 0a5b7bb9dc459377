// Collects the diagnostics of a file: sorted, one for each location, bounded however bad the file
// is.

/// The faults found so far. If there are more than `limit`, those nearest to the start of the file
/// are kept.
package struct DiagnosticLog {
  package static let limit = 1000

  private var found: [Diagnostic] = []
  /// Locations from here on are beyond the limit.
  private var horizon = UInt32.max

  /// Makes all suggestions among names of the file, because there may be as many of them as faults.
  package let suggester = Suggester()

  package init() {}

  package var isEmpty: Bool { found.isEmpty }

  /// True once the limit has been exceeded: the rest of the file need not be read.
  package var isFull: Bool { horizon < UInt32.max }

  /// True if a fault at this location would be kept.
  package func hasRoom(at span: Span) -> Bool { span.start < horizon }

  /// Reports a fault. The diagnostic is made only if there is room for it. Of several at one
  /// location only the first counts, because a mistake that aliases repeat is one mistake.
  package mutating func report(at span: Span, _ make: (Span) -> Diagnostic) {
    guard hasRoom(at: span) else { return }
    found.append(make(span))
    if found.count == 2 * Self.limit { condense() }
  }

  package mutating func report(_ diagnostic: Diagnostic) {
    report(at: diagnostic.primary.span) { _ in diagnostic }
  }

  /// The diagnostics sorted by location.
  package mutating func sorted() -> [Diagnostic] {
    condense()
    return found
  }

  private mutating func condense() {
    var places: Set<Span> = []
    found = found.filter { places.insert($0.primary.span).inserted }
    let order = found.indices.sorted { left, right in
      (found[left].primary.span.start, left) < (found[right].primary.span.start, right)
    }
    found = order.prefix(Self.limit).map { found[$0] }
    if found.count == Self.limit, let last = found.last { horizon = last.primary.span.start }
  }
}

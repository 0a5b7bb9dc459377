// A short list of operations: it knows nothing of what it is for.

/// Operations in the order they were added. Most lists have at most one, which needs no memory of its
/// own.
struct OperationList {
  private var first: Operation?
  private var others: [Operation]?

  var isEmpty: Bool { first == nil }

  var count: Int { isEmpty ? 0 : 1 + (others?.count ?? 0) }

  /// A copy.
  var all: [Operation] { first.map { [$0] + (others ?? []) } ?? [] }

  mutating func append(_ operation: Operation) {
    if first == nil {
      first = operation
    } else if others == nil {
      others = [operation]
    } else {
      others?.append(operation)
    }
  }

  /// The list as it was; empty from now on.
  mutating func takeAll() -> OperationList {
    var taken = OperationList()
    swap(&taken, &self)
    return taken
  }

  /// Takes out an operation, however often it is there; returns how often it was.
  mutating func removeAll(of operation: Operation) -> Int {
    let kept = all.filter { $0 !== operation }
    defer { (first, others) = (kept.first, kept.count > 1 ? Array(kept.dropFirst()) : nil) }
    return count - kept.count
  }

  func forEach(_ body: (Operation) -> Void) {
    if let first { body(first) }
    guard let others else { return }
    for operation in others { body(operation) }
  }
}

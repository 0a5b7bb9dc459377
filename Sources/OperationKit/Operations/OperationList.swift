// Short lists of operations: those that are owned, and those that are only known. They know nothing of
// what they are for.

/// Operations in the order they were added. Most lists have at most one, which needs no memory of its
/// own. References are counted by hand: a list is walked more often than it is changed.
struct OperationList: ~Copyable {
  private var first: Unmanaged<Operation>?
  private var others: [Unmanaged<Operation>]?

  init() {}

  deinit { forEachReference { $0.release() } }

  var isEmpty: Bool { first == nil }

  var count: Int { isEmpty ? 0 : 1 + (others?.count ?? 0) }

  /// A copy.
  var all: [Operation] {
    var result: [Operation] = []
    forEachReference { result.append($0.takeUnretainedValue()) }
    return result
  }

  private func forEachReference(_ body: (Unmanaged<Operation>) -> Void) {
    guard let first else { return }
    body(first)
    guard let others else { return }
    for reference in others { body(reference) }
  }

  func forEach(_ body: (Operation) -> Void) {
    forEachReference { $0._withUnsafeGuaranteedRef(body) }
  }

  mutating func append(_ operation: Operation) {
    let reference = Unmanaged.passRetained(operation)
    if first == nil {
      first = reference
    } else if others == nil {
      others = [reference]
    } else {
      others?.append(reference)
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
    let old = all
    let kept = old.filter { $0 !== operation }
    self = OperationList()
    for other in kept { append(other) }
    return old.count - kept.count
  }
}

/// What few operations know of others. Under the engine's lock.
final class Ties {
  /// What the operation has waited for, once it has ended.
  var past = KnownOperations()
  /// Operations in queues that wait for this one, which is in none.
  var waiting = OperationList()
}

/// Operations that others may keep alive.
struct KnownOperations {
  private struct Known {
    weak var operation: Operation?
  }

  private weak var first: Operation?
  private var others: [Known]?

  init() {}

  init(_ list: borrowing OperationList) {
    var isFirst = true
    list.forEach {
      if isFirst {
        first = $0
        isFirst = false
      } else {
        others = (others ?? []) + [Known(operation: $0)]
      }
    }
  }

  /// Those that are alive.
  var all: [Operation] {
    [first].compactMap(\.self) + (others ?? []).compactMap(\.operation)
  }

  mutating func remove(_ operation: Operation) {
    if first === operation { first = nil }
    others?.removeAll { $0.operation === operation }
  }
}

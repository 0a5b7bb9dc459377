// Short lists of operations: those that are owned, and those that are only known. They do not know
// what they are for.

/// Operations in the order in which they were added, in one word. Most lists have at most one,
/// which needs no additional memory. References are counted manually, because a list is walked more
/// often than it is changed.
struct OperationList: ~Copyable {
  private enum Content {
    case none
    case one(Unmanaged<Operation>)
    case several([Unmanaged<Operation>])
  }

  private var content = Content.none

  init() {}

  deinit { forEachReference { $0.release() } }

  var isEmpty: Bool { if case .none = content { true } else { false } }

  var count: Int {
    switch content {
    case .none: 0
    case .one: 1
    case .several(let references): references.count
    }
  }

  /// A copy of the list.
  var all: [Operation] {
    var result: [Operation] = []
    forEachReference { result.append($0.takeUnretainedValue()) }
    return result
  }

  private func forEachReference(_ body: (Unmanaged<Operation>) -> Void) {
    switch content {
    case .none: break
    case .one(let reference): body(reference)
    case .several(let references): for reference in references { body(reference) }
    }
  }

  func forEach(_ body: (Operation) -> Void) {
    forEachReference { $0._withUnsafeGuaranteedRef(body) }
  }

  mutating func append(_ operation: Operation) {
    let reference = Unmanaged.passRetained(operation)
    switch content {
    case .none: content = .one(reference)
    case .one(let first): content = .several([first, reference])
    case .several(var references):
      content = .none  // so that the array has one owner and is not copied
      references.append(reference)
      content = .several(references)
    }
  }

  /// Empties the list and returns its contents.
  mutating func takeAll() -> OperationList {
    var taken = OperationList()
    swap(&taken, &self)
    return taken
  }

  /// Removes an operation, however often it is in the list; returns how often it was.
  mutating func removeAll(of operation: Operation) -> Int {
    let old = all
    let kept = old.filter { $0 !== operation }
    self = OperationList()
    for other in kept { append(other) }
    return old.count - kept.count
  }
}

/// What only a few operations know about others. Guarded by the engine's lock.
final class Ties {
  /// What the operation has waited for, once it has ended.
  var past = KnownOperations()
  /// Operations in queues that wait for this one, which is in no queue.
  var waiting = OperationList()
}

/// Operations that are not kept alive by this list.
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

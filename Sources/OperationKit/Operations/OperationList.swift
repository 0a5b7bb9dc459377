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

  func allSatisfy(_ predicate: (Operation) -> Bool) -> Bool {
    switch content {
    case .none: true
    case .one(let reference): reference._withUnsafeGuaranteedRef(predicate)
    case .several(let references):
      references.allSatisfy { $0._withUnsafeGuaranteedRef(predicate) }
    }
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
    let removed = Unmanaged.passUnretained(operation).toOpaque()
    return remove { $0.toOpaque() == removed }.count
  }

  /// Removes the operations for which the closure is true, and returns them.
  mutating func remove(where isRemoved: (Unmanaged<Operation>) -> Bool) -> [Operation] {
    var removed: [Operation] = []
    var content = Content.none
    swap(&content, &self.content)  // so that an array has one owner and is not copied
    func isKept(_ reference: Unmanaged<Operation>) -> Bool {
      if !isRemoved(reference) { return true }
      removed.append(reference.takeRetainedValue())
      return false
    }
    switch content {
    case .none: break
    case .one(let reference): if isKept(reference) { self.content = .one(reference) }
    case .several(var references):
      content = .none
      references.removeAll { !isKept($0) }
      if !references.isEmpty { self.content = .several(references) }
    }
    return removed
  }
}

/// Relations that only a few operations have to others. Guarded by the engine's lock.
final class Ties {
  /// The operations that this one has waited for, once it has ended.
  var past = KnownOperations()
  /// Operations in queues that wait for this one, which is in no queue; some may have ended.
  var waiting = OperationList()
  private var endedCount = 0
  /// The operations that this one has produced.
  private(set) var products: KnownOperations?

  func addProduct(_ product: Operation) {
    if products == nil { products = KnownOperations() }
    products?.append(product)
  }

  /// Removes the waiting operations that have not ended; the engine owns them. The others remain,
  /// because they must not be released under its lock.
  func takeWaiting() -> OperationList {
    var taken = waiting.takeAll()
    let ended = taken.remove { $0._withUnsafeGuaranteedRef { $0.number < 0 } }
    endedCount = ended.count
    for operation in ended { waiting.append(operation) }
    return taken
  }

  /// Notes that a waiting operation is about to end. Once most of them have, returns and forgets those.
  func noteEnd(of operation: Operation) -> [Operation] {
    endedCount += 1
    if waiting.isEmpty || 2 * endedCount <= waiting.count { return [] }
    endedCount = 0
    return waiting.remove { $0._withUnsafeGuaranteedRef { $0.number < 0 || $0 === operation } }
  }
}

/// Operations that are not kept alive by this list.
struct KnownOperations {
  private struct Known {
    weak var operation: Operation?
  }

  private static let leastLimit = 16
  private weak var first: Operation?
  private var others: [Known]?
  /// The number at which `append` forgets operations that are no longer alive.
  private var limit = KnownOperations.leastLimit

  init() {}

  init(_ list: borrowing OperationList) {
    var isFirst = true
    var others: [Known] = []
    others.reserveCapacity(list.count - 1)
    list.forEach {
      if isFirst { first = $0 } else { others.append(Known(operation: $0)) }
      isFirst = false
    }
    if !others.isEmpty { self.others = others }
  }

  /// The operations that are alive.
  var all: [Operation] {
    [first].compactMap(\.self) + (others ?? []).compactMap(\.operation)
  }

  mutating func append(_ operation: Operation) {
    var others = self.others ?? []
    self.others = nil  // so that the array has one owner and is not copied
    if others.count >= limit {
      others.removeAll { $0.operation == nil }
      limit = max(KnownOperations.leastLimit, 2 * others.count)
    }
    others.append(Known(operation: operation))
    self.others = others
  }

  mutating func remove(_ operation: Operation) {
    if first === operation { first = nil }
    others?.removeAll { $0.operation === operation }
  }
}

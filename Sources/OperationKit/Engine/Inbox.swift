// Operations on their way into the engine: a thread that adds one does not wait for the engine's
// lock, and the next thread that has the lock takes them over.

import Synchronization

/// Operations that were added and not taken over yet, the latest on top; each is linked to the one
/// before it and owned by the inbox.
struct Inbox: ~Copyable {
  private let top = Atomic<UInt>(0)

  /// Sequentially consistent with `attendance`: see `Engine.post`.
  var isEmpty: Bool { top.load(ordering: .sequentiallyConsistent) == 0 }

  /// Changes when something is put in, or taken.
  var mark: UInt { top.load(ordering: .relaxed) }

  func push(_ reference: Unmanaged<Operation>) {
    let address = UInt(bitPattern: reference.toOpaque())
    var old = top.load(ordering: .relaxed)
    while true {
      reference._withUnsafeGuaranteedRef { $0.neighbour = old }
      let (exchanged, original) = top.weakCompareExchange(
        expected: old, desired: address, successOrdering: .sequentiallyConsistent,
        failureOrdering: .relaxed)
      if exchanged { return }
      old = original
    }
  }

  /// Takes over all operations.
  func takeAll() -> Chain { Chain(latest: top.exchange(0, ordering: .acquiring)) }
}

/// Whether a queue is kept alive by the operations in it, and how many have gone into the inbox
/// without the engine's lock since then. So a thread that adds an operation does not have to keep
/// the queue alive for it.
struct Entrance: ~Copyable {
  /// Bit 0 means open. The bits above count the operations that went in.
  private let state = Atomic<Int>(0)

  /// Lets an operation in; returns how many went in before. Nil if it is closed: the operation is
  /// added under the lock, and opens it.
  func goIn() -> Int? {
    var old = state.load(ordering: .relaxed)
    while old & 1 == 1 {
      let (exchanged, original) = state.weakCompareExchange(
        expected: old, desired: old + 2, ordering: .relaxed)
      if exchanged { return old >> 1 }
      old = original
    }
    return nil
  }

  /// Opens the entrance. Must be called under the engine's lock.
  func open() { state.store(1, ordering: .relaxed) }

  /// Closes the entrance, unless more went in than have been taken over. Must be called under the engine's lock.
  func close(after count: Int) -> Bool {
    state.compareExchange(expected: 1 + 2 * count, desired: 0, ordering: .relaxed).exchanged
  }
}

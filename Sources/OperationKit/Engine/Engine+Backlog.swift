// Plain operations, which the scheduler only counts: they wait in the backlog of their queue, start
// in the order in which they were added, and are listed here while they run.

internal import Scheduling

/// Plain operations that have started and not ended.
struct StartedOperations {
  private struct Entry {
    var reference: Unmanaged<Operation>?
    /// The number of operations that had been started before.
    var order = 0
  }

  private var entries: [Entry] = []
  private var vacancies: [Int32] = []
  private var count = 0

  /// Lists an operation; returns a negative number by which it is found again, never -1.
  mutating func add(_ reference: Unmanaged<Operation>) -> Int32 {
    count &+= 1
    let entry = Entry(reference: reference, order: count)
    if let place = vacancies.popLast() {
      entries[Int(place)] = entry
      return -2 - place
    }
    entries.append(entry)
    return -1 - Int32(entries.count)
  }

  mutating func remove(_ number: Int32) {
    entries[Int(-2 - number)].reference = nil
    vacancies.append(-2 - number)
  }

  /// The operations of a queue, in the order in which they were started. Linear in all that have started.
  func all(ofQueue queueNumber: Int) -> [Operation] {
    entries.filter { $0.reference != nil }.sorted { $0.order < $1.order }
      .compactMap { $0.reference?.takeUnretainedValue() }
      .filter { Int($0.queueNumber) == queueNumber }
  }
}

extension Engine {
  /// Takes the next operation of a backlog, to be started. Nil if it is no longer plain: the
  /// scheduler knows it now.
  func takePlain(of queue: QueueID) -> Unmanaged<Operation>? {
    guard let reference = queues[queue.index].backlog.first else {
      preconditionFailure("the scheduler counts what is in the backlog")
    }
    guard reference._withUnsafeGuaranteedRef({ $0.isPlain }) else {
      scheduler.pointee.finishCounted(in: queue)
      mix(queue.index)
      return nil
    }
    queues[queue.index].backlog.popFirst()
    reference._withUnsafeGuaranteedRef { $0.number = started.add(reference) }
    return reference
  }

  /// Lets the scheduler know every operation that is added to the queue until it is empty, and all
  /// that have not started: the order in which they were added does not suffice any more.
  func mix(_ queueNumber: Int) {
    let queue = QueueID(queueNumber)
    queues[queueNumber].isMixed = true
    scheduler.pointee.removeCounted(from: queue)
    while let reference = queues[queueNumber].backlog.popFirst() {
      admit(reference, to: queue, asBarrier: false)
    }
  }

  /// Must be called when an operation is about to be plain no longer; does nothing if it is in no
  /// queue. One that is still on its way into a queue finds it mixed, or `takePlain` finds out.
  func distinguish(_ operation: Operation) {
    if !operation.has(.queued) || operation.has(.retired) || operation.number < -1 { return }
    let queueNumber = Int(operation.queueNumber)
    if !queues[queueNumber].isMixed { mix(queueNumber) }
  }

  func startedOperations(of queueNumber: Int) -> [Operation] { started.all(ofQueue: queueNumber) }
}

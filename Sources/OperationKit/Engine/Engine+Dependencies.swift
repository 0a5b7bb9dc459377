// Changes to existing operations: their dependencies, their priority, cancellation.

import Glibc
internal import Scheduling
import Synchronization

extension Operation {
  /// Takes a lock of one bit on the dependencies of an operation that is in no queue: creating
  /// operations does not need the engine's lock. False if it is in a queue.
  func lockAwaited() -> Bool {
    var old = bits
    while !old.contains(.queued) {
      if old.contains(.changing) {
        sched_yield()
        old = bits
        continue
      }
      let (exchanged, original) = status.weakCompareExchange(
        expected: old.rawValue, desired: old.union([.changing, .mayWait]).rawValue,
        ordering: .acquiringAndReleasing)
      if exchanged { return true }
      old = Status(rawValue: original)
    }
    return false
  }

  /// Records that the operation waits for another; false if it is in a queue.
  func awaitsBeforeQueueing(_ dependency: Operation) -> Bool {
    guard lockAwaited() else { return false }
    if bits.isDisjoint(with: [.finished, .executing]) { awaited.append(dependency) }
    clear(.changing)
    return true
  }

  /// Records that the operation is now in a queue; returns the previous status.
  @discardableResult
  func becomeQueued(in queue: QueueID) -> Status {
    if type(of: self) != BlockOperation.self { takePriorityFromSubclass() }
    queueNumber = queue.rawValue
    var old = bits
    while true {
      demand(
        old.isDisjoint(with: [.queued, .executing, .finished]),
        "an operation is added that is in a queue, executing or finished: '\(self)'")
      if old.contains(.changing) {
        sched_yield()
        old = bits
        continue
      }
      let (exchanged, original) = status.weakCompareExchange(
        expected: old.rawValue, desired: old.union(.queued).rawValue,
        ordering: .acquiringAndReleasing)
      if exchanged { return old }
      old = Status(rawValue: original)
    }
  }

  /// Gives access to the dependencies of the operation, in a queue or not. Must be called under the engine's lock.
  func withAwaited<Value: ~Copyable>(_ body: (inout OperationList) -> Value) -> Value {
    let isLocked = lockAwaited()
    defer { if isLocked { clear(.changing) } }
    return body(&awaited)
  }
}

extension Engine {
  func addDependency(_ dependency: Operation, to operation: Operation) {
    enter()
    if operation.bits.isDisjoint(with: [.finished, .executing]) {
      distinguish(operation)
      operation.set(.mayWait)
      operation.withAwaited { $0.append(dependency) }
      if operation.number >= 0, canWait(operation) {
        resume(operation)
        link(operation, to: dependency)
        searchForCycle(through: OperationID(Int(operation.number)))
      }
    }
    unlockAndWake()
  }

  private func canWait(_ operation: Operation) -> Bool {
    if operation.has(.cancelled) { return false }
    let id = OperationID(Int(operation.number))
    return !scheduler.pointee.isRunning(id)
  }

  func removeDependency(_ dependency: Operation, from operation: Operation) {
    enter()
    let count = operation.withAwaited { $0.removeAll(of: dependency) }
    operation.ties?.past.remove(dependency)
    if operation.number >= 0, canWait(operation) {
      let id = OperationID(Int(operation.number))
      if dependency.number >= 0 {
        let other = OperationID(Int(dependency.number))
        for _ in 0..<count { scheduler.pointee.removeEdge(from: other, to: id) }
      } else if let ties = dependency.ties {
        for _ in 0..<ties.waiting.removeAll(of: operation) { scheduler.pointee.release(id) }
      }
    } else {
      _ = dependency.ties?.waiting.removeAll(of: operation)
    }
    unlockAndWake()
    withExtendedLifetime(dependency) {}
  }

  func dependencies(of operation: Operation) -> [Operation] {
    locked { operation.withAwaited { $0.all } + (operation.ties?.past.all ?? []) }
  }

  func dependenciesAreFinished(of operation: Operation) -> Bool {
    enter()
    if operation.number >= 0 {
      defer { lock.unlock() }
      return !scheduler.pointee.isWaiting(OperationID(Int(operation.number)))
    }
    let asked = operation.withAwaited { unfinished(in: $0) }
    lock.unlock()
    return asked?.allSatisfy { $0.isFinished } ?? false
  }

  /// The operations in the list, and their products, that only they themselves can say have
  /// finished; nil if one of them certainly has not.
  private func unfinished(in list: borrowing OperationList) -> [Operation]? {
    var asked: [Operation] = []
    let isPossible = list.allSatisfy { operation in
      collect(operation, &asked)
        && operation.ties?.products?.all.allSatisfy { collect($0, &asked) } ?? true
    }
    return isPossible ? asked : nil
  }

  private func collect(_ operation: Operation, _ asked: inout [Operation]) -> Bool {
    if operation.has(.retired) { return true }
    if !operation.isSubclassed { return !operation.bits.isDisjoint(with: [.finished, .ending]) }
    asked.append(operation)
    return true
  }

  func priorityChanged(of operation: Operation) {
    enter()
    distinguish(operation)
    if operation.number >= 0 {
      scheduler.pointee.setPriority(operation.rank, of: OperationID(Int(operation.number)))
    }
    unlockAndWake()
  }

  /// Lets a cancelled operation ignore its dependencies, unless it is a barrier.
  func cancelled(_ operation: Operation) {
    enter()
    if operation.number >= 0 {
      ignoreDependencies(of: operation)
      resume(operation)
    }
    unlockAndWake()
  }

  func ignoreDependencies(of operation: Operation) {
    if operation.has(.isBarrier) { return }
    scheduler.pointee.ignoreDependencies(of: OperationID(Int(operation.number)))
  }
}

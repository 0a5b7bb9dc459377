// The unit of work: what it is, what it waits for, its state. Operation+Life.swift starts and ends
// it; the engine runs it.

import Glibc
internal import Scheduling
import Synchronization

/// A unit of work that can wait for others, be cancelled, and be run by an ``OperationQueue``.
///
/// Subclass it: a synchronous operation overrides ``main()``; an asynchronous one derives from
/// ``AsyncOperation``, or overrides ``start()``, ``isExecuting`` and ``isFinished`` and announces
/// changes by ``willChangeValue(forKey:)`` and ``didChangeValue(forKey:)``.
open class Operation: @unchecked Sendable {  // mutable state is atomic or under a lock
  /// The states of an operation, in the order in which it goes through them.
  ///
  /// A cancelled operation also finishes: ``Operation/states`` reports both.
  public enum State: Int, Sendable, Comparable, CaseIterable {
    /// The operation waits for dependencies.
    case waiting
    /// Nothing keeps the operation from starting.
    case ready
    /// The operation has started.
    case executing
    /// The operation was told to stop.
    case cancelled
    /// The operation has ended, in any way.
    case finished

    /// Whether a state comes before another.
    public static func < (left: State, right: State) -> Bool { left.rawValue < right.rawValue }
  }

  /// Decides which of the ready operations of a queue goes first.
  public enum QueuePriority: Int, Sendable {
    /// The operation goes after all others.
    case veryLow = -8
    /// The operation goes after normal ones.
    case low = -4
    /// The default priority.
    case normal = 0
    /// The operation goes before normal ones.
    case high = 4
    /// The operation goes before all others.
    case veryHigh = 8
  }

  /// How an operation reacts to the way its dependencies ended.
  public enum DependencyPolicy: Sendable {
    /// The operation runs once its dependencies have finished in any way. This is the default, as in Foundation.
    case finished
    /// The operation is cancelled, with an ``OperationError/dependencyFailed(_:)``, if one of its
    /// dependencies was cancelled or has an error. This holds for operations in queues.
    case succeeded
  }

  let status = Atomic<UInt32>(0)
  fileprivate let priority = Atomic<Int8>(0)
  private let attachmentsLock = ByteLock()
  /// The number in the scheduler, if that knows the operation. If it only counts it: below -1 once
  /// the operation has started, see `StartedOperations`. Otherwise -1. Guarded by the engine's
  /// lock.
  @exclusivity(unchecked) var number: Int32 = -1
  /// The number of its queue. Set before the operation is marked as `Status.queued`, and never
  /// again.
  @exclusivity(unchecked) var queueNumber: Int32 = -1
  /// The operation below it in the inbox, or after it in a chain. It belongs to the owner.
  @exclusivity(unchecked) var neighbour: UInt = 0
  /// The dependencies; emptied when the operation ends. Guarded by the engine's lock, or by
  /// `Status.changing` while the operation is in no queue.
  @exclusivity(unchecked) var awaited = OperationList()
  /// The ties; nil until there are any. Guarded by the engine's lock.
  @exclusivity(unchecked) private(set) var ties: Ties?
  @exclusivity(unchecked) private var attachments: OperationAttachments?

  /// Makes an operation that does nothing.
  public init() {}

  deinit {
    if !awaited.isEmpty { Operation.release(&awaited) }
  }

  /// Releases operations one by one. A chain of a million must not be released recursively, because
  /// that needs a stack as deep.
  private static func release(_ operations: inout OperationList) {
    var left = operations.takeAll().all
    while var operation = left.popLast() {
      // A weak reference may become a strong one at any time, so what it waits for is locked.
      if isKnownUniquelyReferenced(&operation), !operation.awaited.isEmpty,
        operation.lockAwaited()
      {
        let awaited = operation.awaited.takeAll()
        operation.clear(.changing)
        left.append(contentsOf: awaited.all)
      }
    }
  }

  /// The work. Does nothing unless it is overridden.
  open func main() {}

  /// Runs the operation on the calling thread: the checks, ``main()``, and the end.
  ///
  /// A queue calls it for you. Call it only for an operation that is in no queue; it traps if the
  /// operation is not ready, executing or finished. A cancelled one finishes without `main`. An
  /// override need not call `super`; if it does, and its own ``isFinished`` is then false, the
  /// operation continues until it announces that it has finished.
  open func start() { begin { self.finishUnlessDenied() } }

  /// Ends an operation that was cancelled before it started.
  func endUnstarted() { finishUnlessDenied() }

  /// Tells the operation to stop.
  ///
  /// This sets ``isCancelled``; running code must check it. In a queue, an operation that has not
  /// started no longer waits for its dependencies, and finishes without ``main()``; only a barrier
  /// still waits for what was added before it. Outside a queue
  /// it finishes when it is started. After the end it has no effect.
  open func cancel() { becomeCancelled() }

  /// Whether the operation was told to stop.
  open var isCancelled: Bool { has(.cancelled) }

  /// Whether the work is in progress.
  open var isExecuting: Bool {
    let bits = bits
    return bits.contains(.executing) && bits.isDisjoint(with: [.finished, .ending])
  }

  /// Whether the work is done, or will never be.
  open var isFinished: Bool { !bits.isDisjoint(with: [.finished, .ending]) }

  /// Whether nothing prevents the operation from starting: its dependencies have finished, or it is
  /// cancelled.
  open var isReady: Bool {
    if !bits.isDisjoint(with: [.chosen, .cancelled, .executing, .finished]) { return true }
    return Engine.shared.dependenciesAreFinished(of: self)
  }

  /// Whether ``start()`` returns before the work is done. Its value has no effect.
  open var isAsynchronous: Bool { false }

  /// The older name of ``isAsynchronous``.
  open var isConcurrent: Bool { isAsynchronous }

  /// A name for people; it appears in messages.
  open var name: String? {
    get { readAttachments { $0.name } ?? nil }
    set { withAttachments { $0.name = newValue } }
  }

  /// Decides which of the ready operations of a queue goes first. It can be changed until it starts, and never goes
  /// before readiness.
  open var queuePriority: QueuePriority {
    get { priorityLevel }
    set { priorityLevel = newValue }
  }

  /// How important ``main()`` is. The completion block is not affected.
  open var qualityOfService: QualityOfService {
    get { readAttachments { $0.qualityOfService } ?? .default }
    set {
      withAttachments { $0.qualityOfService = newValue }
      set(.hasTerms)
    }
  }

  /// The share of the processor that ``main()`` gets when there is too little, from 0.0 to 1.0; 0.5
  /// by default. The completion block is not affected.
  ///
  /// On Linux this changes the nice value of the thread, by up to 19 beside that of the process; values above
  /// 0.5 need permission.
  open var threadPriority: Double {
    get { readAttachments { $0.effectivePriority } ?? 0.5 }
    set {
      withAttachments { $0.threadPriority = min(max(newValue, 0), 1) }
      set(.hasTerms)
    }
  }

  /// A block that runs once, after the end and before any dependent starts; it is released when it
  /// has run.
  ///
  /// Meanwhile the operation still has its slot, and its queue counts it: the block must not wait
  /// for the queue, or for an operation that waits for this one or for its slot.
  ///
  /// Setting one on an executing or finished operation traps.
  open var completionBlock: (@Sendable () -> Void)? {
    get { readAttachments { $0.completionBlock } ?? nil }
    set { setCompletionBlock(newValue) }
  }

  /// The operations that this one waits for, in the order in which they were added. Once it has
  /// ended it keeps none of them alive, and the list has those that are still alive; but an unnamed
  /// `BlockOperation` no longer lists unnamed ones.
  open var dependencies: [Operation] {
    var known: Set<ObjectIdentifier> = []
    return Engine.shared.dependencies(of: self).filter {
      known.insert(ObjectIdentifier($0)).inserted
    }
  }

  /// Makes the operation wait for another, in any queue. Call it before the operation starts.
  open func addDependency(_ operation: Operation) {
    if operation.isDistinct { set(.remembers) }
    if !awaitsBeforeQueueing(operation) {
      Engine.shared.addDependency(operation, to: self)
    } else if isSubclassed {
      askLater(after: operation)
    }
  }

  /// Stops the operation from waiting for another.
  open func removeDependency(_ operation: Operation) {
    Engine.shared.removeDependency(operation, from: self)
    if isSubclassed {
      withAttachments { $0.hasRemovedDependencies = true }
      askIfNothingIsLeft()
    }
  }

  /// Waits until the operation has finished. That can be before its queue has forgotten it: for
  /// another moment its completion block may run, ``OperationQueue/operationCount`` may count it, and
  /// ``OperationQueue/progress`` may not; with
  /// ``OperationQueue/waitUntilAllOperationsAreFinished()`` that, too, is over.
  ///
  /// It blocks the calling thread. In a task, await `finished()` instead.
  open func waitUntilFinished() { wait() }

  /// Must be called before a subclass changes `isExecuting`, `isFinished` or `isReady`; it exists
  /// for compatibility and does nothing.
  open func willChangeValue(forKey key: String) {}

  /// Must be called after a subclass has changed `isExecuting`, `isFinished` or `isReady`.
  ///
  /// All three are examined, whatever the key.
  open func didChangeValue(forKey key: String) { examine() }

  /// A number for hash tables; equal objects have the same one.
  open var hash: Int { ObjectIdentifier(self).hashValue }

  /// Whether this is the same operation.
  open func isEqual(_ object: Any?) -> Bool { object as AnyObject? === self }

  /// The name, or the type.
  open var description: String { name ?? "\(type(of: self))" }

  /// The text that a debugger shows: the ``description``, unless it is overridden.
  open var debugDescription: String { description }
}

extension Operation {
  var bits: Status { Status(rawValue: status.load(ordering: .acquiring)) }

  func has(_ bit: Status) -> Bool { bits.contains(bit) }

  /// Sets the bits and returns the previous status.
  @discardableResult
  func set(_ bits: Status) -> Status {
    Status(rawValue: status.bitwiseOr(bits.rawValue, ordering: .acquiringAndReleasing).oldValue)
  }

  /// Clears the bits and returns the previous status.
  @discardableResult
  func clear(_ bits: Status) -> Status {
    Status(rawValue: status.bitwiseAnd(~bits.rawValue, ordering: .acquiringAndReleasing).oldValue)
  }

  /// Must be called under the engine's lock.
  func makeTies() -> Ties {
    if let ties { return ties }
    let new = Ties()
    ties = new
    return new
  }

  /// Reads or changes something under the operation's own lock, as `withAttachments` does.
  func withOwnLock<Value>(_ body: () -> Value) -> Value { attachmentsLock.locked(body) }

  /// Reads or changes the attachments, which few operations have. No user code may run in it, not
  /// even by releasing something.
  func withAttachments<Value>(_ body: (OperationAttachments) -> Value) -> Value {
    attachmentsLock.locked {
      if let attachments { return body(attachments) }
      let new = OperationAttachments()
      attachments = new
      set(.hasAttachments)
      return body(new)
    }
  }

  /// Like `withAttachments`, but nil if there are none.
  func readAttachments<Value>(_ body: (OperationAttachments) -> Value) -> Value? {
    attachmentsLock.locked { attachments.map(body) }
  }
}

/// The members of operations that Foundation's do not have.
///
/// It is a protocol so that a subclass which declares its own `state` or `error`, as many do, still
/// compiles and uses its own one.
public protocol OperationProtocol: Operation {}

extension Operation: OperationProtocol {}

extension OperationProtocol {
  /// The state of the operation.
  public var state: Operation.State {
    if isFinished { return .finished }
    if isCancelled { return .cancelled }
    if isExecuting { return .executing }
    return isReady ? .ready : .waiting
  }

  /// How the operation reacts to dependencies that were cancelled or have an error. Set it before
  /// the operation is added to a queue.
  public var dependencyPolicy: Operation.DependencyPolicy {
    get { has(.needsSuccess) ? .succeeded : .finished }
    set {
      if newValue == .succeeded { set(.needsSuccess) } else { clear(.needsSuccess) }
    }
  }
}

extension Operation {
  /// The priority, for the scheduler.
  var rank: Int16 { Int16(priority.load(ordering: .relaxed)) }

  /// True if only the order in which operations were added decides when it starts, and no code of its own.
  var isPlain: Bool {
    type(of: self) == BlockOperation.self && rank == 0 && bits.isDisjoint(with: .distinguishing)
  }

  /// Takes over the priority if a subclass has overridden it, because no user code is called under
  /// the engine's lock.
  func takePriorityFromSubclass() {
    let level = Int8(queuePriority.rawValue)
    if level != priority.load(ordering: .relaxed) { priority.store(level, ordering: .relaxed) }
  }

  var priorityLevel: QueuePriority {
    get { QueuePriority(rawValue: Int(priority.load(ordering: .relaxed))) ?? .normal }
    set {
      priority.store(Int8(newValue.rawValue), ordering: .relaxed)
      if has(.queued) { Engine.shared.priorityChanged(of: self) }
    }
  }
}

extension Operation: Hashable, CustomStringConvertible, CustomDebugStringConvertible {
  /// Whether two operations are the same, as ``isEqual(_:)`` says.
  public static func == (left: Operation, right: Operation) -> Bool { left.isEqual(right) }

  /// Feeds ``hash`` into the hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

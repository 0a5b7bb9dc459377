// A queue of operations: what it is and how it can be changed. What runs them is the engine.

public import Dispatch
internal import Scheduling

/// Runs operations: as many at once as its width allows, ready ones first by priority, then in the
/// order they were added.
///
/// A queue stays alive while it has operations, even if nobody else keeps it.
open class OperationQueue: @unchecked Sendable {  // what changes is under a lock
  /// The width of a queue that leaves it to the machine: one operation for each processor, more
  /// while they block.
  public static let defaultMaxConcurrentOperationCount = -1

  let id: QueueID
  let entrance = Entrance()
  /// Nil: what it was made with.
  private let label = Guarded<String?>(nil)
  /// It belongs to the process: nothing changes its name, width or importance, or suspends it.
  private let isMain: Bool
  private let level = Guarded(QualityOfService.default)
  private let suspended = Guarded(false)
  private let width = Guarded(OperationQueue.defaultMaxConcurrentOperationCount)

  /// Makes an empty queue.
  public init() {
    id = Engine.shared.addLane()
    isMain = false
  }

  private init(onMain queue: DispatchQueue) {
    id = Engine.shared.addLane()
    isMain = true
    Engine.shared.setWidth(1, of: id)
    Engine.shared.setDispatchQueue(queue, of: id)
  }

  deinit { Engine.shared.removeLane(id) }

  private static let mainQueue = OperationQueue(onMain: .main)

  /// The queue whose operations run on the main thread, one at a time. It needs a main thread that
  /// serves Dispatch's main queue: a run loop, `dispatchMain()`, or an async `main`.
  ///
  /// Its name, width, suspension, quality of service and underlying queue cannot be changed: setting them
  /// has no effect.
  open class var main: OperationQueue { mainQueue }

  /// The queue whose operation runs on the calling thread; on the main thread, if none does,
  /// ``main``.
  open class var current: OperationQueue? { CurrentQueue.value }

  /// A name for people; one with the queue's address unless it is set, an empty one if it is set to
  /// nil.
  open var name: String? {
    get { label.withLock { $0 } ?? nameAtFirst }
    set { if !isMain { label.withLock { $0 = newValue ?? "" } } }
  }

  private var nameAtFirst: String {
    isMain
      ? "NSOperationQueue Main Queue"
      : "NSOperationQueue \(Unmanaged.passUnretained(self).toOpaque())"
  }

  /// How important the operations are that say nothing of it themselves. Kept, with no effect of
  /// its own: see ``Operation/qualityOfService``.
  open var qualityOfService: QualityOfService {
    get { isMain ? .userInteractive : level.withLock { $0 } }
    set { if !isMain { level.withLock { $0 = newValue } } }
  }

  /// How many operations run at once: any number, 1 for one after the other, 0 for none, or
  /// ``defaultMaxConcurrentOperationCount``. It can be changed at any time; what runs goes on.
  open var maxConcurrentOperationCount: Int {
    get { isMain ? 1 : width.withLock { $0 } }
    set {
      if isMain { return }
      demand(newValue >= -1, "a queue is \(newValue) wide, wanted: 0 or more, or -1")
      width.withLock {
        $0 = newValue
        Engine.shared.setWidth(newValue, of: id)
      }
    }
  }

  /// Whether no operation is started. What runs goes on.
  open var isSuspended: Bool {
    get { suspended.withLock { $0 } }
    set {
      if isMain { return }
      suspended.withLock {
        $0 = newValue
        Engine.shared.setSuspended(newValue, of: id)
      }
    }
  }

  /// Where operations are started, instead of the threads of the library. It can be set while the
  /// queue is empty.
  open var underlyingQueue: DispatchQueue? {
    get { Engine.shared.dispatchQueue(of: id) }
    set { if !isMain { Engine.shared.setDispatchQueue(newValue, of: id) } }
  }

  /// The operations that have not ended, in the order they were added. Linear.
  open var operations: [Operation] { Engine.shared.operations(of: id) }

  /// How many operations have not ended.
  open var operationCount: Int { Engine.shared.operationCount(of: id) }

  /// Counts operations that end, once its ``Progress/totalUnitCount`` is set.
  open var progress: Progress { Engine.shared.progress(of: id) }

  /// Adds an operation. It traps if that is in a queue already, executing or finished.
  open func addOperation(_ operation: Operation) { Engine.shared.add(operation, to: self) }

  /// Adds operations, in order, in one step; waits until they have finished if `wait`.
  open func addOperations(_ operations: [Operation], waitUntilFinished wait: Bool) {
    Engine.shared.add(operations, to: self)
    if wait { for operation in operations { operation.waitUntilFinished() } }
  }

  /// Adds a block, by ``addOperation(_:)-(Operation)``: who overrides that sees blocks too.
  open func addOperation(_ block: @escaping @Sendable () -> Void) {
    addOperation(BlockOperation(block: block))
  }

  /// Adds a block. An error that it throws is kept on its operation and stops nothing.
  open func addOperation(_ block: @escaping @Sendable () throws -> Void) {
    addOperation(BlockOperation(block: block))
  }

  /// Adds a block that runs alone: after all that was added before it, before all that is added
  /// after it.
  open func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) {
    Engine.shared.add(BlockOperation(block: barrier), to: self, asBarrier: true)
  }

  /// Cancels all operations that have not ended.
  open func cancelAllOperations() {
    for operation in Engine.shared.operations(of: id) { operation.cancel() }
  }

  /// Waits until the queue is empty; what is added meanwhile counts. It blocks the calling thread.
  open func waitUntilAllOperationsAreFinished() {
    Engine.shared.waitUntilEmpty(id)
  }

  /// A number for hash tables; objects that are equal have the same.
  open var hash: Int { ObjectIdentifier(self).hashValue }

  /// Whether this is the same queue.
  open func isEqual(_ object: Any?) -> Bool { object as AnyObject? === self }

  /// Its name.
  open var description: String { name ?? "\(type(of: self))" }

  /// What a debugger shows: the ``description``, unless it is overridden.
  open var debugDescription: String { description }
}

extension OperationQueue: Hashable, CustomStringConvertible, CustomDebugStringConvertible {
  /// Whether two are the same, as ``isEqual(_:)`` says.
  public static func == (left: OperationQueue, right: OperationQueue) -> Bool {
    left.isEqual(right)
  }

  /// Feeds ``hash``.
  public func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

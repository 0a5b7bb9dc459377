// A queue of operations: what it is and how it can be changed. The engine runs the operations.

public import Dispatch
internal import Scheduling

/// Runs operations: as many at the same time as its width allows, ready ones first by priority,
/// then in the order in which they were added.
///
/// A queue stays alive while it has operations, even if nothing else keeps it alive.
open class OperationQueue: @unchecked Sendable {  // mutable state is under a lock
  /// The width of a queue that leaves it to the machine: one operation for each processor, more
  /// while they block.
  public static let defaultMaxConcurrentOperationCount = -1

  let id: QueueID
  let entrance = Entrance()
  /// The name; nil means the one that it was made with.
  private let label = Guarded<String?>(nil)
  /// True for the main queue, which belongs to the process: nothing changes its name, width or
  /// importance, or suspends it.
  private let isMain: Bool
  private let level = Guarded(QualityOfService.default)

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
  /// Its name, width, suspension, quality of service and underlying queue cannot be changed:
  /// setting them has no effect.
  open class var main: OperationQueue { mainQueue }

  /// The queue whose operation runs on the calling thread; on the main thread, if none does,
  /// ``main``.
  open class var current: OperationQueue? { CurrentQueue.value }

  /// A name for people. By default it contains the queue's address; if it is set to nil, it is
  /// empty.
  open var name: String? {
    get { label.withLock { $0 } ?? nameAtFirst }
    set { if !isMain { label.withLock { $0 = newValue ?? "" } } }
  }

  private var nameAtFirst: String {
    isMain
      ? "NSOperationQueue Main Queue"
      : "NSOperationQueue \(Unmanaged.passUnretained(self).toOpaque())"
  }

  /// The importance of operations that do not set their own. It is stored and has no effect: see
  /// ``Operation/qualityOfService``.
  open var qualityOfService: QualityOfService {
    get { isMain ? .userInteractive : level.withLock { $0 } }
    set { if !isMain { level.withLock { $0 = newValue } } }
  }

  /// The number of operations that run at the same time: any number, 1 for one after the other, 0
  /// for none, or ``defaultMaxConcurrentOperationCount``. It can be changed at any time; running
  /// operations continue.
  open var maxConcurrentOperationCount: Int {
    get { Engine.shared.width(of: id) }
    set {
      if isMain { return }
      demand(newValue >= -1, "a queue is \(newValue) wide, wanted: 0 or more, or -1")
      Engine.shared.setWidth(newValue, of: id)
    }
  }

  /// Whether no operation is started. Running operations continue.
  open var isSuspended: Bool {
    get { Engine.shared.isSuspended(id) }
    set { if !isMain { Engine.shared.setSuspended(newValue, of: id) } }
  }

  /// The Dispatch queue on which operations are started, instead of the threads of the library. It
  /// can be set while the queue is empty.
  open var underlyingQueue: DispatchQueue? {
    get { Engine.shared.dispatchQueue(of: id) }
    set { if !isMain { Engine.shared.setDispatchQueue(newValue, of: id) } }
  }

  /// The operations that have not ended, in the order they were added. Linear.
  open var operations: [Operation] { Engine.shared.operations(of: id) }

  /// The number of operations that have not ended.
  open var operationCount: Int { Engine.shared.operationCount(of: id) }

  /// Counts operations that end, once its ``Progress/totalUnitCount`` is set.
  ///
  /// An operation is counted when it leaves the queue, after its completion block. That can be after
  /// ``Operation/waitUntilFinished()`` has returned, so that a total that is set then counts it, too. Wait with
  /// ``waitUntilAllOperationsAreFinished()`` before a total that is for later operations alone.
  open var progress: Progress { Engine.shared.progress(of: id) }

  /// Adds an operation. This traps if it is already in a queue, executing or finished.
  open func addOperation(_ operation: Operation) { Engine.shared.add(operation, to: self) }

  /// Adds operations, in order, in one step; waits until they have finished if `wait`, each by
  /// ``Operation/waitUntilFinished()``: the queue may count them for another moment.
  open func addOperations(_ operations: [Operation], waitUntilFinished wait: Bool) {
    Engine.shared.add(operations, to: self)
    if wait { for operation in operations { operation.waitUntilFinished() } }
  }

  /// Adds a block, by ``addOperation(_:)-(Operation)``: a subclass that overrides that sees blocks
  /// too.
  open func addOperation(_ block: @escaping @Sendable () -> Void) {
    addOperation(BlockOperation(block: block))
  }

  /// Adds a block. An error that it throws is kept on its operation and stops nothing.
  open func addOperation(_ block: @escaping @Sendable () throws -> Void) {
    addOperation(BlockOperation(block: block))
  }

  /// Adds a block that runs by itself: after everything that was added before it, and before
  /// everything that is added after it.
  open func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) {
    Engine.shared.add(BlockOperation(block: barrier), to: self, asBarrier: true)
  }

  /// Cancels all operations that have not ended.
  open func cancelAllOperations() {
    for operation in Engine.shared.operations(of: id) { operation.cancel() }
  }

  /// Waits until the queue is empty; including operations that are added in the meantime. All of them
  /// have been counted by ``progress`` then, and their completion blocks have run. It blocks the calling
  /// thread.
  open func waitUntilAllOperationsAreFinished() {
    Engine.shared.waitUntilEmpty(id)
  }

  /// A number for hash tables; equal objects have the same one.
  open var hash: Int { ObjectIdentifier(self).hashValue }

  /// Whether this is the same queue.
  open func isEqual(_ object: Any?) -> Bool { object as AnyObject? === self }

  /// The name of the queue.
  open var description: String { name ?? "\(type(of: self))" }

  /// What a debugger shows: the ``description``, unless it is overridden.
  open var debugDescription: String { description }
}

extension OperationQueue: Hashable, CustomStringConvertible, CustomDebugStringConvertible {
  /// Whether two queues are the same, as ``isEqual(_:)`` says.
  public static func == (left: OperationQueue, right: OperationQueue) -> Bool {
    left.isEqual(right)
  }

  /// Feeds ``hash`` into the hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

// The state of an operation, as bits that change in one step.

/// The bits of an operation's status word.
struct Status: OptionSet, Sendable {
  let rawValue: UInt32

  /// `start()` has passed its checks.
  static let executing = Status(rawValue: 1)
  /// The operation has finished, permanently; `executing` may still be set as well.
  static let finished = Status(rawValue: 2)
  static let cancelled = Status(rawValue: 4)
  /// The operation was added to a queue; this is permanent.
  static let queued = Status(rawValue: 8)
  /// A queue has chosen the operation and has not come back from `start()` yet: the thread that
  /// chose it handles its end.
  static let chosen = Status(rawValue: 16)
  /// The completion block has run, and the dependents have been told. Changed under the engine's lock.
  static let retired = Status(rawValue: 32)
  /// The predicates are about to be evaluated again.
  static let isPolled = Status(rawValue: 64)
  /// An error was recorded.
  static let failed = Status(rawValue: 128)
  /// `dependencyPolicy` is `.succeeded`.
  static let needsSuccess = Status(rawValue: 256)
  /// There is something in `OperationAttachments` to look for: a completion block.
  static let hasCompletion = Status(rawValue: 512)
  /// There is something in `OperationAttachments` to look for: threads that wait, or tasks.
  static let hasWaiters = Status(rawValue: 1024)
  /// There is something in `OperationAttachments` to look for: successors that continue after its end.
  static let hasSuccessors = Status(rawValue: 2_097_152)
  /// There is something in `OperationAttachments` to look for: observers of the state.
  static let isObserved = Status(rawValue: 2048)
  /// There is something in `OperationAttachments` to look for: conditions, a time limit or a thread
  /// priority.
  static let hasTerms = Status(rawValue: 4096)
  /// There is something in `OperationAttachments` to look for: handlers of its cancellation.
  static let hasCancelHandlers = Status(rawValue: 8192)
  /// The dependencies are being changed while the operation is in no queue: a lock of one bit.
  static let changing = Status(rawValue: 16384)
  /// Operations in queues wait for this one, which is in no queue.
  static let isAwaited = Status(rawValue: 32768)
  /// The operation is in no queue, and has been asked whether it is ready since it has no dependency left.
  static let asked = Status(rawValue: 65536)
  /// `start()` has reached its end, and so has the operation, unless a subclass says otherwise.
  static let ending = Status(rawValue: 262144)
  /// The operation waits, or waited, for one that is more than a block, so it remembers its
  /// dependencies after its end. Remembering plain ones too would take a quarter of the time of a
  /// graph, and is not needed.
  static let remembers = Status(rawValue: 524288)
  /// The operation has `OperationAttachments`.
  static let hasAttachments = Status(rawValue: 131072)
  /// The operation may wait for something; without this bit, it does not.
  static let mayWait = Status(rawValue: 1_048_576)
  /// The operation is a barrier: even if it is cancelled, it waits for what was added before it.
  static let isBarrier = Status(rawValue: 4_194_304)
  /// Blocks were added to the operation after it was made.
  static let hasAddedBlocks = Status(rawValue: 8_388_608)

  /// Bits that require the engine's lock when the operation is added to a queue.
  static let needsCare: Status = [.needsSuccess, .hasTerms, .isAwaited]
  /// Bits of operations that are not plain: see `Operation.isPlain`.
  static let distinguishing = needsCare.union(.mayWait)
  /// Bits that must be checked before the work begins.
  static let hindersStart: Status = [.executing, .finished, .cancelled, .isObserved, .hasTerms]

  /// True if the operation did not succeed, so that dependents may not rely on it.
  var isUnsuccessful: Bool { !isDisjoint(with: [.cancelled, .failed]) }
}

// An operation made of closures.

/// Runs its blocks at the same time, each on its own thread, and finishes when the last one has
/// ended.
open class BlockOperation: Operation, @unchecked Sendable {  // a lock holds blocks
  /// The first block, and all others. With copyable stored properties, releasing an operation would
  /// change its own reference count twice more.
  private struct Blocks: ~Copyable {
    var first: (@Sendable () throws -> Void)?
    var others: [@Sendable () -> Void]?
  }

  /// Guarded by the operation's own lock from when blocks are added until it begins.
  @exclusivity(unchecked) private var blocks = Blocks()

  /// Makes an operation without blocks.
  public override init() {}

  /// Makes an operation of one block.
  public convenience init(block: @escaping @Sendable () -> Void) {
    self.init()
    blocks.first = block
  }

  /// Makes an operation of one block. An error that it throws is kept in ``Operation/error``.
  public convenience init(block: @escaping @Sendable () throws -> Void) {
    self.init()
    blocks.first = block
  }

  /// Adds a block. This traps if the operation is executing or finished.
  open func addExecutionBlock(_ block: @escaping @Sendable () -> Void) {
    let isInTime = withOwnLock {
      let isInTime = set(.hasAddedBlocks).isDisjoint(with: [.executing, .finished])
      if isInTime { append(block) }
      return isInTime
    }
    demand(
      isInTime, "a block is added to an operation that is executing or finished: '\(self)'")
  }

  private func append(_ block: @escaping @Sendable () -> Void) {
    if blocks.first == nil {
      blocks.first = block
    } else if blocks.others == nil {
      blocks.others = [block]
    } else {
      blocks.others?.append(block)
    }
  }

  /// The blocks, in the order they were added. They are kept as long as the operation is.
  open var executionBlocks: [@Sendable () -> Void] {
    let (first, others) = withOwnLock { (blocks.first, blocks.others) }
    guard let first else { return [] }
    return [{ try? first() }] + (others ?? [])
  }

  /// Runs the blocks; if it is called again, it runs them again.
  open override func main() {
    guard has(.hasAddedBlocks) else { return runFirst() }
    if let others = withOwnLock({ blocks.others }) { runAll(others) } else { runFirst() }
  }

  private func runFirst() {
    do { try blocks.first?() } catch { fail(error) }
  }

  private func runAll(_ others: [@Sendable () -> Void]) {
    let signal = Signal()
    let queue = OperationQueue.current
    for block in others {
      Engine.shared.perform {
        queue.asCurrent { block() }
        signal.send()
      }
    }
    runFirst()
    for _ in others { signal.wait() }
  }
}

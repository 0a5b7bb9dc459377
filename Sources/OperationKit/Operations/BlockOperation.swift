// An operation made of closures.

/// Runs its blocks at the same time, each on its own thread, and finishes when the last one has
/// ended.
open class BlockOperation: Operation, @unchecked Sendable {  // blocks change before it starts
  @exclusivity(unchecked) private var first: (@Sendable () throws -> Void)?
  @exclusivity(unchecked) private var others: [@Sendable () -> Void]?

  /// Makes an operation without blocks.
  public override init() {}

  /// Makes an operation of one block.
  public convenience init(block: @escaping @Sendable () -> Void) {
    self.init()
    first = block
  }

  /// Makes an operation of one block. An error that it throws is kept in ``Operation/error``.
  public convenience init(block: @escaping @Sendable () throws -> Void) {
    self.init()
    first = block
  }

  /// Adds a block. This traps if the operation is executing or finished.
  open func addExecutionBlock(_ block: @escaping @Sendable () -> Void) {
    demand(
      bits.isDisjoint(with: [.executing, .finished]),
      "a block is added to an operation that is executing or finished: '\(self)'")
    if first == nil {
      first = block
    } else if others == nil {
      others = [block]
    } else {
      others?.append(block)
    }
  }

  /// The blocks, in the order they were added. They are kept as long as the operation is.
  open var executionBlocks: [@Sendable () -> Void] {
    guard let first else { return [] }
    return [{ try? first() }] + (others ?? [])
  }

  /// Runs the blocks; if it is called again, it runs them again.
  open override func main() {
    if let others { runAll(others) } else { runFirst() }
  }

  private func runFirst() {
    do { try first?() } catch { fail(error) }
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

// Reports that operations wait for each other in a cycle.

import Glibc

extension OperationQueue {
  private static let handler = Guarded<(@Sendable ([Operation]) -> Void)?>(nil)

  /// Called with the operations of a cycle, each waiting for the next and the last for the first,
  /// when the last of them is added. If it is not set, the path is written to standard error.
  ///
  /// It is called on the thread that adds that operation, before adding returns, or a moment later on
  /// another thread: if that thread takes over what was added, or if so many operations wait for
  /// each other that a search takes too long. It must not wait for an operation.
  ///
  /// The operations stay in their queues: one of them can be cancelled, or a dependency removed.
  public static var cycleHandler: (@Sendable ([Operation]) -> Void)? {
    get { handler.withLock { $0 } }
    set { handler.withLock { $0 = newValue } }
  }

  /// The message for a cycle: its path.
  public static func cycleMessage(_ cycle: [Operation]) -> String {
    let names = (cycle + cycle.prefix(1)).map { "'\($0)'" }
    return "operations wait for each other, none of them can start: "
      + names.joined(separator: " → ")
  }

  static func report(_ cycle: [Operation]) {
    if let handler = cycleHandler { return handler(cycle) }
    let message = Array((cycleMessage(cycle) + "\n").utf8)
    _ = message.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}

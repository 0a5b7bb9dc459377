// The conditions under which the work of an operation runs: the priority of its thread, a time
// limit, conditions.

import Dispatch
import Glibc

/// How important work is to the person in front of the machine.
public enum QualityOfService: Int, Sendable {
  /// Work that a person is waiting for right now.
  case userInteractive = 33
  /// Work that a person has asked for.
  case userInitiated = 25
  /// Work that may take a while.
  case utility = 17
  /// Work that nobody waits for.
  case background = 9
  /// No quality of service was set.
  case `default` = -1

  /// The corresponding thread priority.
  var threadPriority: Double? {
    switch self {
    case .userInteractive: 0.6
    case .userInitiated: 0.55
    case .utility: 0.35
    case .background: 0.1
    case .default: nil
    }
  }
}

extension OperationProtocol {
  /// How long the work may take; after that the operation is cancelled, with
  /// ``OperationError/timedOut(after:)``. The work itself must check ``Operation/isCancelled``. Set
  /// it before the work begins.
  public var timeout: Duration? {
    get { readAttachments { $0.timeout } ?? nil }
    set {
      withAttachments { $0.timeout = newValue }
      set(.hasTerms)
    }
  }

  /// Adds a condition for a queue to start the operation. Call it before the operation is added.
  public func addCondition(_ condition: OperationCondition) {
    demand(!has(.queued), "a condition is added to an operation in a queue: '\(self)'")
    withAttachments { $0.conditions.append(condition) }
    set(.hasTerms)
  }
}

extension Operation {
  /// Runs `main()` under the operation's terms.
  func runOnTerms() {
    startClock()
    let priority = threadPriority
    if priority == 0.5 { main() } else { runMain(atPriority: priority) }
  }

  /// Starts the clock of the time limit, if there is one, when the work begins. It may be called
  /// again.
  func startClock() {
    guard let timeout else { return }
    let clock = DispatchSource.makeTimerSource(queue: .global())
    clock.schedule(deadline: .now() + timeout.dispatchInterval)
    clock.setEventHandler { [weak self] in
      guard let self, !self.isFinished, !self.isCancelled else { return }
      self.fail(OperationError.timedOut(after: timeout))
      self.cancel()
    }
    clock.activate()
    let isFirst = withAttachments { attachments in
      if attachments.clock != nil { return false }
      attachments.clock = clock
      return true
    }
    if !isFirst { clock.cancel() } else if has(.finished) { stopClock() }
  }

  /// Releases the clock at the end: otherwise it would be kept until the time is over.
  func stopClock() {
    let clock = withAttachments { attachments in
      defer { attachments.clock = nil }
      return attachments.clock
    }
    clock?.cancel()
  }

  /// A thread of lowered priority cannot be raised again without permission, so `main` gets a
  /// thread of its own.
  private func runMain(atPriority priority: Double) {
    let signal = Signal()
    let queue = OperationQueue.current
    let isStarted = Threads.start {
      // On Linux, 0 is the calling thread. The priority is beside that of other threads: a program may
      // run at a lower one as a whole.
      let usual = getpriority(.init(PRIO_PROCESS.rawValue), id_t(getpid()))
      let change = Int32(((0.5 - priority) * 38).rounded())
      setpriority(.init(PRIO_PROCESS.rawValue), 0, usual + change)
      queue.asCurrent { self.main() }
      signal.send()
    }
    if isStarted { signal.wait() } else { main() }
  }
}

extension Duration {
  /// The interval for Dispatch, which counts whole nanoseconds.
  var dispatchInterval: DispatchTimeInterval {
    let (seconds, attoseconds) = components
    let whole = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    if whole.overflow || seconds > Int64(Int32.max) { return .seconds(Int(Int32.max)) }
    return .nanoseconds(Int(whole.partialValue + attoseconds / 1_000_000_000))
  }
}

/// Why an operation did not do its work.
public enum OperationError: Error, Equatable {
  /// The operation was cancelled.
  case cancelled
  /// The operation took longer than its time limit.
  case timedOut(after: Duration)
  /// A dependency, the operation with this name, was cancelled or has an error.
  case dependencyFailed(String)
}

// Readers of oprun's output that stop reading: the run continues without them, and waits for them
// at its end, or only for a while if it was asked to end. docs/design-execution.md, “Readers that
// stop reading”.

import Plans
import Running
import Scheduling

extension RunLoop {
  /// The time that readers have after a signal or the run's time limit.
  static let readerGrace: Nanoseconds = 2_000_000_000

  /// Makes `waiting` report from now on when a reader accepts more; for readers with nothing to
  /// read it no longer does.
  func watchReaders() {
    let pending = outlets.compactMap(\.pendingDescriptor)
    if pending == watchedReaders { return }
    for reader in watchedReaders where !pending.contains(reader) { waiting.remove(reader) }
    for outlet in outlets {
      guard let reader = outlet.pendingDescriptor, !watchedReaders.contains(reader) else {
        continue
      }
      do {
        try waiting.add(reader, for: .readers, number: 0, .writing)
      } catch {
        // The outlet would never be reported as ready.
        outlet.abandon()
      }
    }
    watchedReaders = outlets.compactMap(\.pendingDescriptor)
  }

  func resumeOutput() {
    for outlet in outlets where outlet.pendingDescriptor != nil { outlet.resume() }
  }

  /// Waits until everything is accepted. If the run was stopped by a signal or a time limit, it
  /// ends soon, and a signal that comes now ends it at once: what steps printed is in their logs.
  func awaitReaders(after end: RunEnd) {
    let due = grace(after: end).map { now + $0 }
    while outlets.contains(where: { $0.pendingDescriptor != nil }) {
      watchReaders()
      let ready = waiting.wait(until: due)
      var isAsked = false
      for item in ready {
        switch item.owner {
        case .readers: resumeOutput()
        // Processes that outlive their commands by permission still write.
        case .executor: executor.ready(item.number, at: now)
        case .signals, .watcher: isAsked = true
        case .jobControl: obey(Int32(item.number))
        case .hashing, .caching, .jobs, .control: break
        }
      }
      if isAsked || due.map({ now >= $0 }) == true { abandonOutput() }
    }
  }

  private func abandonOutput() {
    for outlet in outlets where outlet.pendingDescriptor != nil { outlet.abandon() }
  }

  func grace(after end: RunEnd) -> Nanoseconds? {
    switch end.stopReason {
    case .left where machine.signalCount == 0: nil
    case .signal, .request, .left: machine.signalCount > 1 ? 0 : RunLoop.readerGrace
    case .runTimeout, .groupTimeout: RunLoop.readerGrace
    case .failure, .noOutputs, .noWidth, .suspended, .stateFailure, .overtaken, .died, nil: nil
    }
  }
}

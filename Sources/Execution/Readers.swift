// Readers of oprun's output that stand still: the run goes on without them, and waits for them at its
// end, or for a while if somebody asked for the end. docs/design-execution.md, “Readers that stand
// still”.

import CLinux
import Running
import Scheduling

extension RunLoop {
  /// After a signal or the time limit of the run.
  private static let readerGrace: Nanoseconds = 2_000_000_000

  /// From now on `readiness` tells when a reader takes more; of those who have nothing to take it
  /// tells no longer.
  func watchReaders() {
    let pending = outlets.compactMap(\.pendingDescriptor)
    if pending == watchedReaders { return }
    for reader in watchedReaders where !pending.contains(reader) { readiness.remove(reader) }
    for outlet in outlets {
      guard let reader = outlet.pendingDescriptor, !watchedReaders.contains(reader) else {
        continue
      }
      do {
        try readiness.add(reader, token: RunLoop.readerToken, for: EPOLLOUT)
      } catch {
        // Nobody would ever tell.
        outlet.abandon()
      }
    }
    watchedReaders = outlets.compactMap(\.pendingDescriptor)
  }

  func resumeOutput() {
    for outlet in outlets where outlet.pendingDescriptor != nil { outlet.resume() }
  }

  /// Until everything is taken. Who has asked for the end by a signal or a time limit gets it soon,
  /// and who asks now gets it at once: what steps printed is in their logs.
  func awaitReaders(after end: RunEnd) {
    let due = grace(after: end).map { now + $0 }
    while outlets.contains(where: { $0.pendingDescriptor != nil }) {
      watchReaders()
      let tokens = readiness.wait(nanoseconds: due.map { $0 - now })
      if tokens.contains(RunLoop.readerToken) { resumeOutput() }
      // Tolerated orphans still write.
      for token in tokens where token < RunLoop.firstOwnToken {
        processes.absorb(token: token, at: now)
      }
      let isAsked = tokens.contains(RunLoop.signalToken) && !signals.takeStopping().isEmpty
      if isAsked || due.map({ now >= $0 }) == true { abandonOutput() }
    }
  }

  private func abandonOutput() {
    for outlet in outlets where outlet.pendingDescriptor != nil { outlet.abandon() }
  }

  private func grace(after end: RunEnd) -> Nanoseconds? {
    switch end.stopReason {
    case .signal: machine.signalCount > 1 ? 0 : RunLoop.readerGrace
    case .runTimeout: RunLoop.readerGrace
    default: nil
    }
  }
}

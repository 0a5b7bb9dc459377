// Timers of the run: what they do when they are due, and which of them are not wanted any more.

package import Scheduling

extension RunMachine {
  mutating func fire(_ timer: Timer, at now: Nanoseconds) {
    if timer.purpose == .runTimeLimit {
      if stopReason.map(\.isFailure) ?? true, end == nil { cancelRun(.runTimeout, at: now) }
      return
    }
    if timer.purpose == .groupTimeLimit { return expire(timer.operation, at: now) }
    if timer.purpose == .longWait { return tellLongWaits() }
    if timer.purpose == .probeDue || timer.purpose == .probeLimit {
      return fireProbe(timer, at: now)
    }
    guard let state = active[timer.operation], isWanted(timer) else { return }
    switch timer.purpose {
    case .timeLimit: askToEnd(timer.operation, .timeLimit, at: now)
    case .killDue: kill(timer.operation, because: .cancelled)
    case .hookLimit where state.role == nil: leaveOutHooks(of: timer.operation, at: now)
    case .hookLimit: kill(timer.operation, because: .timeLimit)
    case .retryDue: scheduler.resume(timer.operation)
    case .readyDue: conditionsOfServiceHold(timer.operation)
    case .runTimeLimit, .groupTimeLimit, .probeDue, .probeLimit, .longWait: break
    }
  }

  /// False if what the timer was set for is over.
  private func isWanted(_ timer: Timer) -> Bool {
    switch timer.purpose {
    case .timeLimit, .killDue, .hookLimit, .retryDue, .readyDue:
      active[timer.operation]?.phase == timer.phase
    case .probeDue, .probeLimit: gates[timer.operation]?.probing?.phase == timer.phase
    case .groupTimeLimit: !scheduler.state(of: timer.operation).hasEnded
    case .runTimeLimit, .longWait: true
    }
  }

  /// When `advance` is due; nil if only news can change anything.
  package var deadline: Nanoseconds? {
    mutating get {
      removeUnwantedTimers()
      return timers.earliest?.at
    }
  }

  /// Must be called when no operation is in the middle of a change.
  private mutating func removeUnwantedTimers() {
    while let timer = timers.earliest, !isWanted(timer) { timers.removeEarliest() }
    if timers.mayHoldMany { timers.keep { [self] in isWanted($0) } }
  }
}

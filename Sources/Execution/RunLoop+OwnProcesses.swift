// Processes of oprun whose work is not finished when the run ends.

import Plans
import Scheduling

extension RunLoop {
  /// Waits for processes of oprun that do what the run would leave undone otherwise, such as
  /// removing temporary files. If the run was to end soon, it does not wait for long, and a signal
  /// that comes now ends it at once: what they have not done stays until the run is pruned.
  func awaitOwnProcesses(after end: RunEnd) {
    let due = grace(after: end).map { now + min($0, RunLoop.ownGrace) }
    while !waiting.ownProcesses.awaited.isEmpty, due.map({ now < $0 }) != false {
      for item in waiting.wait(until: due) {
        if item.owner == .signals || item.owner == .watcher { return }
        pass(item, at: now)
      }
    }
  }

  /// The time that the wait may take: together with what else happens at the end of a stopped run,
  /// less than half a second.
  private static let ownGrace: Nanoseconds = 250_000_000
}

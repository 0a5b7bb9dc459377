// Processes of oprun whose work is not done when the run ends.

import Plans
import Scheduling

extension RunLoop {
  /// Waits for processes of oprun that do what the run would leave undone otherwise, such as removing temporary files. If the
  /// run was to end soon, it does not wait for long, and a signal that comes now ends it at once: what they have not done
  /// stays until the run is pruned.
  func awaitOwnProcesses(after end: RunEnd) {
    let due = grace(after: end).map { now + min($0, RunLoop.ownGrace) }
    while !waiting.ownProcesses.awaited.isEmpty, due.map({ now < $0 }) != false {
      for item in waiting.wait(until: due) {
        if item.owner == .signals || item.owner == .watcher { return }
        pass(item, at: now)
      }
    }
  }

  /// Together with what else happens at the end, this is less than the half second that the end may take.
  private static let ownGrace: Nanoseconds = 250_000_000
}

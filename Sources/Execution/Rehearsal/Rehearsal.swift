// Rehearses a run: the real loop and the real machine in virtual time, with commands that do what
// stubs say. No process is started.

package import Plans
import Running
import Scheduling

/// A command that a rehearsal has started.
package struct RehearsedCommand: Sendable {
  /// The words or the script of the command.
  package let text: String
  package let variables: [EnvironmentVariable]
}

/// Rehearses a plan. The options' directory is read, but nothing is written to it.
package func rehearse(
  _ plan: Plan, _ stubs: [String: TestStub], _ options: RunOptions, observer: any RunObserver
) -> (end: RunEnd, commands: [String: RehearsedCommand]) {
  let waiting = RehearsalClock(stepCount: plan.graph.count)
  let executor = StubExecutor(stubs)
  let parts = RunParts(
    waiting: waiting, executor: executor, workspace: "/", seed: 1, isRehearsal: true)
  let loop = RunLoop(plan, options, parts, observers: [observer])
  executor.graph = { [unowned loop] in loop.machine.scheduler.graph }
  return (loop.run(), executor.commands)
}

/// A clock without waits: time jumps to the next moment at which something is due.
final class RehearsalClock: Waiting {
  private(set) var now: Nanoseconds = 0
  let clock = RunClock(wallTime: 0, monotonicTime: 0)
  let ownProcesses = OwnProcesses()

  func add(_ descriptor: Int32, for owner: Owner, number: Int, _ interest: Interest) {}

  func remove(_ descriptor: Int32) {}

  /// The longest virtual time. A run that goes on for a year, or that nothing can end, is ended by
  /// signals: it waits for a condition that will never hold.
  private static let longest: Nanoseconds = 366 * 86400 * 1_000_000_000
  /// The turns that are left: many, because conditions may be checked often.
  private var turnsLeft: Int

  init(stepCount: Int) { turnsLeft = 10_000 + 100 * stepCount }

  func wait(until due: Nanoseconds?) -> [Ready] {
    turnsLeft -= 1
    guard let due, due <= Self.longest, turnsLeft > 0 else {
      return [Ready(owner: .signals, number: 15)]
    }
    now = max(now, due)
    return []
  }

  func look() -> [Ready] { [] }
}

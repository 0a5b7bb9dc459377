// Hooks with late expressions: they are evaluated when the hook starts, after the command that it
// belongs to. The machine does not know: to it, a hook that waits for files is running.

import Expressions
import Plans
import Running
import Scheduling

extension RunLoop {
  /// Starts a hook, or waits until the files that it asks for are hashed.
  func startHook(_ key: CommandKey, waitingSince since: Nanoseconds? = nil, at time: Nanoseconds) {
    guard case .hook(let kind, let index, _) = key.role else { return }
    let isRun = key.operation == .run
    let isGroup = machine.groupPlan(key.operation) != nil
    let own = isRun ? machine.plan.late : machine.steps[key.operation].late
    guard let late = isGroup ? own?.parts.hooks : own else {
      return execute(key, machine.command(of: key), at: time)
    }
    hashing.begin(key.operation)
    valueBudget = ValueBudget()
    do throws(EvaluationFailure) {
      let ready = try late.hook(
        HookNumber(kind, index), machine.hookSettings(of: key.operation),
        of: isRun || isGroup ? nil : key.operation, self)
      hashing.decided(key.operation)
      execute(key, machine.command(of: key, as: ready), at: time)
    } catch {
      if hashing.isAwaited(by: key.operation) {
        return waitingHooks[key.operation] = (key, since: since ?? time)
      }
      hashing.decided(key.operation)
      machine.ended(key, CommandEnd(.notStarted(words(of: error), exitCode: 126)), at: time)
    }
  }

  /// Starts the hook that waited for files, which are hashed now. False if no hook of the operation waited.
  func resumeHook(of operation: OperationID, at time: Nanoseconds) -> Bool {
    guard let (key, since) = waitingHooks.removeValue(forKey: operation) else { return false }
    startHook(key, waitingSince: since, at: time)
    return true
  }

  /// Drops a hook that waits for files and is to end. False if the hook does not wait for any.
  func dropWaitingHook(_ key: CommandKey, at time: Nanoseconds) -> Bool {
    guard let (waiting, since) = waitingHooks[key.operation], waiting == key else { return false }
    waitingHooks[key.operation] = nil
    for slot in hashing.keep(where: { $0 != key.operation }) { closeHashing(slot) }
    let end = CommandEnd(
      .notStarted(CommandEnd.stoppedEarly, exitCode: 126), duration: time - since)
    ownNews.append(.ended(key, end))
    return true
  }
}

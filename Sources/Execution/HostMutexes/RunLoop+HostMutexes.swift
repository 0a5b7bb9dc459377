// The loop takes mutexes of the machine for steps that could start, and gives them back when these
// have ended. docs/design-execution.md, “Mutexes of the host”.

import Diagnostics
import Plans
import Running
import Scheduling

extension RunLoop {
  /// Takes and gives back mutexes. True if the machine may have new actions after that.
  func shareMutexes(at time: Nanoseconds) -> Bool {
    guard let mutexes = hostMutexes else { return false }
    var hasNews = false
    for index in mutexes.all.indices {
      let pool = mutexes.all[index].pool
      if mutexes.all[index].lock.isHeld, !machine.holds(pool) {
        // The step has ended, or could not start after all.
        machine.close(pool)
        mutexes.all[index].lock.release()
      }
      guard machine.lacks(pool) else {
        if machine.waiter(for: pool) == nil { stopWaiting(mutexes, index) }
        mutexes.all[index].retryAt = nil
        continue
      }
      if let due = mutexes.all[index].retryAt, due > time { continue }
      if take(mutexes, index, at: time) {
        stopWaiting(mutexes, index)
        machine.open(pool, at: time)
        hasNews = true
        // If nothing could start after all, the mutex is not tried again at once.
        mutexes.all[index].retryAt = time + HostMutexes.interval
      } else {
        mutexes.all[index].retryAt = time + HostMutexes.interval
        tellLongWait(mutexes, index, at: time)
      }
    }
    return hasNews
  }

  private func take(_ mutexes: HostMutexes, _ index: Int, at time: Nanoseconds) -> Bool {
    do throws(SystemError) {
      return try mutexes.all[index].lock.take(for: mutexes.holder, at: time)
    } catch {
      machine.stateFailed(error.message, at: time)
      return false
    }
  }

  private func stopWaiting(_ mutexes: HostMutexes, _ index: Int) {
    mutexes.all[index].waitingSince = nil
    mutexes.all[index].hasToldWaiting = false
    if !mutexes.all[index].lock.isHeld { mutexes.all[index].lock.release() }
  }

  private func tellLongWait(_ mutexes: HostMutexes, _ index: Int, at time: Nanoseconds) {
    let mutex = mutexes.all[index]
    let since = mutex.waitingSince ?? time
    mutexes.all[index].waitingSince = since
    guard !mutex.hasToldWaiting, time - since >= HostMutexes.longWait,
      let step = machine.waiter(for: mutex.pool)
    else { return }
    mutexes.all[index].hasToldWaiting = true
    let id = machine.steps[step].id
    let holder = mutex.lock.holder ?? "another run"
    tell(
      .notice(
        "\(quoted(id)) is waiting for mutex \(quoted(mutex.lock.name)), which \(holder) holds"),
      at: time)
  }
}

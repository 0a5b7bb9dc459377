// Writes one line for each other incident: retries, hooks, leftover processes, notices.

import Diagnostics
import Plans
import Scheduling

extension ProgressLines {
  /// Writes `gallery.yml  9 steps, 4 at once`.
  func writeHeader() {
    screen.turnToMessages()
    let plan = operations.plan
    sink.write(nameAtLineStart(shortName(plan.name)), in: .strong, isColored: screen.colorsMessages)
    sink.write("  ")
    sink.write(plan.stepCount, "step")
    sink.write(", ")
    let lateCount = plan.expandedStepCount
    if lateCount > 0 {
      sink.write(grouped: lateCount)
      sink.write(" with instances known later, ")
    }
    sink.write(decimal: plan.queues.first?.width ?? 0)
    sink.write(" at once\n")
  }

  func writeRetry(
    of operation: OperationID, after end: CommandEnd?, attempt: Int, delay: Nanoseconds
  ) {
    begin(.retry, operation)
    if let end {
      sink.write(end, limit: operations.step(operation).settings.timeout, columns: endColumns)
      sink.write(", ")
    }
    sink.write("attempt ")
    sink.write(decimal: attempt)
    if delay > 0 {
      sink.write(" in ")
      sink.write(elapsed: delay)
    }
    sink.writeNewline()
  }

  /// Reports the failure of a hook when it happens: it never hides how its step ended.
  func writeHookFailure(_ operation: OperationID, _ role: CommandRole, _ end: CommandEnd) {
    guard case .hook(let kind, _, _) = role, !end.isSuccess else { return }
    begin(.warning, operation)
    sink.write(kind.keyText)
    sink.write(" hook: ")
    sink.write(end, limit: operations.limit(of: end, as: role, operation), columns: endColumns)
    sink.writeNewline()
  }

  /// Writes `waiting for tcp localhost:5432`, once, however often the condition is checked.
  mutating func writeWaiting(_ operation: OperationID, for what: String) {
    guard waits[operation, default: []].insert(what).inserted else { return }
    begin(.waiting, operation)
    sink.write("waiting for ")
    sink.write(shortName(what))
    sink.writeNewline()
  }

  /// Writes `ready after 1.2s`: a service goes on.
  func writeReady(_ operation: OperationID, after time: Nanoseconds) {
    begin(.waiting, operation)
    sink.write("ready after ")
    sink.write(elapsed: time)
    sink.writeNewline()
  }

  /// Writes `waiting for a slot, held by build, lint`: after some seconds, once for the same holders.
  func writeHeldUp(_ operation: OperationID, _ heldUp: HeldUp) {
    begin(.waiting, operation)
    sink.write("waiting for ")
    switch heldUp.shared {
    case .queue(.default): sink.write("a slot")
    case .queue(let queue):
      sink.write("a slot of queue '")
      sink.write(oneLine(operations.plan.queues[queue.index].name))
      sink.write("'")
    case .pool(let pool):
      sink.write("'")
      sink.write(oneLine(operations.plan.pools[pool.index].name))
      sink.write("'")
    }
    sink.write(", held by ")
    for (index, holder) in heldUp.holders.prefix(5).enumerated() {
      if index > 0 { sink.write(", ") }
      sink.write(operations.name(holder))
    }
    if heldUp.holders.count > 5 {
      sink.write(" and ")
      sink.write(grouped: heldUp.holders.count - 5)
      sink.write(" more")
    }
    sink.writeNewline()
  }

  func writeOrphans(
    of operation: OperationID, _ processes: [OrphanProcess], _ action: OrphanAction
  ) {
    begin(.warning, operation)
    sink.write("left ")
    sink.write(processes.count, "process", plural: "processes")
    sink.write(action == .kill ? " behind, killed: " : " behind: ")
    for (index, process) in processes.prefix(5).enumerated() {
      if index > 0 { sink.write(", ") }
      sink.write(oneLine(process.name))
      sink.write(" (")
      sink.write(decimal: Int(process.processID))
      sink.write(")")
    }
    if processes.count > 5 { sink.write(", …") }
    sink.writeNewline()
  }

  /// Writes `cannot signal 'sleep' (process 123, user root)`.
  func writeOutOfReach(of operation: OperationID, _ processes: [OrphanProcess]) {
    for process in processes {
      begin(.warning, operation)
      sink.write("cannot signal '")
      sink.write(oneLine(process.name))
      sink.write("' (process ")
      sink.write(decimal: Int(process.processID))
      if let owner = process.owner {
        sink.write(", user ")
        sink.write(oneLine(owner))
      }
      sink.write(")")
      sink.writeNewline()
    }
  }

  func writeStopping(_ reason: StopReason) {
    // The number of jobs that continue is reported at the same time.
    if reason == .left { return }
    let isSignal = if case .signal = reason { true } else { false }
    let advice = isSignal ? "; a second signal kills running commands" : ""
    writeNotice("stopping: " + reason.words(operations) + reason.limit(in: operations) + advice)
  }

  func writeNotice(_ text: String) {
    screen.turnToMessages()
    screen.write(.warning)
    sink.write(" ")
    screen.write(screen.words(of: oneLine(text)), at: 2)
  }
}

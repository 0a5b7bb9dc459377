// Runs the command of a task with the executor of local processes, and waits for it. It knows nothing
// of claims and results.

import Diagnostics
import Glibc
import Plans
import RunFiles
import Running
import Scheduling

/// The end of a task on this node.
struct TaskEnd {
  var conclusion: TaskMachine.Conclusion
  var logSize = 0
  var events: [TaskResult.Event] = []
  var stateFailure: String?
}

/// One command in progress. When `perform` returns, no process of it is left, except those that may
/// stay (`orphans: allow`).
final class TaskRun {
  private let command: Command
  private let waiting: KernelWaiting
  private let processes: LocalProcesses
  private var machine: TaskMachine
  private var end: TaskEnd?
  private var events: [TaskResult.Event] = []
  private var logSize = 0
  private var stateFailure: String?

  init(
    _ command: Command, _ limits: TaskLimits, _ processes: LocalProcesses,
    _ waiting: KernelWaiting
  ) {
    self.command = command
    self.processes = processes
    self.waiting = waiting
    machine = TaskMachine(limits, startedAt: waiting.now)
  }

  func perform() -> TaskEnd {
    if let signal = lastSignal() { return TaskEnd(conclusion: .interrupted(by: signal)) }
    processes.start(command, at: waiting.now)
    while true {
      hearNews()
      if let end { return leave(end) }
      let due = [machine.deadline, processes.deadline].compactMap(\.self).min()
      for item in waiting.wait(until: due) { pass(item) }
      processes.advance(to: waiting.now)
      perform(machine.advance(to: waiting.now))
    }
  }

  private func pass(_ item: Ready) {
    switch item.owner {
    case .executor: processes.ready(item.number, at: waiting.now)
    case .signals: perform(machine.signalled(Int32(item.number), at: waiting.now))
    // Slurm suspends a job with SIGTSTP and then SIGSTOP, each process by itself.
    case .jobControl: break
    case .watcher, .hashing, .caching, .readers, .jobs, .control: break
    }
  }

  private func perform(_ actions: [TaskMachine.Action]) {
    for action in actions {
      switch action {
      case .stop(let signal): processes.stop(command.key, with: signal, at: waiting.now)
      case .kill: processes.kill(command.key, at: waiting.now)
      case .pass(let signal): processes.pass(signal, to: command.key)
      case .conclude(let conclusion): end = TaskEnd(conclusion: conclusion)
      }
    }
  }

  private func hearNews() {
    for news in processes.takeNews() {
      switch news {
      case .outputGrew(_, let count): logSize = count
      case .outputWithheld, .beganAgain, .isOver: break
      case .ended(_, let end): perform(machine.ended(end, at: waiting.now))
      case .event(let event): hear(event)
      case .stateFailed(let message):
        if stateFailure == nil { stateFailure = message }
        perform(machine.stateFailed(at: waiting.now))
      }
    }
  }

  /// Remembers the reports of processes besides their ends.
  private func hear(_ event: RunEvent.Kind) {
    if case .notice(let text) = event { events.append(.notice(text)) }
    if case .orphansFound(_, let processes, let action) = event {
      events.append(.orphans(processes, action))
    }
    if case .outOfReach(_, let processes) = event { events.append(.outOfReach(processes)) }
  }

  /// Ends processes that must not live on, and looks for a last signal: a result that counts is
  /// written only if none has come.
  private func leave(_ end: TaskEnd) -> TaskEnd {
    processes.close()
    var end = end
    if let signal = awaitOwnProcesses() ?? lastSignal(), case .ended = end.conclusion {
      end.conclusion = .interrupted(by: signal)
    }
    end.logSize = logSize
    end.events = events
    end.stateFailure = stateFailure
    return end
  }

  /// Waits until temporary files are removed. A signal that ends the task ends this, too, and is returned.
  private func awaitOwnProcesses() -> Int32? {
    while !waiting.ownProcesses.awaited.isEmpty {
      let ready = waiting.wait(until: nil)
      if let signal = signal(in: ready) { return signal }
      for item in ready where item.owner == .executor {
        processes.ready(item.number, at: waiting.now)
      }
    }
    return nil
  }

  private func lastSignal() -> Int32? { signal(in: waiting.wait(until: 0)) }

  private func signal(in ready: [Ready]) -> Int32? {
    ready.first { $0.owner == .signals && TaskMachine.endsTask(Int32($0.number)) }
      .map { Int32($0.number) }
  }
}

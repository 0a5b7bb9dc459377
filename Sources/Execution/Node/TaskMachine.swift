// Decides about the one command of a task: when it is asked to end, when it is killed, and whether its
// end is a result. A plain value, told what happened and when. docs/design-execution.md, “Nodes”.

import Diagnostics
import Glibc
import Plans
import Scheduling

struct TaskMachine {
  enum Action: Hashable {
    case stop(signal: Int32)
    case kill
    /// Passes the signal on to the command, which it is meant for.
    case pass(signal: Int32)
    case conclude(Conclusion)
  }

  enum Conclusion: Hashable {
    case ended(CommandEnd)
    /// A signal from outside ended the command, or may have: there is no result.
    case interrupted(by: Int32)
  }

  private enum State {
    case running
    /// The command was asked to end, and is killed at this time.
    case asked(killAt: Nanoseconds)
    case killed
    /// The command has failed, perhaps because of a signal from outside that is still on its way to us.
    case doubted(CommandEnd, until: Nanoseconds)
    case concluded
  }

  private let limits: TaskLimits
  private var state = State.running
  private var limitAt: Nanoseconds?
  private var timedOut = false
  private(set) var interruption: Int32?

  /// The time without a signal after which a failure counts. Slurm signals the processes of a job
  /// one by one, so the command may die before oprun is told.
  static let doubt: Nanoseconds = 1_000_000_000

  init(_ limits: TaskLimits, startedAt now: Nanoseconds) {
    self.limits = limits
    limitAt = limits.time.map { sum(now, $0) }
  }

  /// True for the signals by which somebody wants a job to end: scancel, a time limit, preemption,
  /// a node that shuts down. Others are passed on to the command, such as those of `sbatch
  /// --signal`.
  static func endsTask(_ signal: Int32) -> Bool {
    signalsToEnd.contains(signal) || [SIGXCPU, SIGPWR].contains(signal)
  }

  /// When `advance` is due; nil if only news can change something.
  var deadline: Nanoseconds? {
    switch state {
    case .running: limitAt
    case .asked(let killAt): killAt
    case .doubted(_, let until): until
    case .killed, .concluded: nil
    }
  }

  mutating func signalled(_ signal: Int32, at now: Nanoseconds) -> [Action] {
    guard TaskMachine.endsTask(signal) else {
      if case .running = state { return [.pass(signal: signal)] }
      return []
    }
    let isFirst = interruption == nil
    interruption = interruption ?? signal
    switch state {
    case .running: return ask(at: now)
    case .asked where isFirst: return []
    case .asked:
      state = .killed
      return [.kill]
    case .doubted: return conclude(.interrupted(by: signal))
    case .killed, .concluded: return []
    }
  }

  /// Called when the log cannot be kept any more: the command is asked to end, as a run on one machine would.
  mutating func stateFailed(at now: Nanoseconds) -> [Action] {
    if case .running = state { return ask(at: now) }
    return []
  }

  mutating func ended(_ end: CommandEnd, at now: Nanoseconds) -> [Action] {
    if let interruption { return conclude(.interrupted(by: interruption)) }
    let timedOut = timedOut && !end.endedByItself
    let end = end.marked(timedOut: timedOut, isStopped: false)
    switch end.status {
    case .exited(let status) where status != 0 && !timedOut: break
    case .signalled where !timedOut: break
    case .exited, .signalled, .notStarted, .outputsRefused, .abandoned, .lost:
      return conclude(.ended(end))
    }
    state = .doubted(end, until: now + TaskMachine.doubt)
    return []
  }

  mutating func advance(to now: Nanoseconds) -> [Action] {
    guard let deadline, deadline <= now else { return [] }
    switch state {
    case .running:
      timedOut = true
      return ask(at: now)
    case .asked:
      state = .killed
      return [.kill]
    case .doubted(let end, _): return conclude(.ended(end))
    case .killed, .concluded: return []
    }
  }

  private mutating func ask(at now: Nanoseconds) -> [Action] {
    state = .asked(killAt: sum(now, limits.stop.grace))
    return [.stop(signal: limits.stop.signal)]
  }

  private mutating func conclude(_ conclusion: Conclusion) -> [Action] {
    state = .concluded
    return [.conclude(conclusion)]
  }
}

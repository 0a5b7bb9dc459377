// Describes how commands and operations ended. All wording about ends is here.

import Diagnostics
import Plans
import Scheduling

extension ByteSink {
  /// Writes `exit 1 after 3.4s`, `killed by SIGKILL (out of memory?) after 2.0s`, `timed out after
  /// 30s`. `limit` is the time limit of the command, if it had one. The reason why a command was
  /// not started, or was lost, may be long: its first line is written, in this many columns.
  func write(_ end: CommandEnd, limit: Nanoseconds?, columns: Int) {
    if end.timedOut {
      // The time limit was not oprun's.
      if case .lost(let reason) = end.status {
        return write(oneLine("timed out: \(reason.prefix { !$0.isNewline })", columns: columns))
      }
      write("timed out after ")
      if let limit { write(exact: limit) } else { write(elapsed: end.duration) }
      return
    }
    if end.isStoppedEarly { return write(CommandEnd.stoppedEarly) }
    if let time = end.notReadyAfter {
      write("not ready after ")
      return write(elapsed: time)
    }
    if end.isStopped {
      // The signal that ended the command was ours.
      write("stopped after ")
      return write(elapsed: end.duration)
    }
    switch end.status {
    case .exited(let status):
      write("exit ")
      write(decimal: Int(status))
    case .signalled(let signal):
      write("killed by ")
      write(signalName(signal))
      if signal == 9, end.mayHaveTakenMuchMemory { write(" (out of memory?)") }
    case .abandoned: write("could not be ended, given up")
    case .lost(let reason):
      return write(oneLine("lost: \(reason.prefix { !$0.isNewline })", columns: columns))
    case .notStarted(let reason, _), .outputsRefused(let reason):
      return write(oneLine(reason.prefix { !$0.isNewline }.description, columns: columns))
    }
    write(" after ")
    write(elapsed: end.duration)
  }

  /// Writes `was running when oprun died`, `on_success hook: was running when oprun died`.
  func write(unended settled: SettledOperation) {
    let words: StaticString
    if settled.record == nil {
      words = "had not started"
    } else if let decisive = settled.decisive, decisive.end.isLost {
      write(hookOf: decisive.role)
      words = "was running"
    } else {
      words = "had not ended"
    }
    write(words)
    write(" when oprun died")
  }

  /// Writes `timed out waiting for tcp localhost:5432`.
  func write(failureWithoutCommand failure: SettledOperation, _ reason: String?) {
    write(failure.ending.outcome == .timedOut ? "timed out" : "failed")
    guard let reason else { return }
    write(failure.linkToReason)
    write(reason)
  }
}

extension CommandEnd {
  /// True if the command ran, but its outputs cannot be used.
  var isRefused: Bool { if case .outputsRefused = status { true } else { false } }

  /// True if the kernel may have killed the command for its memory: it kills the process that has
  /// most. The peak of a command that needed little is not known.
  fileprivate var mayHaveTakenMuchMemory: Bool { (peakMemory ?? 0) >= 32 << 20 }

  /// True if nobody knows how the command ended.
  var isLost: Bool { if case .lost = status { true } else { false } }
}

extension StopReason {
  func words(_ operations: RunOperations) -> String {
    oneLine(words(operations.compactName))
  }

  /// ` (timeout: 30m in ci.yml)`: the limit that was reached, and where it is set.
  func limit(in operations: RunOperations) -> String {
    let plan = operations.plan
    let sink = ByteSink.intoMemory()
    switch self {
    case .runTimeout:
      guard let limit = plan.timeout else { return "" }
      sink.write(plan.hasTimeoutOfOption ? " (--timeout " : " (timeout: ")
      sink.write(exact: limit)
      if !plan.hasTimeoutOfOption, let file = plan.sources.files.first {
        sink.write(" in \(shortName(file.path))")
      }
    case .groupTimeout(let group):
      guard let limit = plan.groups[operations.planned(group)]?.timeout else { return "" }
      sink.write(" (timeout: ")
      sink.write(exact: limit)
    case .signal, .failure, .noWidth, .suspended, .left, .noOutputs, .request, .stateFailure,
      .overtaken, .died:
      return ""
    }
    sink.write(")")
    return sink.text
  }
}

extension SettledOperation {
  /// The reason, unless it is the operation's own command: `'unit' failed`, `SIGINT`.
  func reason(_ operations: RunOperations) -> String? {
    switch cause {
    case .itself, .hook: nil
    case .condition(let text), .timeLimit(let text), .service(let text), .notReady(let text):
      oneLine(text)
    case .wait(let text): "waiting for \(shortName(text))"
    case .stopped(let reason), .stoppedEarlier(let reason): reason.words(operations)
    case .dependency(let root):
      "'\(operations.compactName(root))' "
        // An operation that has failed may not have ended: a service, with its hooks, or a group.
        + (rootOutcome?.pastTense ?? (ending.outcome == .blocked ? "failed" : "did not run"))
    }
  }
}

extension SettledOperation {
  /// The text between the ending and the reason: `timed out waiting for …`, but `timed out,
  /// allowed: waiting for …`.
  var linkToReason: StaticString {
    if case .wait = cause, !ending.isAllowed { " " } else { ": " }
  }
}

extension ByteSink {
  /// Writes ` (attempt 2 of 3)`; nothing for the first of one. Somebody who asks for another attempt
  /// (`oprun retry`) has no limit.
  func write(attemptOf role: CommandRole, limit: Int) {
    guard case .attempt(let number) = role, number > 1 || limit > 0 else { return }
    write(" (attempt ")
    write(decimal: number)
    if limit > 0, number <= limit + 1 {
      write(" of ")
      write(decimal: limit + 1)
    }
    write(")")
  }
}

extension RunEnd {
  /// The remarks about the end of a run besides the numbers of its steps.
  func remarks(_ operations: RunOperations, _ counts: EndingCounts) -> [String] {
    counts.remarks(
      exitStatus: Int(exitStatus), hookFailed: hookFailed,
      passedOn: passedOn.map { passedOnWords(Int($0.status), of: operations.name($0.step)) },
      stop: stopReason?.words(operations))
  }
}

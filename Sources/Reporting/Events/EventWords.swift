// The words of events for machines. They are part of the format: docs/events.md.

import Plans
import Scheduling

extension RunEvent.Kind {
  var name: StaticString {
    switch self {
    case .began: "run_started"
    case .started: "command_started"
    case .outputGrew: "output_grew"
    case .terminalTaken: "terminal_taken"
    case .terminalReturned: "terminal_returned"
    case .ended: "command_ended"
    case .appended: "step_added"
    case .resolved: "step_resolved"
    case .waiting: "step_waiting"
    case .ready: "step_ready"
    case .heldUp: "step_held_up"
    case .placed: "command_placed"
    case .published: "outputs_published"
    case .retrying: "step_retrying"
    case .orphansFound: "processes_left"
    case .outOfReach: "processes_out_of_reach"
    case .restored: "outputs_restored"
    case .settled: "step_finished"
    case .stopping: "run_stopping"
    case .controlled: "run_changed"
    case .reopened: "step_reopened"
    case .notice: "notice"
    case .finished: "run_finished"
    }
  }
}

extension RunEvent.Kind {
  /// True if the event says what a screen shows, and nothing about a step.
  var isOfScreen: Bool {
    switch self {
    case .outputGrew, .terminalTaken, .terminalReturned: true
    case .began, .started, .ended, .appended, .resolved, .waiting, .published, .retrying,
      .orphansFound, .outOfReach, .restored, .settled, .stopping, .notice, .finished, .ready,
      .heldUp,
      .controlled, .reopened, .placed:
      false
    }
  }
}

extension StopReason {
  var word: StaticString {
    switch self {
    case .signal: "signal"
    case .failure: "failure"
    case .runTimeout: "run_timeout"
    case .groupTimeout: "group_timeout"
    case .noWidth: "no_width"
    case .suspended: "suspended"
    case .left: "left"
    case .noOutputs: "no_outputs"
    case .request: "request"
    case .stateFailure, .overtaken: "state_failure"
    case .died: "died"
    }
  }
}

extension OrphanAction {
  var word: StaticString {
    switch self {
    case .kill: "kill"
    case .warn: "warn"
    case .allow: "allow"
    }
  }
}

extension ByteSink {
  /// Writes milliseconds with three decimal places: `12.345`. A time shorter than a microsecond is
  /// 0.
  func write(milliseconds time: Nanoseconds) {
    let microseconds = Int(max(0, time) / 1000)
    write(decimal: microseconds / 1000)
    let rest = microseconds % 1000
    guard rest > 0 else { return }
    write(rest < 10 ? ".00" : rest < 100 ? ".0" : ".")
    write(decimal: rest)
  }
}

/// A moment in UTC, as RFC 3339 writes it: `2026-04-02T10:15:02.123456Z`.
func timeInUTC(_ time: Nanoseconds) -> String {
  let microseconds = String(1_000_000 + time / 1000 % 1_000_000).dropFirst()
  return "\(UTCTime(secondsSince1970: Int(time / 1_000_000_000)).text).\(microseconds)Z"
}

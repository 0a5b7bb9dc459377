// Outcomes, causes and ends of commands as they are in the database.

import Diagnostics
import Plans
import Scheduling

/// The number of an outcome, with what else is known about it.
struct RecordedOutcome: Hashable {
  /// Bit 3: the failure was allowed. Bit 4: of a group. Bit 5: left out.
  private static let allowed = 8
  private static let group = 16
  static let leftOut = 32
  /// The number of the outcome of a step that only the selection of a part left out.
  static let skippedForNow = Int(Outcome.skipped.rawValue) | leftOut

  private(set) var ending: Ending
  let isOfGroup: Bool
  /// Only because the run was to be resumed in part, it was skipped, or kept although it had changed, or it is a used
  /// pipeline that did not come to its end.
  let isLeftOut: Bool

  init(_ ending: Ending, isOfGroup: Bool, isLeftOut: Bool = false) {
    self.ending = ending
    self.isOfGroup = isOfGroup
    self.isLeftOut = isLeftOut
  }

  init?(number: Int) {
    guard let outcome = UInt8(exactly: number & 7).flatMap(Outcome.init(rawValue:)) else {
      return nil
    }
    ending = Ending(outcome, isAllowed: number & Self.allowed != 0)
    isOfGroup = number & Self.group != 0
    isLeftOut = number & Self.leftOut != 0
  }

  /// Takes back that the failure was allowed.
  mutating func forbid() { ending = Ending(ending.outcome) }

  var number: Int {
    Int(ending.outcome.rawValue) | (ending.isAllowed ? Self.allowed : 0) | marks
  }

  /// The bits that are not about the ending.
  var marks: Int { (isOfGroup ? Self.group : 0) | (isLeftOut ? Self.leftOut : 0) }
}

extension CommandEnd {
  /// The exit status, or the number of the signal below zero; nil if there is none.
  var recordedStatus: Int? {
    if case .outputsRefused = status { return 0 }
    return status.code.map { status.isSignal ? -Int($0) : Int($0) }
  }

  /// What says that its time limit ended a command, and that it was stopped for another reason.
  private static let (timeoutDetail, stoppedDetail) = ("timed out", "stopped")
  /// What stands around the time after which a service was given up.
  private static let (notReady, microseconds) = ("not ready after ", " µs")
  private static let abandonedDetail = "could not be ended, given up"
  /// What stands before the reason why a command was not started, or is lost.
  private static let (notStarted, lost) = ("not started: ", "lost: ")

  /// The details of the end.
  var recordedDetail: String? {
    switch status {
    case .notStarted where isStopped: Self.stoppedEarly
    case .exited, .signalled:
      timedOut
        ? Self.timeoutDetail
        : isStopped ? Self.stoppedDetail : notReadyAfter.map(Self.notReadyDetail)
    case .notStarted(let reason, _): Self.notStarted + reason
    case .outputsRefused(let reason): reason
    case .abandoned: Self.abandonedDetail
    case .lost(let reason): Self.lost + reason
    }
  }

  /// The end that is recorded like this. Times are in microseconds, memory is in KiB.
  init(
    status: Int?, detail: String?, duration: Int?, processor: Int?, memory: Int?, output: Int?
  ) {
    let (timedOut, isStopped) = (detail == Self.timeoutDetail, detail == Self.stoppedDetail)
    let notReadyAfter = detail.flatMap(Self.notReadyTime)
    let isPlain = timedOut || isStopped || notReadyAfter != nil
    let isStoppedEarly = detail == Self.stoppedEarly
    self.init(
      Self.status(status, isPlain ? nil : detail), timedOut: timedOut,
      isStopped: isStopped || isStoppedEarly, notReadyAfter: notReadyAfter,
      duration: Nanoseconds(duration ?? 0) * 1000,
      processorTime: Nanoseconds(processor ?? 0) * 1000,
      peakMemory: memory.map { Int64($0) << 10 }, outputByteCount: output ?? 0)
  }

  private static func notReadyDetail(_ time: Nanoseconds) -> String {
    "\(notReady)\(time / 1000)\(microseconds)"
  }

  /// The time in such a detail; nil for any other.
  private static func notReadyTime(_ detail: String) -> Nanoseconds? {
    guard detail.hasPrefix(notReady), detail.hasSuffix(microseconds) else { return nil }
    let time = detail.dropFirst(notReady.count).dropLast(microseconds.count)
    return Nanoseconds(time).map { max(0, min($0, 1 << 50)) * 1000 }
  }

  private static func status(_ status: Int?, _ detail: String?) -> Status {
    let code = status.map { Int32(clamping: $0) }
    guard let detail else {
      return code.map { $0 < 0 ? .signalled(-max($0, -.max)) : .exited($0) } ?? .abandoned
    }
    if detail == stoppedEarly { return .notStarted(detail, exitCode: code ?? 126) }
    if detail.hasPrefix(notStarted) {
      return .notStarted(String(detail.dropFirst(notStarted.count)), exitCode: code ?? 127)
    }
    if code == 0 { return .outputsRefused(detail) }
    if let code { return code < 0 ? .signalled(-max(code, -.max)) : .exited(code) }
    return detail.hasPrefix(lost) ? .lost(String(detail.dropFirst(lost.count))) : .abandoned
  }
}

extension Cause {
  /// The operation because of which a step was cancelled, by its recorded cause; nil if that names none.
  static func culprit(inRecorded words: String) -> String? {
    let start = "stopped "
    guard words.hasPrefix(start) else { return nil }
    return StopReason.culprit(in: words.dropFirst(start.count))
  }

  /// A word and what it is about; nil for the operation's own command.
  func recorded(_ name: (OperationID) -> String) -> String? {
    switch self {
    case .itself: nil
    case .dependency(let root): "dependency \(name(root))"
    case .condition(let text): "condition \(text)"
    case .timeLimit(let text): "time_limit \(text)"
    case .wait(let text): "wait \(text)"
    case .service(let text): "service \(text)"
    case .notReady(let text): "not_ready \(text)"
    case .hook(let kind): "hook \(kind.key)"
    case .stopped(let reason), .stoppedEarlier(let reason): "stopped \(reason.words(name))"
    }
  }
}

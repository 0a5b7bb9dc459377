// How commands ended, as it is in the database.

import Diagnostics
import Plans
import Scheduling

/// The recorded end of a command. Times are in microseconds, memory is in KiB.
package struct RecordedEnd: Hashable, Sendable {
  /// The exit status, or the number of the signal below zero; nil if there is none.
  package var status: Int?
  /// Details that the status does not tell.
  package var detail: String?
  package var duration: Int?
  package var processor: Int?
  /// The peak memory.
  package var memory: Int?
  package var output: Int?

  init(
    status: Int?, detail: String?, duration: Int? = nil, processor: Int? = nil, memory: Int? = nil,
    output: Int? = nil
  ) {
    self.status = status
    self.detail = detail
    self.duration = duration
    self.processor = processor
    self.memory = memory
    self.output = output
  }

  init(_ end: CommandEnd) {
    status = end.recordedStatus
    detail = end.recordedDetail
    duration = Int(end.duration / 1000)
    processor = Int(end.processorTime / 1000)
    memory = end.peakMemory.map { Int($0 >> 10) }
    output = end.outputByteCount
  }
}

extension CommandEnd {
  /// The details of a command that its time limit ended, and of one that was stopped for another reason.
  private static let (timeoutDetail, stoppedDetail) = ("timed out", "stopped")
  /// The texts around the time after which a service was given up.
  private static let (notReady, microseconds) = ("not ready after ", " µs")
  private static let abandonedDetail = "could not be ended, given up"
  private static let stoppedEarlyDetail = "stopped before it started"
  /// The texts before the reason why a command was not started, or is lost.
  private static let (notStarted, lost) = ("not started: ", "lost: ")

  fileprivate var recordedStatus: Int? {
    if case .outputsRefused = status { return 0 }
    return status.code.map { status.isSignal ? -Int($0) : Int($0) }
  }

  fileprivate var recordedDetail: String? {
    switch status {
    case .notStarted where isStopped: Self.stoppedEarlyDetail
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

  init(_ recorded: RecordedEnd) {
    let detail = recorded.detail
    let (timedOut, isStopped) = (detail == Self.timeoutDetail, detail == Self.stoppedDetail)
    let notReadyAfter = detail.flatMap(Self.notReadyTime)
    let isPlain = timedOut || isStopped || notReadyAfter != nil
    let isStoppedEarly = detail == Self.stoppedEarlyDetail
    self.init(
      Self.status(recorded.status, isPlain ? nil : detail), timedOut: timedOut,
      isStopped: isStopped || isStoppedEarly, notReadyAfter: notReadyAfter,
      duration: Nanoseconds(recorded.duration ?? 0) * 1000,
      processorTime: Nanoseconds(recorded.processor ?? 0) * 1000,
      peakMemory: recorded.memory.map { Int64($0) << 10 },
      outputByteCount: recorded.output ?? 0)
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
    if detail == stoppedEarlyDetail { return .notStarted(stoppedEarly, exitCode: code ?? 126) }
    if detail.hasPrefix(notStarted) {
      return .notStarted(String(detail.dropFirst(notStarted.count)), exitCode: code ?? 127)
    }
    if code == 0 { return .outputsRefused(detail) }
    if let code { return code < 0 ? .signalled(-max(code, -.max)) : .exited(code) }
    return detail.hasPrefix(lost) ? .lost(String(detail.dropFirst(lost.count))) : .abandoned
  }
}

// Reports that are written to files when a run has ended.

import Diagnostics
import Glibc
package import Masking
package import Plans
package import RunFiles
package import Scheduling

/// A format of a report.
protocol Report {
  func write(_ record: RunRecord, to sink: ByteSink)
}

/// The format of a report, and where it goes.
package struct ReportTarget {
  package enum Form: Sendable {
    case junit, trace, markdown, html, otlp, prometheus
    /// Markdown that is appended to the file, because many programs share the summary of a CI job.
    case appendedMarkdown
  }

  package let form: Form
  package let path: String

  package init(_ form: Form, path: String) {
    self.form = form
    self.path = path
  }
}

/// Records a run, and writes its reports at the end. A page is also written while the run lasts, for a
/// browser that shows it.
package final class ReportFiles: RunObserver {
  private let targets: [ReportTarget]
  private let masker: Masker?
  private var record: RunRecord
  /// When pages are written next; nil if nothing has happened since they were.
  package private(set) var deadline: Nanoseconds?
  private var earliestDraft = firstDraft
  private let hasPages: Bool
  /// Descriptors that are named by their paths. They are told apart from those that oprun opens itself only before a
  /// command is started.
  private var opened: [String: [ReplacedFile]] = [:]
  /// Messages about what could not be appended: a file of the CI runner does not make a run fail.
  package private(set) var warnings: [String] = []

  package init(_ targets: [ReportTarget], plan: Plan, directory: RunDirectory, masker: Masker?) {
    self.targets = targets
    self.masker = masker
    hasPages = targets.contains { $0.form == .html }
    record = RunRecord(RunOperations(plan: plan, directory: directory, masker: masker))
    for target in targets where !target.form.appends && target.isOfDescriptor {
      if let file = try? ReplacedFile(target.path) { opened[target.path, default: []].append(file) }
    }
  }

  /// The run before of the same pipeline.
  package var previous: PreviousRun? {
    get { record.previous }
    set { record.previous = newValue }
  }

  package func observe(_ event: RunEvent) throws(ObserverFailure) {
    record.observe(event)
    guard case .finished = event.kind else {
      if hasPages { deadline = earliestDraft }
      return
    }
    deadline = nil
    var failures: [String] = []
    for target in targets {
      do throws(SystemError) {
        try write(target)
      } catch {
        if target.form.appends {
          warnings.append(error.message)
        } else {
          failures.append(error.message)
        }
      }
    }
    if !failures.isEmpty { throw ObserverFailure(failures.joined(separator: "; ")) }
  }

  /// A run that is shorter has no page before its end.
  private static let firstDraft: Nanoseconds = 2_000_000_000
  private static let betweenDrafts: Nanoseconds = 5_000_000_000
  /// Writing pages takes at most this part of the time.
  private static let shareOfDrafts: Nanoseconds = 50

  /// Writes the pages anew. If that fails, the end of the run reports it.
  package func endTurn(at time: Nanoseconds) {
    guard let deadline, time >= deadline else { return }
    self.deadline = nil
    record.wallTime = time
    let start = monotonicTime()
    for target in targets where target.form == .html && target.isReplaced {
      try? write(target)
    }
    let pause = max(Self.betweenDrafts, Self.shareOfDrafts * (monotonicTime() - start))
    earliestDraft = time + pause
  }

  /// Observes a run that is over, whose logs are opened like those of one in progress.
  package func replay(_ events: [RunEvent]) {
    record.operations.replay(events) { record.observe($0) }
  }

  /// Writes a report of what was observed.
  package func write(_ form: ReportTarget.Form, to sink: ByteSink) {
    sink.isFormat = true
    form.report.write(record, to: sink)
  }

  private func write(_ target: ReportTarget) throws(SystemError) {
    if target.form.appends { return try append(target) }
    let known = opened[target.path]?.popLast()
    let file = if let known { known } else { try ReplacedFile(target.path) }
    try file.finish(write(target.form, to: file.descriptor))
  }

  private func append(_ target: ReportTarget) throws(SystemError) {
    let file = openForWriting(target.path, O_APPEND)
    guard file >= 0 else { throw unwritable(target.path, errno) }
    defer { close(file) }
    let error = write(target.form, to: file)
    if error != 0 { throw unwritable(target.path, error) }
  }

  /// Returns the error, or 0.
  private func write(_ form: ReportTarget.Form, to descriptor: Int32) -> Int32 {
    let sink = ByteSink(report: descriptor)
    sink.masker = masker
    write(form, to: sink)
    sink.flush()
    return sink.errorNumber
  }
}

extension ReportTarget {
  /// Whether others see it only when it is complete.
  fileprivate var isReplaced: Bool {
    guard let kind = try? WrittenPath(path).kind, case .file = kind else { return false }
    return true
  }

  fileprivate var isOfDescriptor: Bool {
    guard let kind = try? WrittenPath(path).kind, case .descriptor = kind else { return false }
    return true
  }
}

extension ReportTarget.Form {
  fileprivate var report: any Report {
    switch self {
    case .junit: JUnitReport()
    case .trace: TraceReport()
    case .html: HTMLReport()
    case .otlp: OTLPReport()
    case .prometheus: PrometheusReport()
    case .markdown, .appendedMarkdown: MarkdownReport()
    }
  }

  fileprivate var appends: Bool {
    switch self {
    case .appendedMarkdown: true
    case .junit, .trace, .markdown, .html, .otlp, .prometheus: false
    }
  }
}

private func monotonicTime() -> Nanoseconds {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Nanoseconds(time.tv_sec) * 1_000_000_000 + Nanoseconds(time.tv_nsec)
}

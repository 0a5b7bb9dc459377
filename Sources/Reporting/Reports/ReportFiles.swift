// Reports that are written to files when a run has ended.

package import Diagnostics
import Glibc
package import Masking
package import Plans
package import RunFiles
package import Scheduling

/// A format of a report.
protocol Report {
  func write(_ record: RunRecord, to sink: ByteSink)
}

/// The format of a report, and its target.
package struct ReportTarget {
  package enum Form: Sendable {
    case junit, trace, markdown, html, otlp, prometheus
    /// Markdown that is appended to the file, because many programs share the summary of a CI job.
    case appendedMarkdown
  }

  package let form: Form
  package let path: String
  /// The target; nil for a summary of a CI job that cannot be written, which only a warning at the
  /// end of the run reports.
  let output: OutputTarget?

  /// Fails if the report cannot be written, as far as that can be known before the run.
  package init(_ form: Form, path: String) throws(SystemError) {
    self.form = form
    self.path = path
    output = form.appends ? try? OutputTarget(path) : try OutputTarget(path)
  }
}

/// Records a run, and writes its reports at the end. A page is also written while the run lasts, for a
/// browser that shows it.
package final class ReportFiles: RunObserver {
  private let targets: [ReportTarget]
  private let masker: Masker?
  private var record: RunRecord
  /// When pages are written next; nil if nothing has happened since the last time.
  package private(set) var deadline: Nanoseconds?
  private var earliestDraft = firstDraft
  private let hasPages: Bool
  /// Messages about summaries that could not be appended: a file of the CI runner does not make a run fail.
  package private(set) var warnings: [String] = []

  package init(_ targets: [ReportTarget], plan: Plan, directory: RunDirectory, masker: Masker?) {
    self.targets = targets
    self.masker = masker
    hasPages = targets.contains { $0.form == .html }
    record = RunRecord(RunOperations(plan: plan, directory: directory, masker: masker))
  }

  /// The previous run of the same pipeline.
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

  /// The shortest run with a page before its end.
  private static let firstDraft: Nanoseconds = 2_000_000_000
  private static let betweenDrafts: Nanoseconds = 5_000_000_000
  /// Writing pages takes at most one part in this many of the time.
  private static let shareOfDrafts: Nanoseconds = 50

  /// Writes the pages anew. If that fails, the end of the run reports it.
  package func endTurn(at time: Nanoseconds) {
    guard let deadline, time >= deadline else { return }
    self.deadline = nil
    record.wallTime = time
    let start = monotonicTime()
    for target in targets where target.form == .html {
      if let output = target.output, output.acceptsDrafts {
        output.writeDraft { writeMasked(target.form.report, to: $0) }
      }
    }
    let pause = max(Self.betweenDrafts, Self.shareOfDrafts * (monotonicTime() - start))
    earliestDraft = time + pause
  }

  /// Observes a run that is over, whose logs are opened like those of one in progress.
  package func replay(_ forEachEvent: ((RunEvent) -> Void) -> Void) {
    record.operations.beginReplay()
    forEachEvent { record.observe($0) }
  }

  /// Writes a report of the observed events.
  package func write(_ form: ReportTarget.Form, to sink: ByteSink) {
    write(form.report, to: sink)
  }

  private func write(_ report: some Report, to sink: ByteSink) {
    sink.isFormat = true
    report.write(record, to: sink)
  }

  private func write(_ target: ReportTarget) throws(SystemError) {
    let output = if let known = target.output { known } else { try OutputTarget(target.path) }
    guard target.form.appends else {
      return try output.replace { writeMasked(target.form.report, to: $0) }
    }
    try output.append { size in
      let summary = summary(after: size)
      if summary == nil { warnings.append(noRoom(in: target.path)) }
      return summary ?? []
    }
  }

  /// The part of the summary that fits after `size` bytes of others; nil if there is none.
  private func summary(after size: Int) -> [UInt8]? {
    let room = MarkdownReport.longest - size
    return [room, 0].lazy.map { self.bytes(of: MarkdownReport(room: $0)) }.first {
      $0.count <= room
    }
  }

  private func noRoom(in path: String) -> String {
    "\(quoted(path)) has no room for the summary of the run: GitHub shows no summary of more than 1 MiB"
  }

  private func bytes(of report: some Report) -> [UInt8] {
    let sink = ByteSink.intoMemory(capacity: 64 << 10)
    writeMasked(report, to: sink)
    return sink.bytes
  }

  private func writeMasked(_ report: some Report, to sink: ByteSink) {
    sink.masker = masker
    write(report, to: sink)
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

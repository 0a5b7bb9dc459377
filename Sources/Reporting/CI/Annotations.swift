// The failures of a run that a CI runner shows beside the files of a change, each at the place of
// its step. Runners show only the first few of a job.

package import Diagnostics
import Plans
import Scheduling

/// Annotations of a run, written when a failure happens. Where there are too many, the last one that is
/// shown names the others.
struct Annotations {
  /// GitHub and Azure Pipelines keep 10 errors and 10 warnings of a step (`_maxIssueCount` in the
  /// `ExecutionContext` of both runners).
  fileprivate static let limit = 10
  private static let mostNames = 20
  private static let lineCount = 5
  private static let columns = 200

  /// The annotations of one level.
  private struct Level {
    var written = 0
    /// The first annotation that is not written yet.
    var next: Annotation?
    var names: [String] = []
    var rest: Int = 0
  }

  private let operations: RunOperations
  private let screen: Screen
  private let log: CILog
  private let lines: ProgressLines
  private var errors = Level()
  private var warnings = Level()

  init(_ operations: RunOperations, _ lines: ProgressLines, on screen: Screen, _ log: CILog) {
    self.operations = operations
    self.lines = lines
    self.screen = screen
    self.log = log
  }

  mutating func add(_ settled: SettledOperation) {
    guard settled.ending.outcome.isFailure else { return }
    if settled.ending.isAllowed {
      add(settled, .warning, to: \.warnings)
    } else {
      add(settled, .error, to: \.errors)
    }
  }

  private mutating func add(
    _ settled: SettledOperation, _ kind: Annotation.Level, to level: WritableKeyPath<Self, Level>
  ) {
    if self[keyPath: level].written < Self.limit - 1 {
      self[keyPath: level].written += 1
      return write(annotation(of: settled, kind))
    }
    if self[keyPath: level].rest == 0 { self[keyPath: level].next = annotation(of: settled, kind) }
    self[keyPath: level].rest += 1
    if self[keyPath: level].names.count < Self.mostNames {
      self[keyPath: level].names.append(operations.name(settled.operation))
    }
  }

  /// Writes the last annotations at the end of the run.
  mutating func finish(_ end: RunEnd, _ counts: EndingCounts) {
    finish(errors, .error, "failed")
    finish(warnings, .warning, "failed, which is allowed")
    guard end.exitStatus != 0, errors.written == 0 else { return }
    let words = end.remarks(operations, counts).joined(separator: ", ")
    if words.isEmpty { return }
    let name = shortName(operations.plan.name)
    write(
      Annotation(
        level: .error, id: "", title: masked("\(name) failed"), message: masked(words), place: nil))
  }

  private func finish(_ level: Level, _ kind: Annotation.Level, _ words: String) {
    guard let next = level.next else { return }
    guard level.rest > 1 else { return write(next) }
    let others = level.rest - level.names.count
    let names = level.names.joined(separator: ", ") + (others > 0 ? " and \(others) more" : "")
    write(
      Annotation(
        level: kind, id: "+", title: "\(level.rest) more steps \(words)", message: masked(names),
        place: nil))
  }

  private func write(_ annotation: Annotation) {
    screen.turnToMessages()
    guard let line = log.dialect.annotation(annotation) else { return }
    log.writeOwn(line, to: screen.messages)
  }

  private func masked(_ text: String) -> String { log.words(text, screen.messages) }
}

extension Annotations {
  private func annotation(
    of settled: SettledOperation, _ level: Annotation.Level
  ) -> Annotation {
    let name = operations.name(settled.operation)
    let words = screen.messages.captured { lines.writeEnd(of: settled, to: $0) }
    let outcome = settled.ending.outcome == .timedOut ? "timed out" : "failed"
    return Annotation(
      level: level, id: masked(name), title: masked("\(oneLine(name)) \(outcome)"),
      message: masked(([words] + lastLines(of: settled)).joined(separator: "\n")),
      place: place(of: settled.operation))
  }

  private func lastLines(of settled: SettledOperation) -> [String] {
    guard let decisive = settled.decisive, decisive.end.outputByteCount > 0 else { return [] }
    let stream = Stream(operation: settled.operation, role: decisive.role)
    guard let log = try? operations.log(of: stream, writtenTo: decisive.log) else { return [] }
    return LogTail(of: log, limit: Self.lineCount, columns: Self.columns, buffer: screen.scratch)
      .lines
  }

  private func place(of operation: OperationID) -> Annotation.Location? {
    guard !operations.plan.sources.files.isEmpty else { return nil }
    let position = operations.plan.sources.position(of: operations.step(operation).span)
    // Standard input has no path.
    guard !position.path.hasPrefix("<") else { return nil }
    let path = log.options.path(of: position.path)
    return Annotation.Location(path: masked(path), line: position.line, column: position.column)
  }
}

extension CIOptions {
  /// The path as the runner counts it: from its root, if the file is in there.
  func path(of path: String) -> String {
    var parts: [Substring] = []
    for part in (path.hasPrefix("/") ? path : "\(directory)/\(path)").split(separator: "/") {
      if part == ".." { _ = parts.popLast() } else if part != "." { parts.append(part) }
    }
    let absolute = parts.joined(separator: "/")
    guard let root else { return path }
    let prefix = root.split(separator: "/").joined(separator: "/") + "/"
    return absolute.hasPrefix(prefix) ? String(absolute.dropFirst(prefix)) : path
  }
}

extension ByteSink {
  /// Makes a CI runner show the faults of a pipeline beside its lines. The sink must be harmless to the runner.
  package func write(
    annotationsOf diagnostics: [Diagnostic], in sources: SourceMap, for options: CIOptions
  ) {
    let log = CILog(options)
    for diagnostic in diagnostics.prefix(Annotations.limit) {
      let position = sources.position(of: diagnostic.primary.span)
      let message = [diagnostic.message, diagnostic.help.map { "help: \($0)" }].compactMap { $0 }
      let place = Annotation.Location(
        path: log.words(options.path(of: position.path), self), line: position.line,
        column: position.column)
      let annotation = Annotation(
        level: .error, id: "file", title: "invalid pipeline",
        message: log.words(message.joined(separator: "\n"), self),
        place: position.path.hasPrefix("<") ? nil : place)
      if let line = log.dialect.annotation(annotation) { log.writeOwn(line, to: self) }
    }
  }
}

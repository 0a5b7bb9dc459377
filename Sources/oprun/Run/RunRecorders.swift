// The files that a run writes for machines, as requested on the command line: events while it runs,
// reports at its end.

import Diagnostics
import Execution
import Glibc
import Plans
import Reporting
import RunFiles
import State

struct RunRecorders {
  private let recorder: RunRecorder
  private let events: [EventWriter]
  /// The targets of the events, in words.
  private let eventPlaces: [String]
  private let reports: ReportFiles?
  private let outputs: OutputsFile?

  /// The options that name a file to write.
  static let options = [
    Options.events, Options.junit, Options.report, Options.summary, Options.trace,
    Options.outputs,
  ]

  /// The options whose variables steps do not get: an oprun that a step starts does not overwrite
  /// the files of this one, and does not leave its jobs, which would let the step succeed before
  /// they are done.
  private static let optionsOfThisRun = options + [Options.detach]

  /// Checks the options. Must be called before any file is opened, so that a descriptor which the
  /// caller has not opened is not one of oprun's.
  static func check(_ invocation: Invocation) throws(UsageFailure) {
    for option in invocation.command.options
    where optionsOfThisRun.contains(where: { $0.name == option.name }) {
      unsetenv(option.variable)
    }
    try checkFiles(invocation)
    guard let words = invocation.text(Options.events) else { return }
    try EventTarget.check(words)
    guard EventTarget.isStandardOutput(words), let mode = invocation.text(Options.output),
      mode != OutputMode.quiet.rawValue, mode != OutputMode.json.rawValue
    else { return }
    throw .eventsAmongOutput(mode)
  }

  private static func checkFiles(_ invocation: Invocation) throws(UsageFailure) {
    var written: [String: Option] = [:]
    for option in options {
      guard let path = invocation.text(option) else { continue }
      guard let file = identityOfFile(at: path) else { continue }
      if let other = written.updateValue(option, forKey: file) {
        throw .sameFile(path, other, option)
      }
    }
  }

  /// True if the progress of the run is written to a file, or to standard output for a program.
  static func writesFiles(_ invocation: Invocation) -> Bool {
    invocation.writesEventsToOutput || options.contains { invocation.text($0) != nil }
  }

  /// Throws if a file to write, by whatever name, is one that was read.
  static func check(_ invocation: Invocation, read files: [String]) throws(UsageFailure) {
    for option in options {
      guard let path = invocation.text(option), let file = FileIdentity(ofRegularFileAt: path)
      else { continue }
      if files.contains(where: { FileIdentity(ofRegularFileAt: $0) == file }) {
        throw .overwritesSource(path, option, invocation.command)
      }
    }
  }

  init(
    _ invocation: Invocation, _ plan: Plan, _ options: RunOptions, _ recorder: RunRecorder
  ) throws(SystemError) {
    self.recorder = recorder
    let targets = try Self.targets(invocation)
    let masker = options.secrets.masker
    outputs =
      if let path = invocation.text(Options.outputs) { try OutputsFile(path) } else { nil }
    reports =
      targets.isEmpty
      ? nil : ReportFiles(targets, plan: plan, directory: options.directory, masker: masker)
    var events: [EventWriter] = []
    for words in Self.eventTargets(invocation) {
      let target = try EventTarget(words)
      events.append(
        EventWriter(
          target.descriptor, fileName: target.fileName, plan: plan, directory: options.directory,
          masker: masker))
    }
    self.events = events
    eventPlaces = Self.eventTargets(invocation).map {
      EventTarget.isStandardOutput($0) ? "standard output" : "the events to \(quoted($0))"
    }
    if targets.contains(where: { $0.form == .html }), let (store, place) = recorder.history {
      reports?.previous = previousRun(before: nil, of: place, in: store)
    }
  }

  /// The targets of events: `--output json` means `--events -`, and `--events` may add another one.
  private static func eventTargets(_ invocation: Invocation) -> [String] {
    let chosen = invocation.text(Options.events)
    let isJSON = invocation.text(Options.output) == OutputMode.json.rawValue
    guard isJSON, !(chosen.map(EventTarget.isStandardOutput) ?? false) else {
      return chosen.map { [$0] } ?? []
    }
    return ["-"] + (chosen.map { [$0] } ?? [])
  }

  private static func targets(
    _ invocation: Invocation
  ) throws(SystemError) -> [ReportTarget] {
    let files: [(Option, ReportTarget.Form)] = [
      (Options.junit, .junit), (Options.report, .html), (Options.summary, .markdown),
      (Options.trace, .trace),
    ]
    var targets: [ReportTarget] = []
    for (option, form) in files {
      if let path = invocation.text(option) { targets.append(try ReportTarget(form, path: path)) }
    }
    // GitHub shows this file on the page of a job. Other steps have written to it, too.
    if let path = environmentValue("GITHUB_STEP_SUMMARY"), !path.isEmpty {
      let file = identityOfFile(at: path)
      targets.removeAll {
        $0.form == .markdown && file != nil && identityOfFile(at: $0.path) == file
      }
      targets.append(try ReportTarget(.appendedMarkdown, path: path))
    }
    return targets
  }

  /// The observers that record; they come before those that show the run.
  var observers: [any RunObserver] {
    let files: [(any RunObserver)?] = [reports, outputs]
    return [recorder] + events + files.compactMap { $0 }
  }

  var outlets: [any RunOutlet] { events.compactMap(\.outlet) }

  /// The target that lacks events, in words, and the error; nil if none does.
  var loss: (place: String, error: Int32)? {
    zip(eventPlaces, events).lazy.compactMap { place, stream in
      stream.lossError.map { (place, $0) }
    }.first
  }

  /// The notices for a run that had to wait because another program had locked the database.
  private var standstill: [String] {
    let locked = "another program locked the state database: the "
    var notices: [String] = []
    if recorder.standstill >= Self.toldStandstill {
      notices.append(
        locked + "run waited for the lock for " + elapsedText(recorder.standstill)
          + ", and steps that ended in this time may seem to have taken longer")
    }
    if recorder.standstillAtEnd >= Self.toldStandstill {
      notices.append(
        locked + "end of the run waited for the lock for " + elapsedText(recorder.standstillAtEnd))
    }
    return notices
  }

  /// The shortest wait, in nanoseconds, that is reported.
  private static let toldStandstill: Int64 = 200_000_000

  /// Performs the work that is left at the end of the run, and returns the warnings to show.
  func conclude() -> [String] {
    let pruned =
      recorder.tidy(.automatic, isBusy: { $0.isDirectoryNeeded(of: $1) }).map { [$0] } ?? []
    // The kernel closes the database, faster than SQLite would: everything is written.
    keepUntilExit(recorder)
    return recorder.notices + standstill + pruned + (reports?.warnings ?? [])
      + (outputs?.warnings ?? [])
  }
}

extension FileIdentity {
  /// The regular file that a path leads to; nil if it leads to none.
  fileprivate init?(ofRegularFileAt path: String) {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    self.init(status)
  }
}

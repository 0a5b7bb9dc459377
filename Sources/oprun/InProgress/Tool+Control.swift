// `oprun pause`, `continue`, `cancel`, `retry`, `set`: they ask a run in progress to change.

import Diagnostics
import Execution
import Glibc
import Plans
import Processors
import Reporting
import RunFiles
import Scheduling
import State

extension Tool {
  func control(
    _ verb: ControlRequest.Verb, _ invocation: Invocation
  ) throws(UsageFailure) -> Int32 {
    let (run, request) = try controlRequest(verb, invocation)
    return try withRun(run, invocation) { directory throws(RunConnection.Failure) in
      let connection: RunConnection
      do throws(RunConnection.Failure) {
        connection = try RunConnection(directory, request)
      } catch {
        guard case .gone = error, request.isOfWholeRun, !directory.isInUse,
          let status = cancelAbandoned(directory, invocation)
        else { throw error }
        return status
      }
      guard let answer = try connection.line() else { throw .gone }
      return show(answer, invocation)
    }
  }

  /// Shows an answer; returns the exit status.
  private func show(_ answer: ArraySlice<UInt8>, _ invocation: Invocation) -> Int32 {
    guard let fields = understood(answer, invocation) else { return ExitStatus.refused }
    if invocation.isOn(Options.json) {
      output.write(String(decoding: answer, as: UTF8.self))
      output.writeNewline()
    } else if let message = fields.text("message") {
      output.write(oneLine(message))
      output.writeNewline()
    }
    return ExitStatus.success
  }

  /// The first line of an answer; nil if it is a refusal, or of another version, which has been reported.
  func understood(_ line: ArraySlice<UInt8>, _ invocation: Invocation) -> ControlLine? {
    guard let fields = ControlLine(line), let version = fields.number("protocol") else {
      say("the answer of the run is invalid")
      return nil
    }
    if version != ControlRequest.version {
      let program = fields.text("oprun") ?? "?"
      say(
        "the run is one of oprun \(oneLine(program)), which answers in version \(version), wanted "
          + "\(ControlRequest.version)", help: "use the oprun that started it")
      return nil
    }
    if fields.isTrue("ok") { return fields }
    if invocation.isOn(Options.json) {
      output.write(String(decoding: line, as: UTF8.self))
      output.writeNewline()
    } else {
      say(fields.text("error") ?? "the run refused the request", help: fields.text("help"))
    }
    return nil
  }

  // MARK: Finding the run

  /// Finds the run and calls `body` with its directory; returns the exit status.
  func withRun(
    _ word: String?, _ invocation: Invocation,
    _ body: (RunDirectory) throws(RunConnection.Failure) -> Int32
  ) throws(UsageFailure) -> Int32 {
    var invocation = invocation
    guard let folder = try openState(&invocation) else { return ExitStatus.notInProgress }
    let name: String
    switch try runInProgress(word, in: folder, invocation.command) {
    case .success(let found): name = found
    case .failure(let failure): return failure.status
    }
    guard let directory = folder.run(named: name) ?? lostRun(name, folder, invocation.command)
    else {
      return sayNotInProgress(name, folder)
    }
    do throws(RunConnection.Failure) {
      return try body(directory)
    } catch {
      switch error {
      case .gone: return sayNotInProgress(name, folder)
      case .silent:
        say(
          "run \(name) does not answer",
          help: "it may have been stopped (Ctrl-Z), or be too old to answer")
        return ExitStatus.refused
      case .elsewhere:
        say(
          "run \(name) can be followed only on its own machine",
          help: "leave '--follow' out, or log in there")
        return ExitStatus.refused
      case .errno(let number):
        say("cannot reach run \(name): \(SystemError.reason(number))")
        return ExitStatus.refused
      }
    }
  }

  /// The directory of a run that somebody has removed, made again for `oprun cancel` if the run may
  /// have open jobs; otherwise nil.
  private func lostRun(
    _ name: String, _ folder: StateFolder, _ command: Subcommand
  ) -> RunDirectory? {
    guard command.name == Subcommand.cancel.name, let store = try? StateStore.find(in: folder)
    else {
      return nil
    }
    do throws(OpenWork.Unknown) {
      _ = try openWork(of: name, in: store)
      return nil
    } catch {
      return folder.keptRun(named: name)
    }
  }

  /// The name of the run that a word means. A fault of it has been reported.
  private func runInProgress(
    _ word: String?, in folder: StateFolder, _ command: Subcommand
  ) throws(UsageFailure) -> Result<String, ReportedFailure> {
    var all = folder.names(in: "runs").filter(StateFolder.isRunName).sorted(by: >)
    if command.name == Subcommand.cancel.name, word.map(all.contains) == false,
      let recorded = try? StateStore.find(in: folder)?.runNames()
    {
      all = Set(all + recorded).sorted(by: >)
    }
    let word = word == "last" ? newestRun(among: all, folder) : word
    guard let word else { return try onlyRun(among: all, folder, command) }
    let meant = runs(named: word, among: all)
    let running = meant.count > 1 ? runsInProgress(among: meant, folder) : meant
    if running.count > 1 || running.isEmpty && meant.count > 1 {
      throw .severalRuns(word, running.isEmpty ? meant : running, command)
    }
    guard let name = running.first else { throw .unknownRun(word, among: all, command) }
    return .success(name)
  }

  /// The run that began last: one that is not recorded yet, or otherwise the last recorded one. The
  /// names of runs that began in the same second are not in order.
  private func newestRun(among names: [String], _ folder: StateFolder) -> String? {
    let store = try? StateStore.find(in: folder)
    let recorded = (try? store?.runNames()) ?? []
    let known = Set(recorded)
    let beginning = names.first {
      !known.contains($0) && folder.run(named: $0)?.isInUse == true
    }
    return beginning ?? recorded.first ?? names.first
  }

  private func onlyRun(
    among all: [String], _ folder: StateFolder, _ command: Subcommand
  ) throws(UsageFailure) -> Result<String, ReportedFailure> {
    // A run without a socket is one of the newest.
    let candidates = all.enumerated().filter { index, name in
      index < 4 || folder.hasControl(of: name)
    }
    let running = runsInProgress(among: candidates.map(\.element), folder)
    if running.count > 1 { throw .severalRunsInProgress(running, command) }
    if let name = running.first { return .success(name) }
    // A run whose oprun died may have left jobs in Slurm.
    if command.name == Subcommand.cancel.name,
      let name = all.prefix(4).first(where: { folder.run(named: $0)?.hasNodeFiles == true })
    {
      return .success(name)
    }
    say(
      "no run is in progress in \(quoted(folder.path))",
      help: all.isEmpty ? nil : "'oprun history' lists past runs")
    return .failure(ReportedFailure(status: ExitStatus.notInProgress))
  }

  /// The runs in progress. The lock of a run is held until its oprun has ended. The database knows
  /// which runs have ended before that; it is asked only if there is a doubt.
  private func runsInProgress(among names: [String], _ folder: StateFolder) -> [String] {
    let locked = names.filter { folder.run(named: $0)?.isInUse ?? false }
    let isCertain = locked.count < 2 && locked.allSatisfy(folder.hasControl)
    guard !isCertain, let store = try? StateStore.find(in: folder) else { return locked }
    return locked.filter(store.isInUse)
  }

  func sayNotInProgress(_ name: String, _ folder: StateFolder) -> Int32 {
    let run = (try? StateStore.find(in: folder)).flatMap { try? $0?.run(named: name) }
    var end = ""
    if let run, let status = run.exitStatus {
      end = ": it \(run.wasLeft ? "was left" : run.state(isInUse: false)), exit \(status)"
    } else if run != nil {
      end = ": its oprun died"
    }
    say(
      "run \(name) is no longer in progress" + end,
      help: "'oprun show \(name)' shows how it ended")
    return ExitStatus.notInProgress
  }
}

extension ControlRequest {
  /// True if the whole run is to end.
  fileprivate var isOfWholeRun: Bool { verb == .cancel && step == nil && queue == nil }
}

extension RunDirectory {
  fileprivate var hasNodeFiles: Bool { access("\(path)/@node", F_OK) == 0 }
}

extension StateFolder {
  fileprivate func hasControl(of name: String) -> Bool {
    faccessat(descriptor, "runs/\(name)/\(RunDirectory.controlName)", F_OK, 0) == 0
  }
}

// Requests.
extension Tool {
  private func controlRequest(
    _ verb: ControlRequest.Verb, _ invocation: Invocation
  ) throws(UsageFailure) -> (run: String?, request: ControlRequest) {
    var request = ControlRequest(verb)
    request.queue = invocation.text(Options.queue)
    var words = invocation.operands
    var run: String?
    if verb == .set { return try settingRequest(request, words) }
    if verb == .pause || verb == .proceed || words.count > 1
      || words.first.map(Invocation.canOnlyBeRun) == true
    {
      run = words.isEmpty ? nil : words.removeFirst()
    }
    request.step = words.first
    if verb == .retry, request.step == nil {
      throw UsageFailure(
        "'oprun retry' needs a step", help: "name it: oprun retry \(run ?? "RUN") STEP",
        command: Subcommand.retry.name)
    }
    return (run, request)
  }

  private func settingRequest(
    _ start: ControlRequest, _ words: [String]
  ) throws(UsageFailure) -> (run: String?, request: ControlRequest) {
    var request = start
    guard let place = words.firstIndex(where: { $0.contains("=") }), place <= 1,
      words.count <= place + 2
    else { throw .wrongSetting(words.last ?? "") }
    let parts = words[place].split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let value = String(parts[1])
    request.step = words.count > place + 1 ? words[place + 1] : nil
    switch parts[0] {
    case "max_parallel":
      guard let width = value == "auto" ? availableProcessorCount : Int(value),
        (0...ControlRequest.mostParallel).contains(width)
      else {
        throw .wrongWidth(value)
      }
      request.maxParallel = width
    case "priority":
      guard let priority = Self.priorities[value] ?? Int(value),
        (-1000...1000).contains(priority)
      else {
        throw .wrongPriority(value)
      }
      if request.step == nil { throw .missingStepOfPriority }
      request.priority = priority
    default: throw .wrongSetting(words[place])
    }
    return (place == 1 ? words[0] : nil, request)
  }

  private static let priorities = [
    "very_low": -8, "low": -4, "normal": 0, "high": 4, "very_high": 8,
  ]
}

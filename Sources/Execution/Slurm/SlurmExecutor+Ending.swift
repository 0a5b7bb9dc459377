// The ends of tasks: results that jobs have written, and the meaning of a missing one.

import Diagnostics
import Glibc
import Plans
import RunFiles
import Running
import Scheduling

/// Why a task has no result.
enum MissingResult {
  /// Somebody, or oprun, has cancelled the job; nil if the job is not known any more.
  case cancelled(QueuedJob?)
  case timeLimit(QueuedJob)
  case outOfMemory(QueuedJob)
  /// The job had begun, and its node is gone.
  case lostNode(String)
  /// The job cannot have begun.
  case neverStarted(String)
  /// The job has ended by itself.
  case noResult(QueuedJob)
  /// Slurm does not know the job any more.
  case vanished
}

extension TaskResult.Event {
  func kind(of operation: OperationID) -> RunEvent.Kind {
    switch self {
    case .notice(let text): .notice(text)
    case .orphans(let processes, let action):
      .orphansFound(operation, processes: processes, action: action)
    case .outOfReach(let processes): .outOfReach(operation, processes: processes)
    }
  }
}

extension SlurmExecutor {
  // MARK: Results

  /// When results are looked for; nil if no job can write one.
  var scanDue: Nanoseconds? {
    counts.open > 0 ? scans.due : nil
  }

  /// Takes results, and decides tasks that can be decided without one. `isThorough` lists results
  /// even if none seems to have come.
  func scan(at now: Nanoseconds, isThorough: Bool = false) {
    let hasChanges = scans.begin(at: now)
    var count = 0
    for home in [home].compactMap(\.self)
      + earlierHomes.values.sorted(by: { $0.folder < $1.folder })
    where !home.tasks.isEmpty {
      if home.mayHaveNewResults(at: now) || isThorough || hasChanges {
        count += takeResults(in: home, at: now)
      }
      if !stops.asked.isEmpty { count += endStopped(in: home, at: now) }
    }
    scans.end(found: count)
    lookAtNoticed(at: now)
  }

  private func lookAtNoticed(at now: Nanoseconds) {
    let known = noticed.compactMap { tasks[$0] }
    for task in known.sorted(by: { $0.number < $1.number }) {
      if task.missedSince != nil { decideIfDue(task, at: now) }
      if task.seen?.state == .running { showLog(of: task) }
    }
  }

  private func takeResults(in home: TaskHome, at now: Nanoseconds) -> Int {
    var count = 0
    home.listedAt = now
    do throws(SystemError) {
      let results = try home.files.results()
      let accepted =
        results.isEmpty
        ? [:] : TaskStart.accepted(results: results, starts: try home.files.starts())
      for number in accepted.keys.sorted() {
        guard let task = home.tasks[number], let start = accepted[number] else { continue }
        guard let result = try? home.files.result(of: start) else {
          home.distrust()
          continue
        }
        count += 1
        if start.restart > 0 || task.againCount > 0 { news.append(.beganAgain(task.key)) }
        finish(task, result, at: now)
      }
      home.isBlind = false
    } catch {
      cannotList(home, error)
    }
    return count
  }

  /// Handles results that cannot be listed now: they are looked for again, unless their directory is gone.
  private func cannotList(_ home: TaskHome, _ error: SystemError) {
    if error.errno == ENOENT || access(home.files.path, F_OK) != 0 && errno == ENOENT {
      return news.append(.stateFailed(error.message))
    }
    home.distrust()
    if home.isBlind { return }
    home.isBlind = true
    news.append(.event(.notice(SlurmMessage.cannotList(error.message))))
  }

  /// Ends the tasks whose jobs note that their commands have ended because they were asked to. A
  /// note from before a restart of the job by Slurm is about an earlier start.
  private func endStopped(in home: TaskHome, at now: Nanoseconds) -> Int {
    guard let stops = try? home.files.stops(), let starts = try? home.files.starts() else {
      return 0
    }
    var count = 0
    for stop in TaskStart.accepted(results: stops, starts: starts).values.sorted() {
      guard let task = home.tasks[stop.task], let signal = task.stopSignal else { continue }
      count += 1
      end(
        task, CommandEnd(.signalled(signal), duration: now - task.startedAt), hasResult: true,
        at: now)
    }
    return count
  }

  private func finish(_ task: SlurmTask, _ result: TaskResult, at now: Nanoseconds) {
    hasSeenClaim = true
    let place = CommandPlacement(job: result.place.job, node: result.place.host)
    if task.seen?.node != place.node { tell(place, of: task) }
    for event in result.events { news.append(.event(event.kind(of: task.key.operation))) }
    if let failure = result.stateFailure { news.append(.stateFailed(failure)) }
    taken[task.key] = result.outputs ?? []
    end(task, result.end, hasResult: true, at: now)
  }

  // MARK: No result

  func conclude(_ task: SlurmTask, _ reason: MissingResult, at now: Nanoseconds) {
    let duration = now - task.startedAt
    func lose(_ words: String, timedOut: Bool = false) {
      end(task, CommandEnd(.lost(words), timedOut: timedOut, duration: duration), at: now)
    }
    if let signal = task.stopSignal {
      return end(task, CommandEnd(.signalled(signal), duration: duration), at: now)
    }
    switch reason {
    case .cancelled(let job): lose(SlurmMessage.cancelledOutside(job))
    case .timeLimit(let job): lose(SlurmMessage.timeLimit(job), timedOut: true)
    case .outOfMemory(let job): lose(SlurmMessage.outOfMemory(job))
    case .lostNode(let words):
      if task.request.onNodeFailure == .fail || !tryAgain(task, because: words, at: now) {
        lose(words)
      }
    case .neverStarted(let words):
      if !tryAgain(task, because: words, at: now) { lose(words) }
    case .noResult(let job):
      let words = task.lastWords(of: job)
      let holder = holder(of: task)
      guard hasSeenClaim || holder != .nobodyYet else {
        return lose(
          words.isEmpty
            ? SlurmMessage.notShared(job, task.home.folder) : SlurmMessage.noResult(job, words))
      }
      // The job has begun, so the directory is shared, and its result may only be late.
      if let since = task.missedSince, now < since + plan.fileWait { return }
      let reason = SlurmMessage.noResult(job, words)
      if !repeats(task, hasBegun: holder != .nobodyYet, because: reason, at: now) { lose(reason) }
    case .vanished:
      // A job that appears later finds the task taken.
      let holder = takeAway(task)
      if holder != .oprun, task.missedSince.map({ now >= $0 + plan.fileWait }) != true {
        return awaitResult(of: task, at: now)
      }
      if case .unknown(let words) = holder { return lose(SlurmMessage.unknownHolder(words)) }
      let reason = SlurmMessage.vanished(task.job)
      if !repeats(task, hasBegun: holder != .oprun, because: reason, at: now) { lose(reason) }
    }
  }

  /// Submits a command whose job is gone once more; false if it may not run twice, or was tried too often.
  private func repeats(
    _ task: SlurmTask, hasBegun: Bool, because words: String, at now: Nanoseconds
  ) -> Bool {
    guard task.request.onNodeFailure == .retry || !hasBegun else { return false }
    return tryAgain(task, because: words, at: now)
  }

  // MARK: Ends

  /// Reports the end of a command, the last event about it. `hasResult` is true if a file of its
  /// job says how it has ended.
  func end(
    _ task: SlurmTask, _ end: CommandEnd, hasResult: Bool = false, at now: Nanoseconds
  ) {
    guard tasks[task.key] === task else { return }
    var end = end
    let isOver = hasResult || self.isOver(task)
    // A job that goes on writes to the same place.
    if isOver { bringHome(task) }
    task.hasShownLog = false
    let size = showLog(of: task)
    // Nobody has counted the output of a job without a result.
    if end.outputByteCount == 0, let size { end = end.with(outputByteCount: size) }
    settle(task, isOver: isOver)
    tasks[task.key] = nil
    task.phase = .held
    stops.forget(task.key)
    noticed.remove(task.key)
    if counts.out == 0 { looks.noteLastEnd() }
    held.noteEnd(at: now)
    news.append(.ended(task.key, end))
  }

  /// Takes over the log of a job that an earlier run had begun. The log stays there, too, until the
  /// end of the task is recorded: if this process dies before, a run that resumes takes the result
  /// and the log from there again.
  private func bringHome(_ task: SlurmTask) {
    guard let name = task.earlierLog else { return }
    for (old, new) in [
      (RunDirectory.gapName(of: name), RunDirectory.gapName(of: task.command.logName)),
      (name, task.command.logName),
    ] {
      let (old, new) = ("\(task.home.folder)/\(old)", "\(parts.folder)/\(new)")
      if link(old, new) == 0 {
        earlier.noteBroughtLog(old, of: task.ownNumber)
      } else if errno != ENOENT {
        // The file system has no links, or something else has the name.
        rename(old, new)
      }
    }
    task.earlierLog = nil
  }

  /// Adds the log of a job to those that are shown, and returns its size. The log is not opened
  /// before it is asked for.
  @discardableResult
  private func showLog(of task: SlurmTask) -> Int? {
    let directory = parts.directory
    let name = task.earlierLog ?? task.command.logName
    let path = task.earlierLog == nil ? nil : "\(task.home.folder)/\(name)"
    var status = stat()
    guard
      fstatat(directory.descriptor, path ?? name, &status, AT_SYMLINK_NOFOLLOW) == 0,
      status.st_mode & S_IFMT == S_IFREG
    else { return nil }
    if !task.hasShownLog {
      task.hasShownLog = true
      directory.logs.add(of: task.key.operation, task.key.role) { [unowned directory] in
        let file =
          path.map { open($0, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) }
          ?? directory.open(name)
        return file < 0 ? nil : LogFile(owning: file)
      }
    }
    let size = Int(status.st_size)
    if size > task.toldByteCount {
      task.toldByteCount = size
      news.append(.outputGrew(task.key, byteCount: size))
    }
    return size
  }
}

extension SlurmTask {
  /// The last line that its job has printed outside of the command, such as why a shell could not
  /// start oprun; empty if there is none.
  fileprivate func lastWords(of job: QueuedJob) -> String {
    let index = JobName(job.id).index
    let name = SlurmCommands.outputName(base: number - (index ?? 0), index: index.map(String.init))
    let lines = (try? home.files.content(of: .jobs, name))?.split(separator: UInt8(ascii: "\n"))
    return String(decoding: lines?.last?.prefix(300) ?? [], as: UTF8.self)
  }
}

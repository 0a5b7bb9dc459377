// A Slurm without machines, in virtual time: it answers late, loses jobs and answers, and forgets. The script
// of a command says what its jobs do.

import Glibc
import Plans
import Running
import Scheduling

@testable import Execution

/// Runs scripts such as `lost; 3@2`: what each job of the step does in turn, the last for all further ones.
/// Times are in seconds.
///
/// `0@2` ends with 0 after it has run for 2 s; `wait@9` before it waits for 9 s instead of one. Without a
/// result end `CANCELLED@2`, `TIMEOUT@2`, `NODE_FAIL@2` and the like. `refused`: `sbatch` says no; `odd`: in unknown words. `lost`: there
/// is a job, and the answer is an error; `dropped`: there is none. `hang`: there is a job, and no answer.
/// `forgotten`: the job is accepted, and gone. `purged@2` ends with 0, and is forgotten at once. `silent@2`
/// ends, and no file shows that it was there, and `silentfailure@2` fails. `silent,broken@2` fails and prints why. `stuck` waits for ever. `requeued@2 0@5`: after 2 s Slurm puts
/// it back into the queue, where it waits for two minutes, and then it runs for 5 s; `requeued,unexplained` does not say
/// why. `held@2` ends with 0, and is then
/// put back into the queue for ever. What follows `#` tells instances apart.
final class FakeSlurm: SlurmCaller {
  struct Job {
    let number: Int
    /// Its place in an array, and the most that run of that at once.
    var index: Int?
    var throttle = Int.max
    let files: NodeFiles
    let task: Int
    let name: String
    let behaviour: Substring
    let key: CommandKey
    var begins: Nanoseconds?
    var ends: Nanoseconds = .max
    var state = "PENDING"
    var reason = "Priority"
    var isForgotten = false
    var restart = 0
    var isStopping = false

    var id: String { index.map { "\(number)_\($0)" } ?? "\(number)" }
  }

  /// Every call: its second, and its first words.
  private(set) var calls: [String] = []
  /// From which second to which nobody answers.
  var outages: [Range<Nanoseconds>] = []
  /// From this number on there are none in arrays.
  var largestIndex = Int.max
  /// So many jobs are taken at once.
  var largestSubmission = Int.max
  /// So many jobs that have not ended are known at once: `sbatch` says so, and waits.
  var mostJobs = Int.max
  /// How long a look at the queue takes.
  var lookDelay: Nanoseconds = 0
  /// The processor time that a look takes.
  var lookCost: Nanoseconds = 0
  /// How many seconds a job needs to end when it is cancelled.
  var stopDelay: Nanoseconds = 0
  /// From which second to which the results of the first run that has submitted something cannot be listed.
  var blindness: Range<Nanoseconds>?
  private var isBlind = false
  /// Jobs do not end, whatever they are asked.
  var ignoresCancellation = false
  /// Jobs that were asked to end are not killed before they do.
  var ignoresKill = false
  /// With the first submission, the folder of claims goes.
  var losesClaims = false
  /// What `squeue` prints instead of the queue.
  var rubbish: String?
  /// It is always about to say something, and never does.
  var isIdle = false
  private(set) var jobs: [Job] = []
  private var submissionCounts: [String: Int] = [:]
  private var coming: [(at: Nanoseconds, number: Int, call: SlurmCall, answer: SlurmAnswer?)] = []
  private var nextJob = 101
  /// When the calls of a channel have been answered.
  private var busy: [SlurmCall.Channel: Nanoseconds] = [:]

  func begin(_ call: SlurmCall, number: Int, at now: Nanoseconds) {
    calls.append("\(now / second):\(shown(call))")
    if outages.contains(where: { $0.contains(now / second) }) {
      let words = "slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n"
      return coming.append(
        (now + 9 * second, number, call, SlurmAnswer(exitStatus: 1, errors: words)))
    }
    if call.words[0] == "sbatch" { return submit(call, number, at: now) }
    let delay = call.words[0] == "squeue" ? lookDelay : 0
    let time = max(now, busy[call.channel] ?? 0) + delay
    busy[call.channel] = time
    coming.append((time, number, call, nil))
  }

  private func shown(_ call: SlurmCall) -> String {
    switch call.words[0] {
    case "sbatch":
      "sbatch" + (call.words.first { $0.hasPrefix("--array=") }.map { " " + $0.dropFirst(8) } ?? "")
    case "squeue": "squeue"
    default: call.words.filter { !$0.hasPrefix("--quiet") }.joined(separator: " ")
    }
  }

  private func submit(_ call: SlurmCall, _ number: Int, at now: Nanoseconds) {
    let words = call.input.split(separator: "'")
    guard let folder = words.first(where: { !$0.contains("@node") && $0.hasPrefix("/") }),
      let base = Int(call.input.split(separator: " ").last?.dropLast() ?? ""),
      let files = try? NodeFiles.open(in: String(folder))
    else { return coming.append((now, number, call, SlurmAnswer(exitStatus: 2))) }
    if losesClaims { rmdir(files.shown(.claims)) }
    let fault = "sbatch: error: Batch job submission failed: "
    func refuse(_ sentence: String, because reason: String = "") {
      let answer = SlurmAnswer(exitStatus: 1, errors: reason + fault + sentence + "\n")
      coming.append((now, number, call, answer))
    }
    let array = call.words.first { $0.hasPrefix("--array=") }.map {
      Array($0.dropFirst(8).split(separator: "%"))
    }
    let indices = array.map { numbers(in: $0[0]) } ?? [nil]
    if indices.contains(where: { $0.map { $0 >= largestIndex } == true }) {
      return refuse("Invalid job array specification")
    }
    if indices.count > largestSubmission {
      return refuse(
        "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)",
        because: "sbatch: error: QOSMaxSubmitJobPerUserLimit\n")
    }
    if indices.count + jobs.count(where: { $0.state == "PENDING" || $0.state == "RUNNING" })
      > mostJobs
    {
      let words = "sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying\n"
      return coming.append((now, number, call, SlurmAnswer(exitStatus: 137, errors: words)))
    }
    var turns: [Substring] = []
    for index in indices {
      let task = base + (index ?? 0)
      guard let file = try? files.task(task), case .script(let text, _) = file.command.work else {
        return coming.append((now, number, call, SlurmAnswer(exitStatus: 3)))
      }
      turns.append(turn(of: text, step: "\(file.command.key.operation.index)"))
      var job = Job(
        number: nextJob, index: index,
        throttle: array.flatMap { $0.count > 1 ? Int($0[1]) : nil } ?? .max,
        files: files, task: task, name: String(call.words[2].dropFirst("--job-name=".count)),
        behaviour: turns[turns.count - 1], key: file.command.key)
      plan(&job, at: now)
      if job.behaviour != "refused", job.behaviour != "odd", job.behaviour != "dropped" {
        jobs.append(job)
      }
    }
    nextJob += 1
    switch turns[0].split(separator: " ").last ?? "" {
    case "refused": refuse("Invalid partition name specified")
    case "odd": refuse("Burst buffer request makes no sense")
    case "dropped", "lost": refuse("Zero Bytes were transmitted or received")
    case "hang": coming.append((now + call.limit, number, call, SlurmAnswer(exitStatus: nil)))
    default:
      coming.append((now, number, call, SlurmAnswer(exitStatus: 0, output: "\(nextJob - 1)\n")))
    }
  }

  /// The numbers of `0-3,7`.
  private func numbers(in text: Substring) -> [Int?] {
    text.split(separator: ",").flatMap { part -> [Int?] in
      let ends = part.split(separator: "-").compactMap { Int($0) }
      return ends.isEmpty ? [] : Array(ends[0]...ends[ends.count - 1])
    }
  }

  private func turn(of text: String, step: String) -> Substring {
    let script = text.split(separator: "#").first ?? ""
    let turns = script.split(separator: ";").map { $0.drop { $0 == " " } }
    let count = submissionCounts[step, default: 0]
    submissionCounts[step] = count + 1
    return turns[min(count, turns.count - 1)].trimmed
  }

  private func plan(_ job: inout Job, at now: Nanoseconds) {
    var wait = second
    for word in job.behaviour.split(separator: " ") {
      let parts = word.split(separator: "@")
      let time = parts.count > 1 ? (Nanoseconds(parts[1]) ?? 0) * second : second
      switch parts[0] {
      case "wait": wait = time
      case "forgotten": job.isForgotten = true
      case "stuck": job.reason = "PartitionTimeLimit"
      default:
        guard job.begins == nil else { break }
        job.begins = now + wait
        job.ends = now + wait + time
      }
    }
  }

  // MARK: Time

  /// Called when the time of another run begins: nobody waits for what was asked before.
  func beginTime() {
    busy = [:]
    coming = []
  }

  func ready(_ number: Int) {}

  func close(after last: SlurmCall?) {
    guard let last else { return }
    calls.append("end:\(shown(last))")
    _ = answer(last, at: 0)
  }

  func takeAnswers(at now: Nanoseconds) -> [(number: Int, answer: SlurmAnswer)] {
    for index in jobs.indices { advance(index, to: now) }
    if let blindness, let files = jobs.first?.files,
      blindness.contains(now / second) != isBlind
    {
      isBlind.toggle()
      hide(files, isBlind)
    }
    mostAtOnce = max(mostAtOnce, jobs.count { $0.state == "RUNNING" })
    let due = coming.filter { $0.at <= now }
    coming.removeAll { $0.at <= now }
    return due.map { due in
      var answer = due.answer ?? answer(due.call, at: now)
      if due.call.words[0] == "squeue" { answer.processorTime = lookCost }
      return (due.number, answer)
    }
  }

  /// Puts a file in the place of the folder of results, or takes it away.
  private func hide(_ files: NodeFiles, _ isHidden: Bool) {
    let (place, aside) = ("\(files.path)/results", "\(files.path)/aside")
    if isHidden {
      rename(place, aside)
      Glibc.close(open(place, O_CREAT | O_WRONLY, 0o600))
    } else {
      unlink(place)
      rename(aside, place)
    }
  }

  var deadline: Nanoseconds? {
    if isIdle { return 0 }
    let times = jobs.filter { !$0.isForgotten }.flatMap { job in
      job.state == "PENDING" ? [job.begins] : job.state == "RUNNING" ? [job.ends] : []
    }
    return (times.compactMap(\.self).filter { $0 < .max } + coming.map(\.at)).min()
  }

  private func advance(_ index: Int, to now: Nanoseconds) {
    if jobs[index].state == "PENDING", jobs[index].throttle < .max,
      jobs.count(where: { $0.number == jobs[index].number && $0.state == "RUNNING" })
        >= jobs[index].throttle
    {
      // It begins when another has ended.
      let length = jobs[index].ends - (jobs[index].begins ?? 0)
      let free =
        jobs.filter { $0.number == jobs[index].number && $0.state == "RUNNING" }.map(\.ends).min()
        ?? now
      jobs[index].begins = max(now, free)
      jobs[index].ends = max(now, free) + length
    }
    advance(&jobs[index], to: now)
  }

  /// How many jobs ran at the same time.
  private(set) var mostAtOnce = 0

  private func advance(_ job: inout Job, to now: Nanoseconds) {
    if job.isForgotten { return }
    let isSilent = job.behaviour.hasPrefix("silent")
    if job.state == "PENDING", let begins = job.begins, begins <= now {
      job.state = "RUNNING"
      job.reason = "None"
      if !isSilent {
        guard (try? job.files.claim(job.task, for: "\(job.id)")) == "\(job.id)" else {
          job.state = "COMPLETED"
          return
        }
        _ = try? job.files.begin(start(of: job), at: place(of: job, at: now))
      }
    }
    if job.state == "RUNNING", job.ends <= now { end(&job, at: now) }
  }

  private func end(_ job: inout Job, at now: Nanoseconds) {
    if job.isStopping { return cancel(&job, at: now) }
    let words = job.behaviour.split(separator: " ")
    if words.first?.hasPrefix("requeued") == true, job.restart == 0 {
      let last = words.last?.split(separator: "@").last ?? ""
      try? job.files.noteStop(of: start(of: job))
      job.restart = 1
      job.state = "PENDING"
      job.reason = words[0].contains("unexplained") ? "None" : "BeginTime"
      job.begins = now + 120 * second
      job.ends = now + (120 + (Nanoseconds(last) ?? 0)) * second
      return
    }
    let word = words.last?.split(separator: "@").first ?? ""
    switch word {
    case "silent": job.state = "COMPLETED"
    case "silentfailure": job.state = "FAILED"
    case "silent,broken":
      let name = job.index.map { "\(job.task - $0).\($0).out" } ?? "\(job.task).out"
      let text = "oprun: an older line\nsh: 2: exec: oprun:\t\u{1b}not found\n"
      try? job.files.write(Array(text.utf8), to: .jobs, name)
      job.state = "FAILED"
    case "lost", "hang":
      write(0, of: job, at: now)
      job.state = "COMPLETED"
    case "held":
      write(0, of: job, at: now)
      job.state = "PENDING"
      job.reason = "launch failed requeued held"
      job.begins = nil
    case "purged":
      write(0, of: job, at: now)
      job.state = "COMPLETED"
      job.isForgotten = true
    case let code where Int32(code) != nil:
      write(Int32(code) ?? 0, of: job, at: now)
      job.state = code == "0" ? "COMPLETED" : "FAILED"
    default: job.state = String(word)
    }
  }

  private func start(of job: Job) -> TaskStart { TaskStart(task: job.task, restart: job.restart) }

  private func place(of job: Job, at now: Nanoseconds) -> TaskOrigin {
    TaskOrigin(host: "n1", job: "\(job.id)", processID: 1, began: now)
  }

  private func write(_ code: Int32, of job: Job, at now: Nanoseconds) {
    let result = TaskResult(
      key: job.key, end: CommandEnd(.exited(code), duration: second), place: place(of: job, at: now)
    )
    try? job.files.write(result.encoded, to: .results, start(of: job).name)
  }

  // MARK: Answers

  private func answer(_ call: SlurmCall, at now: Nanoseconds) -> SlurmAnswer {
    switch call.words[0] {
    case "squeue":
      if let rubbish { return SlurmAnswer(exitStatus: 0, output: rubbish) }
      let titles = "ARRAY_JOB_ID|ARRAY_TASK_ID|STATE|REASON|NODELIST|NAME|COMMENT\n"
      return SlurmAnswer(exitStatus: 0, output: titles + queueLines.map { $0 + "\n" }.joined())
    case "scancel":
      for index in jobs.indices where call.words.contains(where: { isMeant(jobs[index], by: $0) }) {
        cancel(&jobs[index], at: now)
      }
      return SlurmAnswer(exitStatus: 0)
    case "scontrol":
      let ids = call.words[2].dropFirst(6).split(separator: ",").map { String($0) }
      for index in jobs.indices where ids.contains(jobs[index].id) {
        guard jobs[index].state == "PENDING", let begins = jobs[index].begins else { continue }
        jobs[index].begins = now
        jobs[index].ends -= begins - now
      }
      return SlurmAnswer(exitStatus: 0)
    default: return SlurmAnswer(exitStatus: 0)
    }
  }

  /// A line for each job, and one for those of an array that were never started.
  private var queueLines: [String] {
    var waiting: [String: [Int]] = [:]
    func line(_ job: Job, _ index: String) -> String {
      "\(job.number)|\(index)|\(job.state)|\(job.reason)|\(job.state == "PENDING" ? "" : "n1")|\(job.name)|(null)"
    }
    func key(_ job: Job) -> String { "\(job.number) \(job.reason)" }
    let known = jobs.filter { !$0.isForgotten }
    func isJoined(_ job: Job) -> Bool { job.state == "PENDING" && job.restart == 0 }
    for job in known where isJoined(job) {
      if let index = job.index { waiting[key(job), default: []].append(index) }
    }
    return known.compactMap { job in
      guard let index = job.index else { return line(job, "N/A") }
      if !isJoined(job) { return line(job, "\(index)") }
      guard let all = waiting.removeValue(forKey: key(job)) else { return nil }
      return line(job, ranges(of: all) + (job.throttle < .max ? "%\(job.throttle)" : ""))
    }
  }

  /// Whether a word such as `101`, `101_3` or `101_[0-3,5]` names the job.
  private func isMeant(_ job: Job, by word: String) -> Bool {
    let parts = word.split(separator: "_")
    guard parts[0] == "\(job.number)" else { return false }
    let set = parts.count > 1 ? parts[1].filter { $0 != "[" && $0 != "]" } : ""
    return set.isEmpty || numbers(in: Substring(set)).contains(job.index)
  }

  private func cancel(_ job: inout Job, at now: Nanoseconds) {
    if ignoresCancellation || ignoresKill && job.isStopping && job.ends > now { return }
    if job.state == "RUNNING", stopDelay > 0, !job.isStopping {
      job.isStopping = true
      job.ends = now + stopDelay * second
      return
    }
    if job.state == "RUNNING" { try? job.files.noteStop(of: start(of: job)) }
    if job.state == "RUNNING" || job.state == "PENDING" { job.state = "CANCELLED" }
  }
}

extension Substring {
  /// Without blanks at its end.
  fileprivate var trimmed: Substring {
    var text = self
    while text.last == " " { text.removeLast() }
    return text
  }
}

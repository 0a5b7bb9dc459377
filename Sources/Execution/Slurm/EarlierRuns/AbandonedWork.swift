// Work that a run whose oprun died has left in Slurm: steps of an allocation, for which nobody
// waits any more, and jobs that nobody will take over. It is ended before anything else starts.
// docs/design-slurm.md, “Allocations”.

package import Diagnostics
import Glibc
import Plans
import RunFiles
import Scheduling

package struct AbandonedWork {
  /// The kind of work to end. Jobs that are taken over are not.
  package enum Kind: Hashable {
    case steps, stepsAndJobs
    case jobs(of: Set<String>)

    fileprivate func hasJob(of step: String) -> Bool {
      switch self {
      case .steps: false
      case .stepsAndJobs: true
      case .jobs(let steps): steps.contains(step)
      }
    }

    fileprivate var hasSteps: Bool { if case .jobs = self { false } else { true } }
  }

  package enum End: Hashable {
    /// The number of steps and jobs that were ended.
    case ended(Int)
    /// Work goes on, or may; the string says what, or why that is unknown.
    case goesOn(String)
    /// The commands of Slurm are not installed here; the string says which.
    case unknown(String)
  }

  /// Calls a command with these words and a limit in milliseconds, and waits for it.
  typealias Call = ([String], Int) -> SlurmAnswer

  /// The clock, in milliseconds, and how to sleep.
  struct Clock {
    var now = { Int(monotonicTime() / 1_000_000) }
    var sleep: (Int) -> Void = { usleep(UInt32($0) * 1000) }
  }

  /// A step or job that has not ended.
  private struct Item: Hashable {
    /// The id: `12.3` is a step, `12` and `12_3` are jobs.
    let id: String
    /// The time that the step or job may take to end, in milliseconds.
    let grace: Int

    var isStep: Bool { id.contains(".") }
  }

  private enum Listing {
    case items([Item])
    case failed(SlurmAnswer)
  }

  private let homes: [(files: NodeFiles, mark: JobMark, open: [Int])]
  /// The journal entries to mark as ended when nothing is left.
  private let ends: [(work: OpenWork, entries: Set<Int>)]
  /// A run whose files, by which its jobs are found, are gone, and the runs whose jobs it had taken over.
  private let lost: [EarlierJobs]
  private let kind: Kind
  private let call: Call
  private let clock: Clock

  /// Finds the work that a run has left, by its files; nil if there is none.
  package init?(of work: OpenWork, _ kind: Kind) throws(SystemError) {
    try self.init(of: work, kind, clock: Clock(), call: Self.call)
  }

  /// Finds the jobs of a run whose files are gone by their names, which contain that of the run, or
  /// of one whose jobs it had taken over. The open work of those runs is ended, too.
  package init(ofLost run: EarlierJobs, after earlier: [EarlierJobs]) {
    self.init(ofLost: run, after: earlier, clock: Clock(), call: Self.call)
  }

  init(
    ofLost run: EarlierJobs, after earlier: [EarlierJobs], clock: Clock, call: @escaping Call
  ) {
    let known = earlier.compactMap { try? OpenWork(of: $0) }
    ends = known.map { ($0, Set($0.tasks.keys)) }
    homes = earlier.compactMap { run in
      guard let files = try? NodeFiles.find(in: run.folder) else { return nil }
      let open = known.flatMap(\.tasks.values).map(\.origin).filter { $0.run == run.runID }
      return (files, files.mark(of: run.runID), Set(open.map(\.number)).sorted())
    }
    lost = [run] + earlier
    (kind, self.call, self.clock) = (.jobs(of: []), call, clock)
  }

  static func call(_ words: [String], _ limit: Int) -> SlurmAnswer {
    SlurmAnswer(
      to: SlurmCall(words: words, limit: Nanoseconds(limit) * 1_000_000),
      SlurmVariables(masker: nil).passed + [SlurmCommands.lookVariable])
  }

  init?(
    of work: OpenWork, _ kind: Kind, clock: Clock, call: @escaping Call
  ) throws(SystemError) {
    let run = work.run
    guard let files = try NodeFiles.find(in: run.folder) else { return nil }
    let entries = try SlurmJournal.entries(in: files.path)
    let steps = kind.hasSteps ? try files.openTasks().filter { entries[$0] == nil } : []
    var homes = [(files, files.mark(of: run.runID), steps)]
    var ended: Set<Int> = []
    let jobs = kind == .steps ? [:] : work.tasks.filter { kind.hasJob(of: $0.value.entry.step) }
    for (folder, tasks) in Dictionary(grouping: jobs, by: { $0.value.origin.folder })
      .sorted(by: { $0.key < $1.key })
    {
      guard let files = try NodeFiles.find(in: folder) else {
        ended.formUnion(tasks.map(\.key))
        continue
      }
      // Results of the others are taken by the run that resumes this one.
      let without = Set(try files.openTasks())
      let open = tasks.filter { without.contains($0.value.origin.number) }
      ended.formUnion(open.map(\.key))
      guard let home = open.first?.value.origin.run else { continue }
      homes.append((files, files.mark(of: home), open.map(\.value.origin.number).sorted()))
    }
    homes.removeAll { $0.2.isEmpty }
    if homes.isEmpty { return nil }
    self.homes = homes
    ends = [(work, ended)]
    self.kind = kind
    self.call = call
    self.clock = clock
    lost = []
  }

  // MARK: The end

  /// Ends everything, and returns when nothing is left, or when that cannot be achieved.
  package func end() -> End {
    let unknown = takeAway()
    let began = clock.now()
    var pause = Self.firstPause
    var asked: Set<Item> = []
    var killedAt: Int?
    while true {
      let left: [Item]
      switch listing() {
      case .items(let items): left = items
      case .failed(let answer) where answer.refusal != nil:
        let words = answer.refusal ?? ""
        return hasBegun || unknown != nil ? .goesOn(words) : .unknown(words)
      case .failed where clock.now() < began + Self.patience:
        clock.sleep(1000)
        continue
      case .failed(let answer):
        let sentence = slurmSentence(answer.errors)
        return .goesOn(
          sentence.isEmpty ? "squeue does not answer" : "squeue: \(printable(sentence))")
      }
      if left.isEmpty {
        // A job may begin later.
        if let words = takeAway() { return .goesOn(words) }
        noteEnds()
        return .ended(asked.count)
      }
      let new = left.filter { !asked.contains($0) }
      asked.formUnion(new)
      if !new.isEmpty { signal(new, "TERM") }
      let grace = min(left.map(\.grace).max() ?? 0, Self.longestGrace)
      if let killedAt, clock.now() >= killedAt + Self.patience {
        return .goesOn(
          "\(firstNames(of: left.map(\.id), most: 3)) \(left.count == 1 ? "has" : "have") not ended"
        )
      } else if killedAt == nil, clock.now() >= began + grace {
        killedAt = clock.now()
        signal(left, "KILL")
      }
      let due = killedAt.map { $0 + Self.patience } ?? began + grace
      clock.sleep(max(min(pause, due - clock.now()), 10))
      pause = min(pause * 2, Self.longestPause)
    }
  }

  /// Takes away the tasks: a job that begins later finds its task taken, and does nothing. Returns
  /// why that is uncertain, if it is.
  private func takeAway() -> String? {
    var unknown: String?
    for home in homes {
      for task in home.open {
        if case .unknown(let words) = home.files.takeAway(task) { unknown = unknown ?? words }
      }
    }
    return unknown
  }

  /// True if jobs have begun that have left no result: only Slurm knows whether they go on.
  private var hasBegun: Bool {
    homes.contains { home in home.open.contains { home.files.holder(of: $0) == .job } }
  }

  private static let patience = 30_000
  /// The pauses between looks at the queue, in milliseconds: short at first, then longer, to spare Slurm.
  private static let firstPause = 300
  private static let longestPause = 5000
  private static let longestGrace = 60_000

  /// Marks the tasks as ended: a run that resumes this one submits them anew.
  private func noteEnds() {
    for (work, entries) in ends { work.noteEnds(of: entries) }
    lost.first?.settle()
  }

  /// Sends a signal. oprun on the node ends its command in order when its step is asked to end.
  private func signal(_ items: [Item], _ signal: String) {
    let steps = items.filter(\.isStep).map(\.id)
    let jobs = items.filter { !$0.isStep }.map(\.id)
    for part in parts(of: steps) {
      _ = call(["scancel", "--quiet", "--signal=\(signal)"] + part, 30_000)
    }
    for part in parts(of: jobs) {
      let words = signal == "KILL" ? SlurmCommands.kill(part) : SlurmCommands.cancellation(of: part)
      _ = call(words.words, 60_000)
    }
  }

  private func parts(of ids: [String]) -> [[String]] {
    stride(from: 0, to: ids.count, by: SlurmCommands.jobsPerCall).map {
      Array(ids[$0..<min($0 + SlurmCommands.jobsPerCall, ids.count)])
    }
  }

  // MARK: What is left

  private func listing() -> Listing {
    var items: [Item] = []
    if kind.hasSteps {
      let answer = call(SlurmCommands.steps, 30_000)
      guard answer.isSuccess else { return .failed(answer) }
      items = steps(in: answer.output)
    }
    if kind == .steps { return .items(items) }
    let queue = call(SlurmCommands.look.words, 30_000)
    guard queue.isSuccess, QueueListing.isListing(queue.output) else { return .failed(queue) }
    for run in lost {
      for mark in JobMark.all(of: run.runID, in: queue.output) {
        let listing = QueueListing(queue.output, mark)
        if listing.isIncomplete { return .failed(queue) }
        items += self.items(of: listing.jobs)
      }
    }
    for home in homes where lost.isEmpty {
      let listing = QueueListing(queue.output, home.mark)
      if listing.isIncomplete { return .failed(queue) }
      let jobs = listing.jobs
        .filter { kind.hasSteps || home.open.contains($0.key) }
      items += self.items(of: jobs)
    }
    return .items(items)
  }

  private func items(of jobs: [Int: [QueuedJob]]) -> [Item] {
    jobs.sorted { $0.key < $1.key }.flatMap(\.value).filter(\.isLive)
      .map { Item(id: $0.id, grace: Self.longestGrace) }
  }

  private func steps(in output: String) -> [Item] {
    var items: [Item] = []
    for line in output.split(separator: "\n") {
      guard let bar = line.firstIndex(of: "|") else { continue }
      for home in homes {
        guard let task = home.mark.task(in: line[line.index(after: bar)...]) else { continue }
        items.append(Item(id: String(line[..<bar]), grace: grace(of: task, home.files)))
      }
    }
    return items
  }

  private func grace(of task: Int, _ files: NodeFiles) -> Int {
    let limits = (try? files.task(task))?.limits ?? TaskLimits()
    return Int(min(limits.stop.grace / 1_000_000, Int64(Self.longestGrace))) + 2000
  }
}

extension JobMark {
  /// The marks of a run in a listing of the queue, whatever the words of its files were.
  static func all(of run: String, in listing: String) -> [JobMark] {
    let start = "oprun:\(run)-"
    let words = listing.split { "|\n".contains($0) }.compactMap { field -> String? in
      let field = String(field)
      guard let place = field.firstRange(ofText: start) else { return nil }
      let word = field[place.upperBound...].prefix { $0.isASCII && $0.isHexDigit }
      return field[word.endIndex...].first == ":" && !word.isEmpty ? String(word) : nil
    }
    return Set(words).sorted().map { JobMark(run: run, word: $0) }
  }

  /// The number that follows the mark in the name of a step.
  func task(in name: Substring) -> Int? {
    guard let place = String(name).firstRange(ofText: prefix) else { return nil }
    return plainNumber(String(name)[place.upperBound...].prefix { $0.isASCII && $0.isNumber })
  }
}

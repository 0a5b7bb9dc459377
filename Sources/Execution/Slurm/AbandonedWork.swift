// What a run whose oprun died has left in Slurm: steps of an allocation, for which nobody waits any more, and jobs
// that nobody will take over. It is ended before anything else starts. docs/design-slurm.md, “Allocations”.

import Diagnostics
import Glibc
import Plans
import RunFiles
import Scheduling

package struct AbandonedWork {
  /// What is to end. Jobs are not, if they are taken over.
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
    /// How many steps and jobs were ended.
    case ended(Int)
    /// Something goes on, or may; the string says what, or why that is unknown.
    case goesOn(String)
    /// The commands of Slurm are not here.
    case unknown(String)
  }

  /// Calls a command and waits for it: words, milliseconds.
  typealias Call = ([String], Int) -> SlurmAnswer

  /// The clock, in milliseconds, and what passes the time.
  struct Clock {
    var now = { Int(monotonicNow() / 1_000_000) }
    var sleep: (Int) -> Void = { usleep(UInt32($0) * 1000) }
  }

  /// Something that has not ended.
  private struct Item: Hashable {
    /// `12.3` is a step, `12` and `12_3` are jobs.
    let id: String
    /// How long it may take to end, in milliseconds.
    let grace: Int

    var isStep: Bool { id.contains(".") }
  }

  private enum Listing {
    case items([Item])
    case failed(SlurmAnswer)
  }

  private let homes: [(files: NodeFiles, mark: JobMark, open: [Int])]
  private let journal: SlurmJournal?
  private let kind: Kind
  private let call: Call
  private let clock: Clock

  /// Looks at the files of a run, the path of whose directory is absolute; nil if it has left nothing.
  package init?(of run: EarlierJobs, _ kind: Kind) {
    guard let here = try? currentFolder() else { return nil }
    self.init(of: run.absolute(in: here), kind, clock: Clock()) { words, limit in
      let texts = SlurmProcess.run(
        words, input: "", SlurmVariables(masker: nil).passed, milliseconds: limit)
      return SlurmAnswer(
        exitStatus: Int32(texts[0]), output: texts[1], errors: texts[2],
        refusal: texts[3].isEmpty ? nil : texts[3])
    }
  }

  init?(of run: EarlierJobs, _ kind: Kind, clock: Clock, call: @escaping Call) {
    guard let files = try? NodeFiles.open(in: run.folder) else { return nil }
    let entries = SlurmJournal.entries(in: "\(run.folder)/@node")
    let steps = kind.hasSteps ? Self.openTasks(of: files).filter { entries[$0] == nil } : []
    var homes = [(files, JobMark(run: run.runID, folder: run.folder), steps)]
    var jobs: [JournalEntry.Origin: [(number: Int, own: Int)]] = [:]
    for (number, entry) in entries where !entry.hasEnded && kind.hasJob(of: entry.step) {
      let own = JournalEntry.Origin(folder: run.folder, run: run.runID, number: number)
      let origin = entry.origin ?? own
      let home = JournalEntry.Origin(folder: origin.folder, run: origin.run, number: 0)
      jobs[home, default: []].append((origin.number, number))
    }
    var ended: [Int] = []
    for (home, tasks) in jobs.sorted(by: { $0.key.folder < $1.key.folder }) {
      guard let files = try? NodeFiles.open(in: home.folder) else {
        ended += tasks.map(\.own)
        continue
      }
      // Who resumes the run takes the results of the others.
      let without = Set(Self.openTasks(of: files))
      let open = tasks.filter { without.contains($0.number) }
      ended += open.map(\.own)
      homes.append(
        (files, JobMark(run: home.run, folder: home.folder), open.map(\.number).sorted()))
    }
    homes.removeAll { $0.2.isEmpty }
    if homes.isEmpty { return nil }
    self.homes = homes
    journal = jobs.isEmpty ? nil : try? SlurmJournal(in: "\(run.folder)/@node")
    endedEntries = ended.sorted()
    self.kind = kind
    self.call = call
    self.clock = clock
  }

  private let endedEntries: [Int]

  /// The tasks that have no result.
  private static func openTasks(of files: NodeFiles) -> [Int] {
    let tasks = ((try? files.names(in: .tasks)) ?? []).compactMap { plainNumber($0) }
    let results = (try? files.results()) ?? []
    let done = TaskStart.accepted(results: results, starts: (try? files.starts()) ?? [])
    return tasks.filter { done[$0] == nil }.sorted()
  }

  // MARK: The end

  /// Ends everything, and returns when nothing is left, or when that cannot be had.
  package func end() -> End {
    // What begins later finds its task taken, and does nothing.
    for home in homes {
      for task in home.open { _ = try? home.files.claim(task, for: NodeFiles.nobody) }
    }
    let began = clock.now()
    var asked: Set<Item> = []
    var killedAt: Int?
    while true {
      let left: [Item]
      switch listing() {
      case .items(let items): left = items
      case .failed(let answer) where answer.refusal != nil: return .unknown(answer.refusal ?? "")
      case .failed where clock.now() < began + Self.patience:
        clock.sleep(1000)
        continue
      case .failed(let answer):
        let sentence = slurmSentence(answer.errors)
        return .goesOn(
          sentence.isEmpty ? "squeue does not answer" : "squeue: \(printable(sentence))")
      }
      if left.isEmpty {
        noteEnds()
        return .ended(asked.count)
      }
      let new = left.filter { !asked.contains($0) }
      asked.formUnion(new)
      if !new.isEmpty { signal(new, "TERM") }
      let grace = min(left.map(\.grace).max() ?? 0, Self.longestGrace)
      if let killedAt, clock.now() >= killedAt + Self.patience {
        return .goesOn("\(left.prefix(3).map(\.id).joined(separator: ", ")) has not ended")
      } else if killedAt == nil, clock.now() >= began + grace {
        killedAt = clock.now()
        signal(left, "KILL")
      }
      clock.sleep(300)
    }
  }

  private static let patience = 30_000
  private static let longestGrace = 60_000

  /// Who resumes the run submits it anew.
  private func noteEnds() {
    for number in endedEntries { try? journal?.noteEnd(of: number) }
    try? journal?.flush()
  }

  /// oprun on the node ends its command in order when a step is asked to end.
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
    let answer = call(
      ["squeue", "--steps", "--all", "--me", "--noheader", "--format=%i|%j"], 30_000)
    guard answer.isSuccess else { return .failed(answer) }
    var items: [Item] = []
    for line in answer.output.split(separator: "\n") {
      guard let bar = line.firstIndex(of: "|") else { continue }
      for home in homes {
        guard let task = home.mark.task(in: line[line.index(after: bar)...]) else { continue }
        items.append(Item(id: String(line[..<bar]), grace: grace(of: task, home.files)))
      }
    }
    if kind == .steps { return .items(items) }
    let queue = call(SlurmCommands.look.words + ["--array"], 30_000)
    guard queue.isSuccess, QueueListing.isListing(queue.output) else { return .failed(queue) }
    for home in homes {
      let jobs = QueueListing(queue.output, home.mark).jobs
        .filter { kind.hasSteps || home.open.contains($0.key) }
      items += jobs.sorted { $0.key < $1.key }.flatMap(\.value).filter(\.isLive)
        .map { Item(id: $0.id, grace: Self.longestGrace) }
    }
    return .items(items)
  }

  private func grace(of task: Int, _ files: NodeFiles) -> Int {
    let limits = (try? files.task(task))?.limits ?? TaskLimits()
    return Int(min(limits.stop.grace / 1_000_000, Int64(Self.longestGrace))) + 2000
  }
}

extension JobMark {
  /// The number that follows the mark in the name of a step.
  func task(in name: Substring) -> Int? {
    guard let place = String(name).firstRange(ofText: prefix) else { return nil }
    return plainNumber(String(name)[place.upperBound...].prefix { $0.isASCII && $0.isNumber })
  }
}

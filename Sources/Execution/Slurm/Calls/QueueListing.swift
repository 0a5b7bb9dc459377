// The jobs of a run, as `squeue` lists them.

import Diagnostics
import Plans

/// One line of the listing.
struct QueuedJob: Hashable {
  let id: String
  let state: State
  /// Why the job waits, or how it ended, in Slurm's word.
  let reason: String
  let node: String?

  /// Slurm's states, as far as they mean different things here.
  enum State: Hashable {
    case pending
    /// The job runs, or begins or ends to, or is suspended.
    case running
    /// The job has ended by itself, with exit status 0.
    case ended
    case failed
    case cancelled
    case timeLimit
    case outOfMemory
    case preempted
    case nodeFailed
    /// The job could not be started on its node.
    case bootFailed
    /// Any other state, from which nothing follows.
    case other

    init(_ word: Substring) {
      switch word {
      case "PENDING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD":
        self = .pending
      case "RUNNING", "CONFIGURING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT",
        "RESIZING":
        self = .running
      case "COMPLETED": self = .ended
      case "FAILED": self = .failed
      case "CANCELLED", "REVOKED": self = .cancelled
      case "TIMEOUT", "DEADLINE": self = .timeLimit
      case "OUT_OF_MEMORY": self = .outOfMemory
      case "PREEMPTED": self = .preempted
      case "NODE_FAIL": self = .nodeFailed
      case "BOOT_FAIL": self = .bootFailed
      default: self = .other
      }
    }
  }

  /// True if the job has not ended, as far as is known.
  var isLive: Bool { state == .pending || state == .running || state == .other }

  /// True if the job was requeued, and would wait for two minutes.
  var waitsForItsTime: Bool { state == .pending && reason == "BeginTime" }

  /// True if the job was requeued after its launch failed, and is held.
  var isHeldAfterFailure: Bool {
    state == .pending && reason.hasPrefix("launch failed requeued held")
  }

  /// True if the job waits for a reason that does not go away by itself.
  var isStuck: Bool {
    // Names of nodes may follow, which may come back.
    let word = String(reason.prefix { $0 != "," })
    return state == .pending && !word.containsText("RunMin")
      && (Self.lastingReasons.contains(word)
        || Self.limitedParties.contains(where: word.hasPrefix)
          && Self.lastingLimits.contains(where: word.containsText))
  }

  /// Limits of an account or a quality of service that no waiting lifts: for one job, or on a budget that is used up.
  private static let limitedParties = ["Assoc", "QOS"]
  private static let lastingLimits = ["PerJob", "Minutes", "QOSMin"]

  private static let lastingReasons: Set = [
    "DependencyNeverSatisfied", "PartitionConfig", "PartitionTimeLimit", "PartitionDown",
    "PartitionInactive", "PartitionNodeLimit", "BadConstraints", "JobHeldUser", "JobHeldAdmin",
    "AccountNotAllowed", "QOSNotAllowed", "InvalidAccount", "InvalidQOS", "AssociationTimeLimit",
    "QOSTimeLimit", "QOSUsageThreshold",
    "ReservationDeleted", "ReqNodeNotAvail", "FedJobLock", "JobLaunchFailure", "JobHoldMaxRequeue",
    "MaxMemPerLimit",
    "user env retrieval failed requeued held",
  ]
}

/// All jobs of the run, by task.
struct QueueListing {
  private(set) var jobs: [Int: [QueuedJob]] = [:]
  /// True if a line of the run could not be read: a job that is not listed may be in the queue.
  private(set) var isIncomplete = false

  /// True if `squeue` printed this: its output has a line of titles, however many jobs there are.
  static func isListing(_ text: String) -> Bool {
    var rest = text.utf8[...]
    while !rest.isEmpty {
      let line = rest.prefix { $0 != UInt8(ascii: "\n") }
      if line.first.map({ (0x30...0x39).contains($0) }) == false,
        line.lazy.filter({ $0 == UInt8(ascii: "|") }).count >= 6
      {
        return true
      }
      rest = rest[line.endIndex...].dropFirst()
    }
    return false
  }

  /// Reads the output of `squeue` in the form of `SlurmCommands.look`. It may have ten thousand
  /// lines, of which few are of this run: they are read as bytes.
  init(_ text: String, _ mark: JobMark) {
    var text = text
    let prefix = Array(mark.prefix.utf8)
    text.withUTF8 { bytes in
      var start = 0
      while start < bytes.count {
        var end = start
        while end < bytes.count, bytes[end] != UInt8(ascii: "\n") { end += 1 }
        add(bytes[start..<end], prefix)
        start = end + 1
      }
    }
  }

  /// Adds the job of a line, if it is one of the run.
  private mutating func add(_ line: Slice<UnsafeBufferPointer<UInt8>>, _ prefix: [UInt8]) {
    var fields: [Range<Int>] = []
    var start = line.startIndex
    for place in line.indices where line[place] == UInt8(ascii: "|") {
      fields.append(start..<place)
      start = place + 1
      if fields.count == 5 { break }
    }
    guard fields.count == 5, let base = Self.base(in: line[start...], prefix) else { return }
    let words = fields.map { String(decoding: line[$0], as: UTF8.self) }
    let state = QueuedJob.State(words[2].prefix { $0 != " " })
    let node = words[4].isEmpty || words[4] == "(null)" ? nil : words[4]
    func add(_ index: Int?) {
      let id = JobName(array: words[0], index: index).text
      let job = QueuedJob(id: id, state: state, reason: words[3], node: node)
      jobs[base + (index ?? 0), default: []].append(job)
    }
    if words[1] == "N/A" { return add(nil) }
    guard let numbers = arrayNumbers(in: words[1]) else { return isIncomplete = true }
    for number in numbers { add(number) }
  }

  /// The number after the mark of the run; nil if there is no mark, or none with a number.
  private static func base(
    in text: Slice<UnsafeBufferPointer<UInt8>>, _ prefix: [UInt8]
  ) -> Int? {
    var place = text.startIndex
    while place + prefix.count < text.endIndex {
      if text[place] == prefix[0], text[place..<place + prefix.count].elementsEqual(prefix) {
        let digits = text[(place + prefix.count)...].prefix { (0x30...0x39).contains($0) }
        return digits.count < 10 ? Int(String(decoding: digits, as: UTF8.self)) : nil
      }
      place += 1
    }
    return nil
  }

  /// The job of a task. If the task was submitted twice, this is the live job, or the first one,
  /// which has claimed the task. `known` is the job's number from the answer to the submission.
  func job(of task: Int, known: String?) -> QueuedJob? {
    let found = jobs[task] ?? []
    return found.first { $0.isLive && $0.id == known } ?? found.first { $0.isLive }
      ?? found.first { $0.id == known } ?? found.first
  }
}

/// The numbers of the jobs that one line of an array stands for, as `0,3,7-11,20-30:5%2`: pending
/// jobs share a line. Nil if the text is something else, or cut off.
func arrayNumbers(in text: String) -> [Int]? {
  let set = text.prefix { $0 != "%" && $0 != "]" }.drop { $0 == "[" }
  var numbers: [Int] = []
  for part in set.split(separator: ",", omittingEmptySubsequences: false) {
    let pieces = part.split(separator: ":", omittingEmptySubsequences: false)
    let ends = pieces[0].split(separator: "-", omittingEmptySubsequences: false)
      .map { plainNumber($0) }
    guard pieces.count <= 2, ends.count <= 2, let first = ends[0], let last = ends[ends.count - 1],
      let step = pieces.count == 2 ? plainNumber(pieces[1]) : 1, step > 0, first <= last,
      numbers.count + (last - first) / step < mostNumbers
    else { return nil }
    numbers += stride(from: first, through: last, by: step)
  }
  return numbers
}

/// Slurm's own limit for `MaxArraySize`.
private let mostNumbers = 4_000_001

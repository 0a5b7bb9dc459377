// A run as it was recorded, for the one that resumes it.

import Diagnostics
import Expressions
package import Masking
package import Plans
import RunFiles
import Scheduling

/// What is recorded of a step of an earlier run.
struct EarlierStep: Hashable {
  var outcome: RecordedOutcome
  let written: Int
  let resolved: Int
  /// The number of the run in which it ran: that run, or one before that it resumed.
  let origin: Int
  /// When it began and had its outcome, in microseconds since the start of the run in which it ran; nil if that is not
  /// known, or if it did not begin.
  var started: Int?
  var ended: Int?
  /// How its last command ended; nil if none ran.
  let end: CommandEnd?
  /// True if its command had succeeded, and a hook failed.
  let isFailedHook: Bool
  /// True if it failed by itself before anything of it ran: its matrix cannot be expanded.
  var failedToExpand = false
  /// True if it was decided about in that run; the others are as they were in the run before.
  var hadTurn = true
  /// True if that run had it, with a turn or without; the others are only what was taken over from the run before.
  var wasPresent = true
  var outputs: [PublishedOutput] = []
  /// True if one of its outputs held a secret, and was not kept.
  var hasSecretOutput = false
  /// The operation because of which it was cancelled, if the failure of that was allowed: it is not to run any more.
  var givenUpFor: String?

  /// When it began, or was taken from the cache. A step that was given up before it began comes after everything in
  /// its run.
  var start: Moment { Moment(origin, started ?? (didNotRun ? nil : ended) ?? .max) }
  var settled: Moment { Moment(origin, ended ?? 0) }

  var wasSkipped: Bool { outcome.ending.outcome == .skipped }

  /// It did not run, only because a part of a run was resumed.
  var isLeftOut: Bool { wasSkipped && outcome.isLeftOut }

  /// It was skipped or blocked, or given up before it began.
  var didNotRun: Bool {
    outcome.ending.outcome.isOfNothing || givenUpFor != nil && end == nil
  }

  /// True if it does not run again as long as nothing has changed.
  var isKeepable: Bool {
    switch outcome.ending.outcome {
    case .succeeded, .cached: true
    case .failed, .timedOut: outcome.ending.isAllowed
    case .cancelled: givenUpFor != nil
    case .skipped, .blocked: false
    }
  }
}

/// A run that can be resumed.
package struct EarlierRun {
  package let name: String
  let number: Int
  package let request: RunRequest
  package let marks: RunMarks
  /// The process id of its oprun.
  package let process: Int32
  /// The machine that it was on.
  package var host = ""
  /// Its exit status; nil if oprun died before its end.
  package let exitStatus: Int32?
  /// Why it ended early, in words; nil if it did not.
  var stop: String?
  /// The steps that have an outcome, by id.
  var steps: [String: EarlierStep]
  /// The steps that had begun and not ended.
  var unfinished: Set<String> = []
  /// The steps that failed the last time that they ran to their end, in this run or in one that it resumed; empty if
  /// that was not asked.
  var failed: Set<String> = []
  /// The numbers of the runs that went on with it and of which the newest successes count, too, the oldest first; empty if
  /// that was not asked.
  var successors: [Int] = []
  /// Whether something ran in these, or was passed over.
  package internal(set) var hasRunSince = false
  /// The steps that began in one of these, and have no end there that may be kept.
  var cutOff: Set<String> = []
  /// When steps that had run were skipped or blocked in one of these for the first time since then.
  var passedOver: [String: Moment] = [:]
}

extension EarlierRun {
  /// Adds what the database may not have taken in from the journal. A step that is in it has begun: what was taken over
  /// for it says nothing any more.
  fileprivate mutating func complete(_ row: ResultRow) {
    if steps[row.step]?.hadTurn == true { return }
    steps[row.step] = nil
    guard let outcome = row.outcome.flatMap(RecordedOutcome.init) else {
      unfinished.insert(row.step)
      return
    }
    unfinished.remove(row.step)
    switch outcome.ending.outcome {
    case .succeeded, .cached, .failed, .timedOut:
      if outcome.ending.outcome.isFailure {
        failed.insert(row.step)
      } else {
        failed.remove(row.step)
      }
    case .cancelled, .skipped, .blocked: break
    }
    steps[row.step] = EarlierStep(
      outcome: outcome, written: row.written, resolved: row.resolved ?? 0, origin: number,
      end: row.attempts == nil
        ? nil
        : CommandEnd(RecordedEnd(status: row.status, detail: row.detail)),
      isFailedHook: false)
    steps[row.step]?.started = row.started
    steps[row.step]?.ended = row.duration.map { (row.started ?? 0) + $0 }
  }

  /// Lets no failure count as allowed, nor keeps what was cancelled because of one.
  package mutating func allowNoFailure() {
    for (name, step) in steps {
      steps[name]?.givenUpFor = nil
      if step.outcome.ending.isAllowed { steps[name]?.outcome.forbid() }
    }
  }

  /// Whether it came to its end, and succeeded. One that was left has not, although its oprun exited with 0.
  package var hasSucceeded: Bool { exitStatus == 0 && stop == nil }

  /// Whether it was left while jobs went on.
  package var wasLeft: Bool { stop == RecordedStop.left.text }

  /// Whether it had all steps of a plan, as they are now.
  package func hasAll(of plan: Plan, _ masker: Masker?) -> Bool {
    var fingerprints = Fingerprints(masker)
    return plan.steps.allSatisfy { steps[$0.id]?.written == fingerprints.written($0) }
  }

  /// Whether steps were left out of it because only a part of the run before was to be resumed.
  package var isOfSelection: Bool {
    steps.values.contains(where: \.outcome.isLeftOut)
  }

  /// Whether it had everything that is asked for now: the named steps, or all without a name. Of a group that was not
  /// named itself, a run of named steps may have had only some members.
  package func covers(_ words: [String]) -> Bool {
    if request.steps.isEmpty {
      return words.allSatisfy { steps.keys.contains(where: StepName($0).covers) }
    }
    let named = request.steps.map { StepName($0) }
    return !words.isEmpty
      && words.allSatisfy { word in
        named.contains { $0.covers(word) } || steps[word]?.outcome.isOfGroup == false
      }
  }

  /// Whether a step, of which this is the definition now, ran something else.
  package func isEdited(_ name: String, _ step: PlannedStep, _ masker: Masker?) -> Bool {
    guard let recorded = steps[name] else { return false }
    var fingerprints = Fingerprints(masker)
    return recorded.written != fingerprints.written(step)
  }
}

extension StateStore {
  /// A recorded run with all its steps; nil if there is none of that name. What failed in runs before takes time for
  /// each of them. With `successors`, what ran since in the runs that went on with it counts as if it had done so itself.
  package func earlierRun(
    named name: String, findingFailed: Bool = false, successors: Bool = false
  ) throws(StoreFailure) -> EarlierRun? {
    try perform { database throws(DatabaseFailure) in
      let run = try database.prepare(
        """
        SELECT id, file, request, cookie, mark, exit_status, process, stop, host
        FROM run WHERE name = ?
        """)
      guard try run.bind(1, name).next(), let number = try run.number(0) else { return nil }
      var earlier = EarlierRun(
        name: name, number: number,
        request: RunRequest(
          file: run.text(1), workspace: try database.fact(.workspace, ofRun: number),
          submission: try database.fact(.submission, ofRun: number), json: run.text(2) ?? ""),
        marks: RunMarks(cookie: run.text(3) ?? "", mark: run.text(4)),
        process: try run.int32(6) ?? 0, host: run.text(8) ?? "",
        exitStatus: try run.int32(5), stop: run.text(7),
        steps: try steps(of: number, in: try database.memory(ofRun: "?1"), database),
        unfinished: try unfinishedSteps(of: number, database),
        failed: findingFailed ? try failedSteps(of: number, database) : [])
      if earlier.exitStatus == nil, let directory = folder.run(named: name) {
        for row in RunJournal.rows(in: directory) { earlier.complete(row) }
      }
      if successors { try addSuccessors(to: &earlier, database) }
      return earlier
    }
  }

  /// The number of a recorded run, which is higher than those of all before it; nil if there is none of that name.
  func number(ofRun name: String) throws(StoreFailure) -> Int? {
    try perform { database throws(DatabaseFailure) in
      let run = try database.prepare("SELECT id FROM run WHERE name = ?")
      return try run.bind(1, name).next() ? try run.number(0) : nil
    }
  }

  /// What was asked of a recorded run; nil if there is none of that name.
  package func request(ofRun name: String) throws(StoreFailure) -> RunRequest? {
    guard let number = try number(ofRun: name) else { return nil }
    return try request(ofRun: number)
  }

  /// What was asked of the recorded run with a number; nil if there is none.
  package func request(ofRun number: Int) throws(StoreFailure) -> RunRequest? {
    try perform { database throws(DatabaseFailure) in
      let run = try database.prepare("SELECT file, request FROM run WHERE id = ?")
      guard try run.bind(1, number).next() else { return nil }
      return RunRequest(
        file: run.text(0), workspace: try database.fact(.workspace, ofRun: number),
        json: run.text(1) ?? "")
    }
  }

  /// The steps that failed the last time that they ran to their end. What was left out, blocked or cancelled says
  /// nothing of whether it fails, nor does what was lost with its oprun. What was taken over has succeeded.
  private func failedSteps(of run: Int, _ database: Database) throws(DatabaseFailure) -> Set<String>
  {
    let rows = try database.prepare(
      """
      WITH RECURSIVE chain(id) AS (
        SELECT ?1 UNION SELECT resumed FROM run JOIN chain USING (id) WHERE resumed IS NOT NULL)
      SELECT name, outcome, max(chain.id) FROM chain JOIN result ON run IN (chain.id, -chain.id)
        JOIN step ON step.id = step
      WHERE \(RecordedOutcome.isDecisive) AND NOT \(RecordedOutcome.isSkippedForNow)
      GROUP BY step
      """)
    rows.bind(1, run)
    var failed: Set<String> = []
    while try rows.next() {
      let outcome = try rows.number(1).flatMap(RecordedOutcome.init)
      if outcome?.ending.outcome.isFailure == true, let name = rows.text(0) { failed.insert(name) }
    }
    return failed
  }

  private func unfinishedSteps(
    of run: Int, _ database: Database
  ) throws(DatabaseFailure) -> Set<String> {
    let rows = try database.prepare(
      "SELECT name FROM result JOIN step ON step.id = step WHERE run = ? AND outcome IS NULL")
    rows.bind(1, run)
    var names: Set<String> = []
    while try rows.next() {
      if let name = rows.text(0) { names.insert(name) }
    }
    return names
  }

  /// The steps of a run with an outcome, from this table expression.
  func steps(
    of run: Int, in results: String, _ database: Database
  ) throws(DatabaseFailure) -> [String: EarlierStep] {
    var steps: [String: EarlierStep] = [:]
    var culprits: [String: String] = [:]
    let rows = try database.prepare(
      """
      SELECT name, outcome, written, resolved, origin, status, detail, attempts, cause, run,
        started, ifnull(started, 0) + duration,
        run > 0 OR step.id IN (SELECT step FROM main.result WHERE run = ?1)
      FROM \(results) AS result JOIN step ON step.id = step
      WHERE outcome IS NOT NULL
      """)
    rows.bind(1, run)
    while try rows.next() {
      guard let name = rows.text(0), let outcome = try rows.number(1).flatMap(RecordedOutcome.init)
      else { continue }
      let cause = rows.text(8).map { RecordedCause($0) }
      if outcome.ending.outcome == .cancelled {
        culprits[name] = cause?.culprit
      }
      steps[name] = EarlierStep(
        outcome: outcome, written: rows.bits(2) ?? 0, resolved: rows.bits(3) ?? 0,
        origin: try rows.number(4) ?? run,
        end: try rows.number(7) == nil
          ? nil
          : CommandEnd(
            RecordedEnd(status: try rows.int32(5).map { Int($0) }, detail: rows.text(6))),
        isFailedHook: cause?.kind == .hook,
        hadTurn: try rows.number(9) ?? 0 > 0)
      steps[name]?.wasPresent = try rows.number(12) != 0
      steps[name]?.failedToExpand =
        cause?.kind == .condition && outcome.ending.outcome.isFailure
      // What is the result of a run that this one repeats has the times of that run.
      guard try rows.number(9).map(abs) == run else { continue }
      steps[name]?.started = try rows.number(10)
      steps[name]?.ended = try rows.number(11)
    }
    for (name, culprit) in culprits where steps[culprit]?.outcome.ending.isAllowed == true {
      steps[name]?.givenUpFor = culprit
    }
    let outputs = try database.prepare(
      """
      SELECT step.name, output.name, value FROM output JOIN step ON step.id = step
      WHERE run IN (?1, -?1)
      """)
    outputs.bind(1, run)
    while try outputs.next() {
      guard let step = outputs.text(0), let name = outputs.text(1) else { continue }
      if let json = outputs.text(2) {
        steps[step]?.outputs.append(PublishedOutput(name: name, json: json))
      } else {
        steps[step]?.hasSecretOutput = true
      }
    }
    return steps
  }
}

extension Outcome {
  /// Whether an operation with this outcome ran nothing, and nothing was to run.
  var isOfNothing: Bool {
    switch self {
    case .skipped, .blocked: true
    case .succeeded, .cached, .failed, .timedOut, .cancelled: false
    }
  }
}

// What was recorded of runs, for lists: their steps, the commands and outputs of steps.

import Diagnostics
package import Plans
import RunFiles
package import Scheduling

/// A recorded run, without its results.
struct RecordedRunStart: Hashable {
  let number: Int
  let name: String
  /// The time of the start in microseconds since 1970.
  let started: Int
  /// The size of its logs; nil if its end was not recorded.
  let logBytes: Int?
}

/// How many steps of a run ended like this.
package struct EndingNumber: Hashable, Sendable {
  /// The ending as the run showed it: what was kept is up to date.
  package let ending: Ending
  /// True if they ran in an earlier run.
  package let isKept: Bool
  /// True if the run was left before their ends.
  package let isLeft: Bool
  package let number: Int
}

/// A recorded step. Times are in microseconds since the start of the run in which it ran.
package struct RecordedStep: Hashable, Sendable {
  package let name: String
  /// Nil if it started, and no end was recorded.
  package let ending: Ending?
  package let isGroup: Bool
  /// Why it has its ending, unless its own command says so.
  package let cause: RecordedCause?
  package let started: Int?
  /// Nil if it never started.
  package let duration: Int?
  /// When it had its outcome.
  let ended: Int?
  package let attempts: Int?
  /// The end of the last attempt; `duration` is that of the step, with everything else that belongs to it.
  package let last: RecordedEnd
  /// The run in which it ran, if that was another one; empty if that was removed.
  package let origin: String?
}

extension RecordedStep {
  /// Whether its members are counted and listed in its place.
  package var standsForOthers: Bool {
    guard isGroup, ending?.outcome.isFailure == true, let cause else { return isGroup }
    return cause.kind?.isOfGroupItself != true
  }

  /// Whether its run left it before its end.
  package var isLeft: Bool { cause == .left }

  /// The name as the run printed it: the recorded one also tells names apart that contain secrets.
  package var shownName: String { InstanceName.withoutNumber(name) }

  /// Whether its logs were removed, with the run in which it ran.
  package var hasLostLogs: Bool { origin?.isEmpty == true }

  /// How it ended, as the run showed it.
  package var shownEnding: Ending? { origin == nil ? ending : ending?.asKept }

  /// How its last attempt ended; nil if it never started.
  package var end: CommandEnd? {
    attempts == nil ? nil : CommandEnd(last)
  }
}

extension RecordedStepCommand {
  /// Nil if it runs, or ran when oprun died.
  package var end: CommandEnd? {
    last.duration == nil ? nil : CommandEnd(last)
  }
}

extension Ending {
  /// The ending that a run shows of what it did not run again.
  fileprivate var asKept: Ending { outcome == .succeeded ? Ending(.cached) : self }
}

/// A recorded hook, or an attempt that another one followed or follows.
package struct RecordedStepCommand: Hashable, Sendable {
  package let step: String
  /// `1`, `on_failure.2`.
  package let role: String
  package let started: Int?
  /// How it ended; without a duration if it has not.
  package let last: RecordedEnd
}

package struct RecordedOutput: Hashable, Sendable {
  package let step: String
  package let name: String
  /// Nil if it held a secret.
  package let json: String?
}

extension StateStore {
  /// The names of all runs, the newest first.
  package func runNames() throws(StoreFailure) -> [String] { try runStarts().map(\.name) }

  /// All runs, without their results, the newest first.
  func runStarts() throws(StoreFailure) -> [RecordedRunStart] {
    try perform { database throws(DatabaseFailure) in
      let rows = try database.prepare(
        """
        SELECT id, name, started, iif(exit_status IS NULL, NULL, ifnull(log_bytes, 0)) FROM run
        ORDER BY id DESC
        """)
      var runs: [RecordedRunStart] = []
      while try rows.next() {
        runs.append(
          RecordedRunStart(
            number: try rows.number(0) ?? 0, name: rows.text(1) ?? "",
            started: try rows.number(2) ?? 0, logBytes: try rows.number(3)))
      }
      return runs
    }
  }

  /// The newest run of a pipeline from which there is something to go on for these steps, or which has done all that
  /// they ask for; nil if there is none. What failed is done once a newer run has done the same.
  package func runToResume(
    of place: PipelinePlace, for steps: [String]
  ) throws(StoreFailure) -> String? {
    let runs: [(name: String, hasSucceeded: Bool)] = try perform {
      database throws(DatabaseFailure) in
      let rows = try database.prepare(
        """
        SELECT name, exit_status IS 0 AND stop IS NULL FROM run
        WHERE \(try database.runsOfPlace()) ORDER BY id DESC
        """
      )
      rows.bind(place)
      var runs: [(name: String, hasSucceeded: Bool)] = []
      while try rows.next() { runs.append((rows.text(0) ?? "", try rows.number(1) == 1)) }
      return runs
    }
    var passed: [EarlierRun] = []
    for (name, hasSucceeded) in runs {
      if hasSucceeded, let run = try earlierRun(named: name) {
        if run.isOfSelection || run.covers(steps) { return name }
        passed.append(run)
      } else if let request = try request(ofRun: name),
        !passed.contains(where: { $0.covers(request.steps) })
      {
        return name
      }
    }
    return nil
  }

  /// Counts what is recorded of each step: the same whether the run has ended, goes on or died.
  func endings(
    of run: Int, _ database: Database
  ) throws(DatabaseFailure) -> [EndingNumber] {
    // SQLite would sort the rows to group them.
    let rows = try database.prepare(
      """
      SELECT \(RecordedOutcome.endingNumber) * 4 + (origin IS NOT NULL) * 2 + (cause IS ?2)
      FROM \(try database.results(ofRun: "?1"))
      WHERE outcome IS NOT NULL AND (NOT \(RecordedOutcome.isOfGroup)
        OR \(RecordedOutcome.isFailure) AND \(RecordedCause.isOfGroupItself))
      """)
    rows.bind(1, run).bind(2, RecordedCause.left.text)
    var counts = [Int](repeating: 0, count: 64)
    while try rows.next() { counts[rows.bits(0) ?? 0] += 1 }
    return counts.enumerated().compactMap { kind, count in
      guard count > 0, let ending = RecordedOutcome(number: kind >> 2)?.ending else { return nil }
      let isKept = kind & 2 != 0
      return EndingNumber(
        ending: isKept ? ending.asKept : ending, isKept: isKept, isLeft: kind & 1 != 0,
        number: count)
    }
  }

  /// The steps of a run, in file order.
  package func steps(of run: RecordedRunSummary) throws(StoreFailure) -> [RecordedStep] {
    try perform { database throws(DatabaseFailure) in
      let rows = try database.prepare(
        """
        SELECT step.name, outcome, cause, result.started, result.duration, attempts, result.status,
          result.detail, result.processor, result.memory, result.output, iif(origin IS NULL, NULL, ifnull(run.name, '')),
          ifnull(last.duration, result.duration), place
        FROM \(try database.results(ofRun: "?1")) AS result
        JOIN step ON step.id = result.step LEFT JOIN run ON run.id = origin
        LEFT JOIN command AS last ON last.run = ifnull(origin, result.run)
          AND last.step = result.step AND last.role = CAST(attempts AS TEXT)
        """)
      rows.bind(1, run.number)
      var steps: [RecordedStep] = []
      var places: [Int] = []
      steps.reserveCapacity(min(max(0, run.steps), Self.mostExpected))
      while try rows.next() {
        steps.append(try step(rows))
        places.append(try rows.number(13) ?? 0)
      }
      // SQLite sorts thousands of rows in a file, although most are in order.
      if zip(places, places.dropFirst()).allSatisfy({ $0 <= $1 }) { return steps }
      return places.indices.sorted { (places[$0], $0) < (places[$1], $1) }.map { steps[$0] }
    }
  }

  /// Room for so many steps is made before it is known that they are there.
  private static let mostExpected = 100_000

  private func step(_ rows: Statement) throws(DatabaseFailure) -> RecordedStep {
    let outcome = try rows.number(1).flatMap(RecordedOutcome.init)
    let (started, duration) = (try rows.number(3), try rows.number(4))
    return RecordedStep(
      name: rows.text(0) ?? "", ending: outcome?.ending, isGroup: outcome?.isOfGroup ?? false,
      cause: rows.text(2).map { RecordedCause($0) }, started: started,
      duration: started == nil ? nil : duration, ended: duration.map { (started ?? 0) + $0 },
      attempts: try rows.number(5),
      last: RecordedEnd(
        status: try rows.int32(6).map { Int($0) }, detail: rows.text(7),
        duration: try rows.number(12), processor: try rows.number(8), memory: try rows.number(9),
        output: try rows.number(10)),
      origin: rows.text(11))
  }

  /// The hooks and the earlier attempts of a run; those of the run itself have the step `@run`.
  package func commands(
    of run: RecordedRunSummary
  ) throws(StoreFailure) -> [RecordedStepCommand] {
    let isEarlier = "role != CAST(ifnull(attempts, '') AS TEXT)"
    return try commands(of: run, where: isEarlier)
  }

  /// All commands that have a record of their own.
  func allCommands(of run: RecordedRunSummary) throws(StoreFailure) -> [RecordedStepCommand] {
    try commands(of: run, where: "1")
  }

  private func commands(
    of run: RecordedRunSummary, where condition: String
  ) throws(StoreFailure) -> [RecordedStepCommand] {
    try perform { database throws(DatabaseFailure) in
      let rows = try database.prepare(
        """
        SELECT name, role, command.started, command.duration, command.status, command.detail,
          command.processor, command.memory, command.output
        FROM command JOIN step ON step.id = command.step
        LEFT JOIN result ON result.run = command.run AND result.step = command.step
        WHERE command.run = ? AND \(condition) ORDER BY command.step, command.started
        """)
      rows.bind(1, run.number)
      var commands: [RecordedStepCommand] = []
      while try rows.next() {
        commands.append(
          RecordedStepCommand(
            step: rows.text(0) ?? "", role: rows.text(1) ?? "", started: try rows.number(2),
            last: RecordedEnd(
              status: try rows.int32(4).map { Int($0) }, detail: rows.text(5),
              duration: try rows.number(3), processor: try rows.number(6),
              memory: try rows.number(7), output: try rows.number(8))))
      }
      return commands
    }
  }

  package func outputs(of run: RecordedRunSummary) throws(StoreFailure) -> [RecordedOutput] {
    try perform { database throws(DatabaseFailure) in
      let rows = try database.prepare(
        """
        SELECT step.name, output.name, value FROM output JOIN step ON step.id = step
        WHERE run = ? ORDER BY step, output.name
        """)
      rows.bind(1, run.number)
      var outputs: [RecordedOutput] = []
      while try rows.next() {
        outputs.append(
          RecordedOutput(
            step: rows.text(0) ?? "", name: rows.text(1) ?? "", json: rows.text(2)))
      }
      return outputs
    }
  }
}

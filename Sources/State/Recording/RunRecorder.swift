// Records a run in the state database. What one turn of the loop produced goes into one
// transaction, and a success is there before any step starts that depends on it.
// docs/design-state.md.

import Diagnostics
package import Masking
package import Plans
package import RunFiles
package import Scheduling

/// A run that is to be recorded: all that its events do not say.
package struct RunToRecord {
  package let plan: Plan
  package let directory: RunDirectory
  package var request: RunRequest
  package var masker: Masker?
  /// True if commits wait for the disk.
  package var isDurable = false
  /// The run that is resumed.
  package var resumption: Resumption?
  /// The database, if it is open already.
  package var store: StateStore?
  /// The steps that are up to date and not in the plan.
  package var unplanned: UnplannedSteps?

  package init(plan: Plan, directory: RunDirectory, request: RunRequest) {
    self.plan = plan
    self.directory = directory
    self.request = request
  }

  /// How many steps there are at the beginning, as people count them.
  var stepCount: Int { plan.stepCount + unplannedCount }

  /// The number of steps that a run had which this one repeats, and that are not in the plan.
  var unplannedCount: Int { unplanned?.count ?? 0 }

  /// The number of a step among all.
  func number(of operation: OperationID) -> Int {
    unplanned.map { $0.numbers[operation.index] } ?? operation.index
  }

  /// The name under which a step is recorded, without secrets.
  func name(_ id: String, of place: Int) -> String { masker?.name(id, number: place) ?? id }
}

/// An observer that records.
///
/// The database is opened while the first commands run, unless something must be recorded before. What they have done meanwhile
/// gets into the first transaction, so a short run needs only one.
package final class RunRecorder: RunObserver {
  let run: RunToRecord
  let database: RunDatabase
  var pending: [Record] = []
  /// True if something is pending that must be recorded before other commands start.
  private var isPressing = false
  /// The journal, which has rows until the database has them; nil before it is worth a file, or if none can be made.
  private var journal: RunJournal?
  /// How many of those pending, from the first, the journal has.
  private var journaledCount = 0
  private var pace = RecordingPace()
  /// The time of the last event.
  private var now: Nanoseconds = 0
  private var isOver = false
  /// The exit status that is recorded.
  private var recordedStatus: Int32?
  /// The steps that have started and have no outcome yet.
  var open: [OperationID: OpenStep] = [:]
  /// True if some of them were placed.
  var hasPlaces = false
  private let added: AddedOperations
  /// The last commands of steps that failed or were cancelled: somebody may run them again.
  private var ended: [OperationID: RecordedCommand] = [:]
  private var tally = Tally()
  var fingerprints: Fingerprints
  var resolved: [OperationID: Int] = [:]
  /// The numbers of the results of cached steps that have not ended.
  var results: [OperationID: Int] = [:]
  private var retryAt: Nanoseconds?
  /// When the first records are written, once the database is open.
  private var firstWriteAt: Nanoseconds?
  /// Messages for people, each of which is shown once.
  package var notices: [String] { database.notices + [noticeOfHeld].compactMap { $0 } }
  private var noticeOfHeld: String?

  /// How long the run was held up because another process had the lock, and how long its end was.
  package var standstill: Nanoseconds { database.standstill - standstillAtEnd }
  package private(set) var standstillAtEnd: Nanoseconds = 0

  private static let retryDelay: Nanoseconds = 50_000_000
  /// A step may take this much longer than its only command and is still recorded with the duration of the command.
  private static let unnoticedTime: Nanoseconds = 10_000_000
  /// The number of records by which the database may lag behind the journal.
  private static let mostJournaled = 1000

  package init(_ run: RunToRecord) {
    self.run = run
    database = RunDatabase(of: run)
    added = AddedOperations(to: run.plan)
    fingerprints = Fingerprints(run.masker)
    tally.steps = run.unplanned?.count ?? 0
    tally.ok = tally.steps
  }

  /// The database that has the run; nil before it has the first records.
  var store: StateStore? { database.store }

  package var deadline: Nanoseconds? { retryAt }

  package var hasRecordedAll: Bool { journaledCount == pending.count }

  /// Whether the run can be found in the database.
  package var isRecorded: Bool { store.map { $0.lostFile == nil } ?? false }
  /// Whether the run has begun, recorded or not.
  package private(set) var hasBegun = false

  package func observe(_ event: RunEvent) {
    now = event.time
    switch event.kind {
    case .began(let beginning):
      hasBegun = true
      pending.append(.began(beginning))
      pending += (run.resumption?.outdatedSince ?? []).map { .forgotten($0) }
    case .started(let operation, let role): start(operation, role, at: event.time)
    case .ended(let operation, let role, let end): finish(operation, role, end, at: event.time)
    case .appended(let operation, let id, let group, let after, _):
      added.append(operation, id: id, from: group, after: after)
      // Only the latest count is of interest: there may be thousands of instances.
      if case .counted? = pending.last { pending.removeLast() }
      pending.append(.counted(added.stepCount + run.unplannedCount))
      run.resumption?.appended(operation, named: name(of: operation), to: group, after: after)
    case .published(let operation, let outputs):
      if run.resumption?.isKeeping(operation) == true { break }
      pending.append(.published(name(of: operation), outputs))
    case .retrying(let operation, _, _): writeLast(of: operation)
    case .controlled(let note):
      pending.append(.changed(RecordedChange(note, run.plan, at: event.time, name(of:))))
    case .reopened(let operation, let ending): reopen(operation, ending)
    case .settled(let operation, let ending, let cause):
      settle(operation, ending, cause, at: event.time)
    case .finished(let end):
      tally.stop = end.stopReason?.recorded(name(of:)).text
      tally.passedOn = end.passedOn.map { "\($0.status) \(name(of: $0.step))" }
      recordedStatus = end.exitStatus
      noticeOfHeld = run.resumption?.noticeOfHeld
      pending.append(.finished(end, at: event.time, tally))
      isPressing = true
      isOver = true
    case .placed(let operation, let role, let place): note(place, of: operation, role)
    case .outputGrew, .terminalTaken, .terminalReturned, .resolved, .waiting, .ready,
      .heldUp,
      .orphansFound, .outOfReach, .restored, .stopping, .notice:
      break
    }
  }

  package func commit() throws(ObserverFailure) {
    guard !pending.isEmpty, isPressing || store != nil else { return }
    if pace.isWorthAJournal, keepInJournal() { return }
    pace.noteCommit()
    // While oprun waits for another program, it notices neither signals nor the ends of commands.
    if store != nil, try flush(isPatient: false) || keepInJournal() { return }
    try flush(isPatient: true)
  }

  package func endTurn(at time: Nanoseconds) throws(ObserverFailure) {
    now = time
    retryAt = nil
    guard !pending.isEmpty else { return }
    if let due = try firstWrite(at: time) ?? journalWrite, time < due {
      retryAt = due
      return
    }
    if try !flush(isPatient: false) { retryAt = time + Self.retryDelay }
  }

  /// Opens the database for the first records, and returns when they are due: in the next turn, which waits for nothing.
  /// Nil if the database has them, or if none will follow.
  private func firstWrite(at time: Nanoseconds) throws(ObserverFailure) -> Nanoseconds? {
    if store != nil || isOver { return nil }
    if let firstWriteAt { return firstWriteAt }
    do throws(StoreFailure) { try database.open() } catch { throw Self.failure(error) }
    firstWriteAt = time + 1
    return firstWriteAt
  }

  /// When the database is to get what the journal has; nil if that does not have all.
  private var journalWrite: Nanoseconds? {
    journaledCount == pending.count ? pace.nextWrite : nil
  }

  /// Writes what is pending. False if another process holds the lock, and this is no time to wait.
  @discardableResult
  private func flush(isPatient: Bool) throws(ObserverFailure) -> Bool {
    if pending.isEmpty { return true }
    let start = monotonicTime()
    let standstillBefore = database.standstill
    defer { if isOver { standstillAtEnd += database.standstill - standstillBefore } }
    do throws(StoreFailure) {
      try database.write(pending, isPatient: isPatient)
      if let store, let file = store.lostFile { throw .lost(file, in: store.folder) }
      pending.removeAll(keepingCapacity: true)
      isPressing = false
      journal?.clear()
      if isOver { journal?.remove() }
      journaledCount = 0
      pace.noteWrite(at: now, took: monotonicTime() - start, store?.journal)
      return true
    } catch {
      if error.isLocked, !isPatient { return false }
      throw Self.failure(error)
    }
  }

  private static func failure(_ error: StoreFailure) -> ObserverFailure {
    let advice = error.isDamage ? error.help.map { "; \($0)" } ?? "" : ""
    var failure = ObserverFailure("the run is not recorded: \(error.message)\(advice)")
    failure.successor = error.successor
    return failure
  }

  /// Lets the journal keep what is pending, if it can have all of it and the database has had the first records.
  private func keepInJournal() -> Bool {
    guard store != nil, !run.isDurable, pending.count < Self.mostJournaled else { return false }
    if journal == nil { journal = RunJournal(in: run.directory) }
    guard journal?.add(pending[journaledCount...]) == true else { return false }
    journaledCount = pending.count
    isPressing = false
    return true
  }

  /// Records that the run has failed after its end was recorded, because something else could not be written.
  package func spoil(_ status: Int32, because words: String) {
    guard isRecorded, let recordedStatus, recordedStatus != status else { return }
    pending.append(.spoiled(status, stop: run.masker?.mask(words) ?? words))
    _ = try? flush(isPatient: true)
  }

  /// Removes runs beyond the limits, now that this one is over, and sees to it that earlier ones are not only in the
  /// log of the database; returns what a person should know. `isBusy` is as in `StateStore.prune`.
  package func tidy(_ limits: PruneLimits, isBusy: (StateStore, String) -> Bool) -> String? {
    guard let store else { return nil }
    store.copyLogNowAndThen()
    return try? store.pruneNowAndThen(limits, after: database.runNumber) { isBusy(store, $0) }
  }
}

// Steps that start, end and have an outcome.
extension RunRecorder {
  func name(of operation: OperationID) -> String {
    if operation.rawValue < 0 { return RunDirectory.runHookName }
    return run.name(added.id(of: operation) ?? "", of: operation.index)
  }

  /// The operation of the plan that it was made from.
  func planned(_ operation: OperationID) -> OperationID { added.planned(operation) }

  private func key(of operation: OperationID) -> StepIdentity {
    StepIdentity(
      name: name(of: operation), place: run.number(of: operation),
      written: fingerprints.written(run.plan.steps[planned(operation).index]))
  }

  private func start(_ operation: OperationID, _ role: CommandRole, at time: Nanoseconds) {
    guard case .attempt(let number) = role else {
      open[operation, default: OpenStep(start: time, attemptStart: time)].hookStart = time
      open[operation]?.hasHooks = true
      writeLast(of: operation)
      return pending.append(.running(name(of: operation), role, since: time))
    }
    if open[operation] != nil {
      open[operation]?.attemptStart = time
    } else {
      let key = key(of: operation)
      open[operation] = OpenStep(key: key, start: time, attemptStart: time)
      pending.append(.started(key, at: time))
    }
    for seen in run.resumption?.began(operation) ?? [] {
      pending.append(.forgotten(name(of: seen)))
    }
    // The start of a first attempt is that of the step.
    if number > 1 { pending.append(.running(name(of: operation), role, since: time)) }
  }

  /// Records the last attempt that has ended: something follows it.
  private func writeLast(of operation: OperationID) {
    guard let step = open[operation], let last = step.last, !step.hasRowOfLast else { return }
    open[operation]?.hasRowOfLast = true
    pending.append(.command(name(of: operation), last))
  }

  private func finish(
    _ operation: OperationID, _ role: CommandRole, _ end: CommandEnd, at time: Nanoseconds
  ) {
    tally.logBytes = (tally.logBytes ?? 0) + end.outputByteCount
    notePlace(ofEnded: operation)
    if case .attempt = role {
      open[operation, default: OpenStep(start: time, attemptStart: time)].ended(role, end)
    } else {
      let command = RecordedCommand(role: role, start: open[operation]?.hookStart ?? 0, end: end)
      pending.append(.command(name(of: operation), command))
    }
  }

  private func settle(
    _ operation: OperationID, _ ending: Ending, _ cause: Cause, at time: Nanoseconds
  ) {
    // If the command goes on elsewhere, its last place is the one to record.
    notePlace(ofEnded: operation)
    let step = open.removeValue(forKey: operation)
    let isGroup = added.standsForOthers(operation)
    let takenOver = run.resumption?.settled(operation, ending, cause) ?? .forgotten
    if takenOver == .forgotten, ending.outcome.isOfNothing, let resumption = run.resumption {
      let names = resumption.outdated(
        by: operation, of: planned(operation), named: name(of: operation))
      pending += names.map { .forgotten($0) }
    }
    let isSkipped = if case .condition = cause { ending.outcome == .skipped } else { false }
    if !isGroup { tally.count(ending, isKept: takenOver == .kept) }
    // When the last attempt of several was started follows from nothing else, nor how long one took that something
    // followed: a hook, or processes that it had left behind and that had to be ended.
    if let step, !step.hasRowOfLast, let last = step.last, case .attempt(let number) = last.role,
      number > 1 || step.hasHooks || ending.outcome.isFailure
        || time - step.start - last.end.duration > Self.unnoticedTime
    {
      pending.append(.command(name(of: operation), last))
    }
    if let last = step?.last, ending.outcome != .succeeded { ended[operation] = last }
    pending.append(
      .settled(
        step?.key ?? key(of: operation),
        Settled(
          outcome: RecordedOutcome(
            ending, isOfGroup: isGroup,
            isLeftOut: isSkipped && leavesGap(operation) || isUnfinished(operation)),
          cause: cause.recorded(name(of:))?.text, start: step?.start, end: time, last: step?.last,
          resolved: takeNumber(of: operation), takenOver: takenOver)))
    isPressing = true
  }

  /// The number that is recorded of a step which has ended: that of its result, which depends on everything that was
  /// decided while running, or that of its values.
  private func takeNumber(of operation: OperationID) -> Int {
    let values = resolved.removeValue(forKey: operation)
    return results.removeValue(forKey: operation) ?? values ?? 0
  }

  /// Whether the rest of it is for a later run: it was kept although it has changed, or is a used pipeline that was left
  /// out in part.
  private func isUnfinished(_ operation: OperationID) -> Bool {
    guard let resumption = run.resumption else { return false }
    return resumption.held.contains(operation)
      || resumption.isUnfinished(operation, named: name(of: operation))
  }
}

// Steps that run again.
extension RunRecorder {
  private func reopen(_ operation: OperationID, _ ending: Ending) {
    let last = ended.removeValue(forKey: operation)
    let isKept = run.resumption?.isKeeping(operation) ?? false
    if !added.standsForOthers(operation) { tally.uncount(ending, isKept: isKept) }
    run.resumption?.forget(operation)
    // The last command becomes that of an earlier attempt.
    if let last { pending.append(.command(name(of: operation), last)) }
    pending.append(.reopened(name(of: operation)))
  }
}

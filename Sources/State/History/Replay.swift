// The events of a recorded run, made from its records, for reports that are written afterwards.

import Diagnostics
package import Masking
package import Plans
import RunFiles
import Scheduling

/// What happened in a recorded run.
package struct Replay {
  private let beginning: [RunEvent]
  private let records: Replaying
  private let order: [ReplayOrder]
  private let end: RunEvent?
  /// Steps of the run that its pipeline does not have any more, and which are left out.
  package let missing: [String]

  /// `order` has what the records say in the order in which it happened.
  fileprivate init(
    _ beginning: [RunEvent], _ records: Replaying, in order: [ReplayOrder], _ end: RunEvent?,
    missing: [String]
  ) {
    self.beginning = beginning
    self.records = records
    self.order = order
    self.end = end
    self.missing = missing
  }

  /// Passes on the events in order of time: those that say what was started, how it ended, and how each step came
  /// out.
  package func forEachEvent(_ body: (RunEvent) -> Void) {
    beginning.forEach(body)
    for position in order { body(records.event(at: position)) }
    if let end { body(end) }
  }
}

extension StateStore {
  /// Replays a run. `plan` is the plan of its pipeline with the same parameters and steps; the `trace`
  /// is the one to report it in; `masker` is that of its secrets, which names are recorded without. If its oprun
  /// died, what had not ended is cancelled for that reason, at the last moment of which anything is known.
  package func replay(
    _ run: RecordedRunSummary, _ plan: Plan, _ trace: TraceContext, _ masker: Masker? = nil
  ) throws(StoreFailure) -> Replay {
    let replaying = Replaying(plan, run, masker)
    replaying.isDead = run.exitStatus == nil && !isInUse(run.name)
    let steps = try steps(of: run)
    let commands = try allCommands(of: run)
    replaying.take(steps, commandCount: commands.count)
    let commanded = Set(commands.map(\.step))
    for step in steps where commanded.contains(step.name) {
      if let attempts = step.attempts { replaying.last[step.name] = (attempts, step) }
    }
    for placement in try placements(of: run) {
      replaying.placements["\(placement.role) \(placement.step)"] = placement.place
    }
    for command in commands where !Replaying.isOfRun(command) { replaying.add(command) }
    for change in try changes(of: run) { replaying.add(change) }
    for index in steps.indices { replaying.add(step: index) }
    for command in commands where Replaying.isOfRun(command) {
      replaying.add(command)
      if command.end?.isSuccess == false { replaying.hasFailedHook = true }
    }
    if replaying.isDead { replaying.endUnended() }
    return replaying.result(trace)
  }
}

/// The run that is replayed, as far as its records were read. A class, because calls would copy such a large value.
private final class Replaying {
  private let plan: Plan
  private let run: RecordedRunSummary
  private let operations: RecordedNames
  private let late: LateInstances
  /// What was made during the run, and from what.
  private var made: [(name: String, origin: OperationID, isGroup: Bool)] = []
  /// The steps that were recorded, and their operations; nil for those that the plan does not have.
  private var steps: [RecordedStep] = []
  private var found: [OperationID?] = []
  /// The events that are not made from a step.
  private var events: [RunEvent] = []
  private var order: [ReplayOrder] = []
  /// What stands at each place of the order, by the index that this has.
  private var contents: [ReplayContent] = []
  /// The places of operations, what they depend on first.
  private let places: [Int]
  private var missing: [String] = []
  /// Its oprun died.
  var isDead = false
  /// The commands that ran then, and since when.
  private var running: [(operation: OperationID, role: CommandRole, start: Nanoseconds)] = []
  /// The operations that have an end, if it died.
  private var settled: Set<OperationID> = []
  /// A hook of the run itself failed.
  var hasFailedHook = false
  /// Where commands were that did not run here, by role and step.
  var placements: [String: CommandPlacement] = [:]
  /// The number of the last attempt of each step whose commands have records of their own, and the step.
  var last: [String: (attempt: Int, step: RecordedStep)] = [:]
  /// The steps that were tried more than once: each of their attempts has a record of its own.
  private var retried: Set<OperationID> = []
  /// When the last command ended that has a record of its own.
  private var commandEnds: [OperationID: Nanoseconds] = [:]
  /// When the first hook of a step was started.
  private var hookStarts: [OperationID: Nanoseconds] = [:]

  init(_ plan: Plan, _ run: RecordedRunSummary, _ masker: Masker?) {
    self.plan = plan
    self.run = run
    operations = RecordedNames(plan, masker)
    late = LateInstances(plan)
    var places = [Int](repeating: 0, count: plan.steps.count)
    for (place, index) in plan.graph.dependenciesFirst().enumerated() { places[Int(index)] = place }
    self.places = places
  }

  /// Takes the steps, finds their operations, and makes room for what they and so many commands become.
  func take(_ steps: [RecordedStep], commandCount: Int) {
    self.steps = steps
    found = steps.map { find($0.name) }
    order.reserveCapacity(3 * steps.count + 2 * commandCount)
    contents.reserveCapacity(3 * steps.count + 2 * commandCount)
  }

  private func append(_ rank: ReplayOrder.Rank, _ event: RunEvent, at place: Int = 0) {
    append(rank, .event(events.count), at: event.time, place)
    events.append(event)
  }

  private func append(
    _ rank: ReplayOrder.Rank, _ content: ReplayContent, at time: Nanoseconds, _ place: Int = 0
  ) {
    order.append(ReplayOrder(time, rank, place, contents.count))
    contents.append(content)
  }

  /// Times are recorded in microseconds: whatever was started when a command ended was started after it.
  private static let shortest: Nanoseconds = 1000

  static func isOfRun(_ command: RecordedStepCommand) -> Bool {
    command.step == RunDirectory.runHookName
  }

  /// Finds the operation of a step. What was made during the run is appended to what it was made
  /// from.
  func find(_ name: String) -> OperationID? {
    if let operation = operations.next(named: name) { return operation }
    guard let origin = origin(ofMade: InstanceName.withoutNumber(name)) else {
      missing.append(name)
      return nil
    }
    let operation = OperationID(plan.steps.count + made.count)
    operations[name] = operation
    made.append((name, origin.operation, origin.makesGroup))
    return operation
  }

  /// What an instance with this name was made from. A matrix that is known from the beginning makes none: what the plan
  /// lacks of it, the file does not have any more.
  private func origin(ofMade name: String) -> (operation: OperationID, makesGroup: Bool)? {
    for origin in InstanceName(name).origins {
      guard let operation = operations[origin] else { continue }
      let planned = planned(operation)
      let group = plan.groups[planned]
      let isInstance = name.hasSuffix("]") && !origin.hasSuffix("]")
      if isInstance ? group?.isExpanding == true : late.hasGroup(planned) {
        return (operation, isInstance ? group?.pattern != nil : group != nil)
      }
    }
    return nil
  }

  /// The events that say what was made during the run.
  private var appended: [RunEvent] {
    made.enumerated().map { index, instance in
      let after = late.dependencies(of: instance.name, instance.origin, plan).map { names in
        names.compactMap { operations[$0] }
      }
      return RunEvent(
        at: 0,
        .appended(
          OperationID(plan.steps.count + index), id: InstanceName.withoutNumber(instance.name),
          group: instance.origin, after: after ?? [], isGroup: instance.isGroup))
    }
  }

  /// The operation of the plan that it was made from.
  private func planned(_ operation: OperationID) -> OperationID {
    var step = operation
    while step.index >= plan.steps.count { step = made[step.index - plan.steps.count].origin }
    return step
  }

  /// Adds a hook, or an attempt that another one followed.
  func add(_ command: RecordedStepCommand) {
    let operation = Self.isOfRun(command) ? .run : operations[command.step]
    guard let operation, let role = CommandRole(named: command.role), let start = command.started
    else { return }
    let begin = nanoseconds(start)
    guard var end = command.end else { return addUnended(operation, role, from: begin) }
    if let last = last[command.step], role == .attempt(last.attempt) { end = last.step.end ?? end }
    let ended = RecordedCommand(role: role, start: begin, end: end)
    add(ended, of: operation, at: place(of: command.role, command.step))
    switch role {
    case .attempt: retried.insert(operation)
    case .hook: hookStarts[operation] = min(hookStarts[operation] ?? .max, begin)
    case .probe: break
    }
  }

  /// Adds a change if somebody has asked for a step to run again. Of others no report says more than their words.
  func add(_ change: RecordedChange) {
    guard change.action == "\(ControlAction.retry(.run).word)" else { return }
    for (name, operation) in operations.all {
      let note = ControlNote(.retry(operation), by: change.user)
      guard note.words(queue: { _ in "" }, step: { _ in name }) == change.words else { continue }
      return append(.outcome, RunEvent(at: nanoseconds(change.time), .controlled(note)))
    }
  }

  /// Adds what happened to a step that was recorded.
  func add(step index: Int) {
    guard let operation = found[index] else { return }
    let step = steps[index]
    let span = span(of: step)
    if let start = span.start, let attempts = step.attempts, !retried.contains(operation) {
      append(.start, .start(index), at: start)
      if !placements.isEmpty, let place = place(of: "\(attempts)", step.name) {
        append(.start, RunEvent(at: start, .placed(operation, .attempt(attempts), place)))
      }
      let duration = nanoseconds(duration(ofOnlyAttemptOf: operation, span))
      append(.end, .end(index), at: start + max(Self.shortest, duration))
    }
    if step.ending != nil {
      if step.attempts == nil, retried.contains(operation) { takeBackOutcome(of: operation) }
      return settle(operation, .outcome(index), at: span.end)
    }
    // The start of a first attempt is that of its step.
    let isFirst = !retried.contains(operation) && !running.contains { $0.operation == operation }
    if isFirst, let start = step.started {
      addUnended(operation, .attempt(1), from: nanoseconds(start))
    }
  }

  /// A step that was tried, and had its outcome without another attempt, was to run again: its first outcome, which is not
  /// recorded, was taken back.
  private func takeBackOutcome(of operation: OperationID) {
    let (time, ending) = (commandEnds[operation] ?? 0, Ending(.failed))
    append(.outcome, RunEvent(at: time, .settled(operation, ending, .itself)))
    append(.outcome, RunEvent(at: time, .reopened(operation, ending)))
  }

  /// When a step that ran in this run started, and when a step had its outcome.
  private func span(of step: RecordedStep) -> (start: Nanoseconds?, end: Nanoseconds) {
    if step.origin != nil { return (nil, 0) }
    let end = nanoseconds(step.ended ?? 0)
    guard let start = step.started, step.duration != nil else { return (nil, end) }
    return (nanoseconds(start), max(end, nanoseconds(start + 1)))
  }

  /// The duration of a step's only attempt in microseconds. Its hooks ran between its end and its outcome.
  private func duration(
    ofOnlyAttemptOf operation: OperationID, _ span: (start: Nanoseconds?, end: Nanoseconds)
  ) -> Int {
    Int(max(0, (hookStarts[operation] ?? span.end) - (span.start ?? 0)) / 1000)
  }

  private func place(of role: String, _ step: String) -> CommandPlacement? {
    placements.isEmpty ? nil : placements["\(role) \(step)"]
  }

  /// Adds a command of which there is no end. Of a run that goes on, only what has ended is told.
  private func addUnended(
    _ operation: OperationID, _ role: CommandRole, from time: Nanoseconds
  ) {
    guard isDead else { return }
    append(.start, RunEvent(at: time, .started(operation, role)))
    running.append((operation, role, time))
  }

  /// Ends what had not ended when oprun died.
  func endUnended() {
    let end = (order.lazy.map(\.time).max() ?? 0) + 1000
    for (operation, role, start) in running {
      let lost = CommandEnd(.lost("oprun died"), duration: end - start)
      append(.end, RunEvent(at: end, .ended(operation, role, lost)))
    }
    for index in 0..<(plan.steps.count + made.count) {
      let operation = OperationID(index)
      if settled.contains(operation) || plan.standsForOthers(operation) { continue }
      settle(operation, .event(events.count), at: end)
      events.append(RunEvent(at: end, .settled(operation, Ending(.cancelled), .stopped(.died))))
    }
  }

  /// Adds the end of an operation. If several ended in the same turn of the run's loop, those on which others depend
  /// were first.
  private func settle(
    _ operation: OperationID, _ content: ReplayContent, at time: Nanoseconds
  ) {
    if isDead { settled.insert(operation) }
    append(.outcome, content, at: time, places[planned(operation).index])
  }

  private func add(
    _ command: RecordedCommand, of operation: OperationID, at place: CommandPlacement?
  ) {
    let (role, start) = (command.role, command.start)
    let time = start + max(Self.shortest, command.end.duration)
    commandEnds[operation] = max(commandEnds[operation] ?? 0, time)
    append(.start, RunEvent(at: start, .started(operation, role)))
    if let place { append(.start, RunEvent(at: start, .placed(operation, role, place))) }
    append(.end, RunEvent(at: time, .ended(operation, role, command.end)))
  }

  func result(_ trace: TraceContext) -> Replay {
    let beginning = RunBeginning(
      runID: run.name, clock: RunClock(wallTime: nanoseconds(run.started), monotonicTime: 0),
      host: RunHost(name: run.host, processorCount: 0), processID: Int32(clamping: run.process),
      trace: trace)
    let first = [RunEvent(at: 0, .began(beginning))] + appended
    let sorted = order.sorted()
    // It goes on.
    if run.exitStatus == nil, !isDead {
      return Replay(first, self, in: sorted, nil, missing: missing)
    }
    let end = RunEnd(
      exitStatus: Int32(clamping: run.exitStatus ?? 1),
      stopReason: isDead ? .died : run.stop.map(reason),
      hookFailed: hasFailedHook,
      passedOn: run.passedOn.flatMap { passedOn in
        operations[passedOn.step].map { PassedOnStatus(Int32(clamping: passedOn.status), of: $0) }
      })
    let time = run.duration.map(nanoseconds) ?? sorted.last?.time ?? 0
    return Replay(
      first, self, in: sorted, RunEvent(at: time, .finished(end)), missing: missing)
  }

  /// What happened at a place of the order. It is made from a record only now, because events take a lot of memory.
  func event(at position: ReplayOrder) -> RunEvent {
    switch contents[position.index] {
    case .event(let index): return events[index]
    case .start(let index):
      let role = CommandRole.attempt(steps[index].attempts ?? 1)
      return RunEvent(at: position.time, .started(operation(ofStep: index), role))
    case .end(let index):
      let operation = operation(ofStep: index)
      var last = steps[index].last
      last.duration = duration(ofOnlyAttemptOf: operation, span(of: steps[index]))
      let role = CommandRole.attempt(steps[index].attempts ?? 1)
      return RunEvent(at: position.time, .ended(operation, role, CommandEnd(last)))
    case .outcome(let index):
      let ending = steps[index].shownEnding ?? Ending(.cancelled)
      let cause = steps[index].cause.flatMap(cause) ?? .itself
      return RunEvent(at: position.time, .settled(operation(ofStep: index), ending, cause))
    }
  }

  /// The operation of a step that the plan has.
  private func operation(ofStep index: Int) -> OperationID { found[index] ?? .run }

  private func name(of operation: OperationID) -> String {
    let index = operation.index - plan.steps.count
    return index < 0 ? plan.steps[operation.index].id : InstanceName.withoutNumber(made[index].name)
  }

  private func cause(_ recorded: RecordedCause) -> Cause? {
    if let stop = recorded.stop { return .stopped(reason(stop)) }
    return Cause(recorded) { operations[$0] }
  }

  /// A name that contains a secret is recorded without it: then the reason is told as it is recorded.
  private func reason(_ stop: RecordedStop) -> StopReason {
    StopReason(stop) { step in operations[step].flatMap { name(of: $0) == step ? $0 : nil } }
  }
}

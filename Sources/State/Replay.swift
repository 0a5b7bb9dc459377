// The events of a recorded run, made from its records, for reports that are written afterwards.

package import Masking
package import Plans
import RunFiles
import Scheduling

/// What happened in a recorded run.
package struct Replay {
  private let beginning: [RunEvent]
  private let events: [RunEvent]
  private let order: [Order]
  private let end: RunEvent?
  /// Steps of the run that its pipeline does not have any more, and which are left out.
  package let missing: [String]

  /// `order` has the places of `events` in time.
  fileprivate init(
    _ beginning: [RunEvent], _ events: [RunEvent], in order: [Order], _ end: RunEvent?,
    missing: [String]
  ) {
    self.beginning = beginning
    self.events = events
    self.order = order
    self.end = end
    self.missing = missing
  }

  /// Passes on the events in order of time: those that say what was started, how it ended, and how each step came
  /// out.
  package func forEachEvent(_ body: (RunEvent) -> Void) {
    beginning.forEach(body)
    for position in order { body(events[position.index]) }
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
    var replaying = Replaying(plan, run, masker)
    replaying.isDead = run.exitStatus == nil && !isInUse(run.name)
    let steps = try steps(of: run)
    let commands = try allCommands(of: run)
    replaying.reserve(steps.count, commands.count)
    let found = steps.map { replaying.find($0.name) }
    let commanded = Set(commands.map(\.step))
    for step in steps where commanded.contains(step.name) {
      if let attempts = step.attempts { replaying.last[step.name] = (attempts, step) }
    }
    for placement in try placements(of: run) {
      replaying.placements["\(placement.role) \(placement.step)"] = placement.place
    }
    for command in commands where !Replaying.isOfRun(command) { replaying.add(command) }
    for change in try changes(of: run) { replaying.add(change) }
    for (step, operation) in zip(steps, found) {
      if let operation { replaying.add(step, operation) }
    }
    for command in commands where Replaying.isOfRun(command) {
      replaying.add(command)
      if command.end?.isSuccess == false { replaying.hasFailedHook = true }
    }
    if replaying.isDead { replaying.endUnended() }
    return replaying.result(trace)
  }
}

/// The run that is replayed, as far as its records were read.
private struct Replaying {
  private let plan: Plan
  private let run: RecordedRunSummary
  private let operations: RecordedNames
  /// What was made during the run, and from what.
  private var made: [(name: String, origin: OperationID)] = []
  private var events: [RunEvent] = []
  private var order: [Order] = []
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
  /// When the first hook of a step was started.
  private var hookStarts: [OperationID: Nanoseconds] = [:]

  init(_ plan: Plan, _ run: RecordedRunSummary, _ masker: Masker?) {
    self.plan = plan
    self.run = run
    operations = RecordedNames(plan, masker)
    var places = [Int](repeating: 0, count: plan.steps.count)
    for (place, index) in plan.graph.dependenciesFirst().enumerated() { places[Int(index)] = place }
    self.places = places
  }

  /// Makes room for what so many steps and commands become.
  mutating func reserve(_ stepCount: Int, _ commandCount: Int) {
    events.reserveCapacity(3 * stepCount + 2 * commandCount)
    order.reserveCapacity(3 * stepCount + 2 * commandCount)
  }

  private mutating func append(_ rank: Order.Rank, _ event: RunEvent, at place: Int = 0) {
    order.append(Order(event.time, rank, place, events.count))
    events.append(event)
  }

  static func isOfRun(_ command: RecordedStepCommand) -> Bool {
    command.step == RunDirectory.runHookName
  }

  /// Finds the operation of a step. What was made during the run is appended to what it was made
  /// from.
  mutating func find(_ name: String) -> OperationID? {
    if let operation = operations.next(named: name) { return operation }
    let origins = InstanceName(InstanceName.withoutNumber(name)).origins
    guard let origin = origins.first(where: { operations[$0] != nil }).flatMap({ operations[$0] })
    else {
      missing.append(name)
      return nil
    }
    let operation = OperationID(plan.steps.count + made.count)
    operations[name] = operation
    made.append((name, origin))
    return operation
  }

  /// The events that say what was made during the run.
  private var appended: [RunEvent] {
    let late = LateInstances(plan)
    return made.enumerated().map { index, instance in
      let after = late.dependencies(of: instance.name, instance.origin, plan).map { names in
        names.compactMap { operations[$0] }
      }
      return RunEvent(
        at: 0,
        .appended(
          OperationID(plan.steps.count + index), id: InstanceName.withoutNumber(instance.name),
          group: instance.origin, after: after ?? []))
    }
  }

  /// The operation of the plan that it was made from.
  private func planned(_ operation: OperationID) -> OperationID {
    var step = operation
    while step.index >= plan.steps.count { step = made[step.index - plan.steps.count].origin }
    return step
  }

  /// Adds a hook, or an attempt that another one followed.
  mutating func add(_ command: RecordedStepCommand) {
    let operation = Self.isOfRun(command) ? .run : operations[command.step]
    guard let operation, let role = CommandRole(named: command.role), let start = command.started
    else { return }
    let begin = nanoseconds(start)
    guard var end = command.end else { return addUnended(operation, role, from: begin) }
    if let last = last[command.step], role == .attempt(last.attempt) { end = last.step.end ?? end }
    add(operation, role, from: begin, end, at: place(of: command.role, command.step))
    switch role {
    case .attempt: retried.insert(operation)
    case .hook: hookStarts[operation] = min(hookStarts[operation] ?? .max, begin)
    case .probe: break
    }
  }

  /// Adds a change if somebody has asked for a step to run again. Of others no report says more than their words.
  mutating func add(_ change: RecordedChange) {
    guard change.action == "\(ControlAction.retry(.run).word)" else { return }
    for (name, operation) in operations.all {
      let note = ControlNote(.retry(operation), by: change.user)
      guard note.words(queue: { _ in "" }, step: { _ in name }) == change.words else { continue }
      return append(.outcome, RunEvent(at: nanoseconds(change.time), .controlled(note)))
    }
  }

  mutating func add(_ step: RecordedStep, _ operation: OperationID) {
    let isKept = step.origin != nil
    var end = isKept ? 0 : nanoseconds(step.ended ?? 0)
    if let start = step.started, step.duration != nil, !isKept {
      end = max(end, nanoseconds(start + 1))
      add(step, operation, from: nanoseconds(start), to: end)
    }
    guard let ending = step.ending else {
      // The start of a first attempt is that of its step.
      let isFirst = !retried.contains(operation) && !running.contains { $0.operation == operation }
      if isFirst, let start = step.started {
        addUnended(operation, .attempt(1), from: nanoseconds(start))
      }
      return
    }
    let shown = isKept && ending.outcome == .succeeded ? Ending(.cached) : ending
    settle(operation, shown, cause(step) ?? .itself, at: end)
  }

  private func place(of role: String, _ step: String) -> CommandPlacement? {
    placements.isEmpty ? nil : placements["\(role) \(step)"]
  }

  /// Adds a command of which there is no end. Of a run that goes on, only what has ended is told.
  private mutating func addUnended(
    _ operation: OperationID, _ role: CommandRole, from time: Nanoseconds
  ) {
    guard isDead else { return }
    append(.start, RunEvent(at: time, .started(operation, role)))
    running.append((operation, role, time))
  }

  /// Ends what had not ended when oprun died.
  mutating func endUnended() {
    let end = (order.lazy.map(\.time).max() ?? 0) + 1000
    for (operation, role, start) in running {
      let lost = CommandEnd(.lost("oprun died"), duration: end - start)
      append(.end, RunEvent(at: end, .ended(operation, role, lost)))
    }
    for index in 0..<(plan.steps.count + made.count) {
      let operation = OperationID(index)
      if settled.contains(operation) || plan.standsForOthers(operation) { continue }
      settle(operation, Ending(.cancelled), .stopped(.died), at: end)
    }
  }

  /// Adds the end of an operation. If several ended in the same turn of the run's loop, those on which others depend
  /// were first.
  private mutating func settle(
    _ operation: OperationID, _ ending: Ending, _ cause: Cause, at time: Nanoseconds
  ) {
    if isDead { settled.insert(operation) }
    let event = RunEvent(at: time, .settled(operation, ending, cause))
    append(.outcome, event, at: places[planned(operation).index])
  }

  /// Adds the only attempt of a step.
  private mutating func add(
    _ step: RecordedStep, _ operation: OperationID, from start: Nanoseconds, to end: Nanoseconds
  ) {
    guard let attempts = step.attempts, !retried.contains(operation) else { return }
    // Its hooks ran between its end and its outcome.
    let duration = max(0, (hookStarts[operation] ?? end) - start)
    let attempt = CommandEnd(
      status: step.status, detail: step.detail, duration: Int(duration / 1000),
      processor: step.processor, memory: step.memory, output: step.output)
    add(
      operation, .attempt(attempts), from: start, attempt, at: place(of: "\(attempts)", step.name))
  }

  private mutating func add(
    _ operation: OperationID, _ role: CommandRole, from start: Nanoseconds, _ end: CommandEnd,
    at place: CommandPlacement?
  ) {
    // Times are recorded in microseconds: whatever was started when this ended was started after it.
    let time = start + max(1000, end.duration)
    append(.start, RunEvent(at: start, .started(operation, role)))
    if let place { append(.start, RunEvent(at: start, .placed(operation, role, place))) }
    append(.end, RunEvent(at: time, .ended(operation, role, end)))
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
      return Replay(first, events, in: sorted, nil, missing: missing)
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
      first, events, in: sorted, RunEvent(at: time, .finished(end)), missing: missing)
  }

  private func nanoseconds(_ microseconds: Int) -> Nanoseconds {
    let (product, overflows) = Nanoseconds(microseconds).multipliedReportingOverflow(by: 1000)
    return overflows ? 0 : max(0, product)
  }

  private func name(of operation: OperationID) -> String {
    let index = operation.index - plan.steps.count
    return index < 0 ? plan.steps[operation.index].id : InstanceName.withoutNumber(made[index].name)
  }

  private func cause(_ step: RecordedStep) -> Cause? {
    guard let text = step.cause else { return nil }
    let word = text.prefix { $0 != " " }
    let rest = String(text.dropFirst(word.count + 1))
    return switch word {
    case "dependency": operations[rest].map { .dependency($0) }
    case "condition": .condition(rest)
    case "time_limit": .timeLimit(rest)
    case "wait": .wait(rest)
    case "service": .service(rest)
    case "not_ready": .notReady(rest)
    case "hook": HookKind(key: rest).map { .hook($0) }
    case "stopped": .stopped(reason(rest))
    default: nil
    }
  }

  /// The reason that reads like this; whatever else it says is what was wrong with the state.
  private func reason(_ words: String) -> StopReason {
    let names = words.split(separator: "'", omittingEmptySubsequences: false)
    var known: [StopReason] =
      [.runTimeout, .noWidth, .suspended, .left] + (1...64).map { .signal($0) }
    if names.count > 2,
      let operation = operations[names[1..<(names.count - 1)].joined(separator: "'")]
    {
      known += [.failure(operation), .groupTimeout(operation)]
    }
    return known.first { $0.words(name(of:)) == words } ?? StopReason(requestIn: words)
      ?? .stateFailure(words)
  }
}

/// Where an event belongs: at the same time those with a lower rank come first, then those with a lower place.
private struct Order: Comparable {
  enum Rank: UInt64 {
    case end, outcome, start
  }

  let time: Nanoseconds
  /// The rank, the place and the index, 31 bits each of the latter.
  private let rest: UInt64

  init(_ time: Nanoseconds, _ rank: Rank, _ place: Int, _ index: Int) {
    self.time = time
    rest = rank.rawValue << 62 | UInt64(place) << 31 | UInt64(index)
  }

  var index: Int { Int(rest & (1 << 31 - 1)) }

  static func < (one: Order, other: Order) -> Bool {
    one.time != other.time ? one.time < other.time : one.rest < other.rest
  }
}

// The run machine driven by random events: whatever happens in whatever order, each operation ends
// once, nothing starts that may not, and every run ends.

import Diagnostics
import Expressions
import Plans
import Scheduling
import TestSupport
import Testing

@testable import Running

@Suite struct `A run driven by random events` {
  @Test(arguments: 0..<8)
  func `keeps its promises and ends`(part: Int) {
    for seed in part * 500..<(part + 1) * 500 {
      var run = RandomRun(seed: UInt64(seed))
      #expect(run.play() == [], "seed \(seed)")
    }
  }

  @Test func `is really driven through gates, groups, retries, hooks and stops`() {
    var seen: Set<String> = []
    for seed in 0..<800 {
      var run = RandomRun(seed: UInt64(seed))
      _ = run.play()
      seen.formUnion(run.seen)
    }
    let wanted: Set = [
      "attempt", "hook", "probe", "late answer", "void answer", "expanded", "retry", "time limit",
      "expired wait", "cancelled", "blocked", "overtaken", "skipped", "failed", "timedOut",
      "succeeded",
      "signal 1", "signal 2", "signal 3", "abandoned probe", "fail fast", "observer failed",
      "another observer failed", "unwanted attempt", "unwanted probe", "wait for a change",
      "ready", "service stopped", "service fell", "nothing needs it", "group in the background",
      "use of a group", "offer", "refused offer", "copies", "copied service",
      "pause", "continue", "cancel", "cancel run", "retry", "retry again", "retry with blocked",
      "set", "unchanged", "refused",
    ]
    #expect(wanted.subtracting(seen) == [])
  }
}

/// One random plan and one random course of its run.
private struct RandomRun {
  private var random: SeededGenerator
  private var machine: RunMachine
  /// As it was set last.
  private var width: Int
  private let plannedWidth: Int
  private var running: [CommandKey] = []
  private var questions: [(operation: OperationID, question: Question, turn: Int)] = []
  private var waited: Set<OperationID> = []
  private var killed: Set<CommandKey> = []
  private var settled: [OperationID: Ending] = [:]
  /// The endings that were taken back.
  private var earlier: [OperationID: [Ending]] = [:]
  private var ready: Set<OperationID> = []
  private var now: Nanoseconds = 0
  private var turn = 0
  /// What was asked for from outside, for complaints.
  private var asked: [String] = []
  private var signalCount = 0
  private var failedObserverCount = 0
  private var isStopping = false
  private var isOvertaken = false
  private var hasFinished = false
  private var complaints: [String] = []
  private(set) var seen: Set<String> = []

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed &* 0x9E37_79B9_7F4A_7C15 &+ 1)
    plannedWidth = random.below(4)
    width = plannedWidth
    machine = RunMachine(plan: RandomRun.plan(&random, width: width), seed: seed)
    machine.canBeChangedFromOutside = random.below(2) == 0
  }

  /// What was wrong; empty for a correct run.
  mutating func play() -> [String] {
    machine.begin(at: 0)
    perform()
    while machine.end == nil, turn < 5000, complaints.isEmpty {
      turn += 1
      step()
      perform()
    }
    if machine.end == nil { complaints.append("no end after \(turn) turns") }
    if signalCount < 3 {
      for index in 0..<machine.steps.count where settled[OperationID(index)] == nil {
        let operation = OperationID(index)
        let active = machine.active[operation].map { "\(String(describing: $0.role)) \($0.stop)" }
        complaints.append(
          "operation \(index) has no outcome: \(machine.scheduler.state(of: operation)), \(active ?? "not active"), "
            + "gate \(machine.gate(of: operation).map { "\($0)" } ?? "none")")
      }
      for key in running where !killed.contains(key) { complaints.append("\(key) still runs") }
    }
    return complaints.isEmpty ? [] : complaints + asked
  }

  private mutating func step() {
    now += Nanoseconds(random.below(3)) * 250_000_000
    switch random.below(12) {
    case 0 where signalCount > 0 || random.below(8) == 0: signal()
    case 1 where machine.canBeChangedFromOutside, 9 where machine.canBeChangedFromOutside:
      change()
    case 2 where random.below(failedObserverCount > 0 ? 1 : 6) == 0: failObserver()
    case 2 where random.below(6) == 0: beOvertaken()
    case 0...4 where !running.isEmpty: endCommand(at: random.below(running.count))
    case 0...8 where !questions.isEmpty: answer(questions.remove(at: random.below(questions.count)))
    default:
      if let deadline = machine.deadline {
        now = max(now, deadline)
      } else if running.isEmpty, questions.isEmpty, machine.canBeChangedFromOutside {
        seen.insert("wait for a change")
        letGoOn()
      } else if running.isEmpty, questions.isEmpty {
        return complaints.append("nothing can happen any more")
      }
      machine.advance(to: now)
    }
  }

  private mutating func signal() {
    signalCount += 1
    isStopping = true
    seen.insert("signal \(signalCount)")
    machine.signalled(15, at: now)
  }

  private mutating func change() {
    let all = (0..<machine.steps.count).map { OperationID($0) }
    let failed = all.filter { settled[$0]?.outcome.isFailure == true }
    let any = all[random.below(all.count)]
    let action: ControlAction =
      switch random.below(12) {
      case 0, 1: .pause(random.below(2) == 0 ? nil : .default)
      case 2, 3: .proceed(nil)
      case 4: .cancel(any)
      case 5: random.below(3) == 0 ? .cancelRun : .cancelQueue(.default)
      case 6: .setWidth(.default, random.below(4))
      case 7: .setPriority(any, Int16(random.below(2001) - 1000))
      case 8: .retry(any)
      default: .retry(failed.isEmpty ? any : failed[random.below(failed.count)])
      }
    control(action)
  }

  private mutating func letGoOn() {
    control(.proceed(nil))
    if width == 0 { control(.setWidth(.default, max(1, plannedWidth))) }
    machine.advance(to: now)
  }

  private mutating func control(_ action: ControlAction) {
    if case .cancelQueue = action, random.below(4) > 0 { return }
    asked.append("\(turn): \(action)")
    switch machine.control(ControlNote(action, by: "anna"), at: now) {
    case .unchanged: seen.insert("unchanged")
    case .refused: seen.insert("refused")
    case .done:
      seen.insert("\(action.word)")
      if case .cancelRun = action {
        seen.insert("cancel run")
        signalCount = machine.signalCount
      }
      if case .setWidth(_, let new) = action { width = new }
    }
  }

  private mutating func failObserver() {
    seen.insert(failedObserverCount == 0 ? "observer failed" : "another observer failed")
    failedObserverCount += 1
    isStopping = true
    machine.stateFailed("lost", at: now)
  }

  /// Another run has some of the commands.
  private mutating func beOvertaken() {
    seen.insert("overtaken")
    isStopping = true
    isOvertaken = true
    let left = running.filter {
      machine.active[$0.operation]?.role == $0.role && random.below(2) == 0
    }
    running.removeAll { left.contains($0) }
    machine.overtaken("lost", leaving: Set(left), at: now)
  }

  private mutating func endCommand(at index: Int) {
    let key = running.remove(at: index)
    if case .probe = key.role, killed.contains(key) { seen.insert("abandoned probe") }
    let status: CommandEnd.Status =
      switch killed.remove(key) != nil ? 3 : random.below(6) {
      case 0: .exited(1)
      case 1: .notStarted("no such program", exitCode: 127)
      case 3: .signalled(9)
      default: .exited(0)
      }
    let end = CommandEnd(status, duration: 1)
    if case .probe = key.role {
      machine.ended(probe: key, end, lastWords: "not yet", at: now)
    } else {
      machine.ended(key, end, at: now)
    }
  }

  private mutating func answer(_ asked: (operation: OperationID, question: Question, turn: Int)) {
    if asked.turn < turn { seen.insert("late answer") }
    if machine.scheduler.state(of: asked.operation).hasEnded {
      seen.insert("void answer")
    } else if machine.question(about: asked.operation) != asked.question {
      // Another answer has settled or changed it. The loop does not give this one either.
      return
    }
    let step = machine.steps[asked.operation]
    machine.decided(asked.operation, decision(asked.operation, asked.question, step), at: now)
  }

  private mutating func decision(
    _ operation: OperationID, _ question: Question, _ step: PlannedStep
  ) -> Decision {
    if question == .join { return .join }
    if question == .ready {
      let isRefused = random.below(2) == 0
      seen.insert(isRefused ? "refused offer" : "offer")
      return isRefused ? .fail("no") : .join
    }
    if question == .conditionsHold { return .run(ReadyStep(step)) }
    if let group = machine.groupPlan(operation) {
      if random.below(5) == 0 { return .fail("no") }
      if group.pattern != nil { seen.insert("copies") }
      seen.insert("expanded")
      let count = random.below(3)
      var spec = OperationSpec()
      spec.takesSlot = machine.scheduler.graph.takesSlot(operation)
      spec.isGated = group.pattern != nil
      return .expand(
        (0..<count).map { _ in
          NewOperation(step: RandomRun.step(&random, "new"), spec: spec)
        })
    }
    if !machine.scheduler.graph.takesSlot(operation), random.below(2) == 0 {
      let probe = Probe(
        action: .arguments(["probe"]), every: RandomRun.time(500_000_000, &random),
        timeout: random.below(2) == 0 ? nil : RandomRun.time(1_000_000_000, &random), words: "it")
      return .run(ReadyStep(.script("serve"), step.settings, readiness: [probe]))
    }
    switch random.below(6) {
    case 0: return .skip("no")
    case 1: return .fail("no")
    case 2, 3:
      let probe = Probe(
        action: .arguments(["probe"]), every: RandomRun.time(500_000_000, &random),
        timeout: random.below(2) == 0 ? nil : RandomRun.time(1_000_000_000, &random), words: "it")
      waited.insert(operation)
      return .wait([probe, probe], ReadyStep(step))
    default: return .run(ReadyStep(step))
    }
  }

  // MARK: What the machine does

  private mutating func perform() {
    while true {
      let actions = machine.takeActions()
      if actions.isEmpty { return }
      machine.holdStarts()
      for action in actions {
        if hasFinished, case .tell(.finished) = action { complaints.append("finished twice") }
        switch action {
        case .start: break
        case .stop(let key, _), .kill(let key):
          if running.contains(key) { killed.insert(key) }
          if machine.active[key.operation]?.stopCause == .unneeded { checkUsers(of: key.operation) }
        case .decide(let operation, let question):
          let asked = (operation: operation, question: question, turn: turn)
          questions.removeAll { $0.operation == operation }
          if random.below(2) == 0 { questions.append(asked) } else { answer(asked) }
        case .publish(let key):
          machine.published(key, refusal: random.below(8) == 0 ? "no" : nil, at: now)
        case .tell(let event):
          hear(event)
        }
      }
      machine.startHeld(at: now)
      if hasFinished { return }
      startAll(of: actions)
    }
  }

  /// Starts commands. What was reported must be kept first, which may fail.
  private mutating func startAll(of actions: [RunMachine.Action]) {
    if actions.contains(where: \.isStart), random.below(60) == 0 { failObserver() }
    for case .start(let key) in actions {
      if machine.mayStart(key, at: now) {
        start(key)
      } else {
        if case .probe = key.role { seen.insert("unwanted probe") }
        if case .attempt = key.role { seen.insert("unwanted attempt") }
      }
    }
  }

  private mutating func start(_ key: CommandKey) {
    let isService =
      key.operation.rawValue >= 0 && !machine.scheduler.graph.takesSlot(key.operation)
    if running.contains(where: {
      $0.operation == key.operation && !isAbandoned($0) && !(isService && $0.role != key.role)
    }) {
      complaints.append("two commands of \(key.operation) run at once")
    }
    if settled[key.operation] != nil { complaints.append("\(key) starts after its outcome") }
    running.append(key)
    switch key.role {
    case .attempt:
      seen.insert("attempt")
      if isStopping { complaints.append("\(key) starts after a stop") }
      checkEdges(of: key.operation)
    case .hook:
      seen.insert("hook")
      if isOvertaken { complaints.append("\(key) starts although another run goes on") }
    case .probe: seen.insert("probe")
    }
    let slotCount = machine.scheduler.counts(of: .default).running
    if case .attempt = key.role, !isService, slotCount > width {
      complaints.append("\(slotCount) run where \(width) may")
    }
  }

  /// Whether it is a probe that nothing waits for any more: it was killed, and its end is still to
  /// come.
  private func isAbandoned(_ key: CommandKey) -> Bool {
    if case .probe = key.role { killed.contains(key) } else { false }
  }

  private mutating func checkEdges(of operation: OperationID) {
    machine.scheduler.graph.forEachDependency(of: operation) { edge in
      if edge.condition.waitsForReadiness, isReady(edge.from) {
        if !machine.groups.members(of: edge.from).isEmpty { seen.insert("use of a group") }
        return
      }
      if edge.condition == .readyOrDone, mayHaveFailed(edge.from) { return }
      let endings = (settled[edge.from].map { [$0] } ?? []) + (earlier[edge.from] ?? [])
      guard endings.contains(where: { edge.condition.isSatisfied(by: $0) }) else {
        return complaints.append("\(operation) starts before \(edge.from): \(edge.condition)")
      }
    }
  }

  /// Of a group, all that were not skipped, and have not failed where that is allowed.
  private func isReady(_ service: OperationID) -> Bool {
    let members = machine.groups.members(of: service)
    return members.isEmpty
      ? ready.contains(service)
      : members.allSatisfy { isReady($0) || settled[$0] != nil || mayHaveFailed($0) }
  }

  /// A group that has not ended may have failed already.
  private func mayHaveFailed(_ service: OperationID) -> Bool {
    if case .refused = machine.groupStates[service].offer { return true }
    if ready.contains(service), case .hook = machine.active[service]?.role { return true }
    return machine.groups.members(of: service).contains {
      settled[$0] != nil || mayHaveFailed($0)
    }
  }

  /// A service is stopped that nothing needs any more.
  private mutating func checkUsers(of service: OperationID) {
    let patterns = machine.patterns.groups
    if machine.patterns.originals[service] != nil { seen.insert("copied service") }
    var open = [service]
    while let next = open.popLast() {
      machine.scheduler.graph.forEachDependent(of: next) { edge in
        let isInside = patterns[next] != nil && patterns[next] == patterns[edge.to]
        guard edge.condition.waitsForReadiness, !isInside, settled[edge.to] == nil else { return }
        complaints.append("\(service) is stopped, and \(edge.to) needs \(next)")
      }
      if let original = machine.patterns.originals[next] { open.append(original) }
      guard let group = machine.groups.group(of: next), !machine.scheduler.graph.takesSlot(group)
      else { continue }
      open.append(group)
      seen.insert("group in the background")
    }
  }

  private mutating func hear(_ event: RunEvent.Kind) {
    switch event {
    case .settled(let operation, let ending, let cause):
      if settled.updateValue(ending, forKey: operation) != nil {
        complaints.append("\(operation) ends twice")
      }
      // After the third signal nothing waits for the killed commands.
      let isAwaited = running.contains { $0.operation == operation && !isAbandoned($0) }
      if isAwaited, signalCount < 3 {
        complaints.append("\(operation) ends while its command runs")
      }
      seen.insert("\(ending.outcome)")
      if case .service = cause, ready.contains(operation) { seen.insert("service fell") }
      if cause == .condition("no step needs it") { seen.insert("nothing needs it") }
      if ready.contains(operation), ending.outcome == .succeeded { seen.insert("service stopped") }
      if case .wait = cause { seen.insert("expired wait") }
      if case .stopped(.failure) = cause, !isStopping { seen.insert("fail fast") }
    case .restored(let operation): complaints.append("the cache put \(operation) back")
    case .retrying: seen.insert("retry")
    case .ready(let service):
      seen.insert("ready")
      if !ready.insert(service).inserted { complaints.append("\(service) is ready twice") }
    case .ended(_, _, let end): if end.timedOut { seen.insert("time limit") }
    case .stopping: isStopping = true
    case .reopened(let operation, let ending):
      let before = settled.removeValue(forKey: operation)
      if before != ending {
        complaints.append(
          "\(operation) is reopened after \(ending), and had ended as \(before.map { "\($0)" } ?? "nothing")"
        )
      }
      earlier[operation, default: []].append(ending)
      seen.insert(ending.outcome == .blocked ? "retry with blocked" : "retry again")
    case .controlled: break
    case .finished: hasFinished = true
    case .began, .started, .outputGrew, .appended, .resolved, .waiting, .published, .orphansFound,
      .outOfReach, .notice, .heldUp, .terminalTaken, .terminalReturned, .placed:
      break
    }
  }

  // MARK: Plans

  private static func plan(_ random: inout SeededGenerator, width: Int) -> Plan {
    var graph = Graph()
    var steps: [PlannedStep] = []
    var groups: [OperationID: GroupPlan] = [:]
    var ungrouped: [OperationID] = []
    let hasServices = random.below(2) == 0
    for number in 0..<(1 + random.below(12)) {
      var spec = OperationSpec()
      let kind = random.below(6)
      spec.isGated = kind < 3
      let isService = hasServices && random.below(3) == 0
      let members = kind == 1 ? ungrouped.filter { _ in random.below(2) == 0 } : []
      let services = members.filter { !graph.takesSlot($0) }
      let isInBackground =
        !members.isEmpty && services.count == members.count
        || !services.isEmpty && random.below(2) == 0
      spec.takesSlot = kind == 1 ? !isInBackground : !isService
      let operation = graph.append(spec)
      steps.append(
        step(
          &random, "s\(number)", givesOutputs: isInBackground && random.below(2) == 0))
      if kind == 0 {
        groups[operation] = GroupPlan(
          kind: .expanding("x"), members: [], isFailFast: random.below(2) == 0)
      } else if kind == 1 {
        ungrouped.removeAll { members.contains($0) }
        for member in members { graph.addEdge(from: member, to: operation, when: .done) }
        groups[operation] = group(of: members, groups, &graph, &random)
      } else {
        for earlier in ungrouped where random.below(4) == 0 {
          let conditions: [EdgeCondition] =
            graph.takesSlot(earlier)
            ? [.ok, .ok, .succeeded, .failed, .done]
            : [.ready, .ready, .ready, .readyOrDone, .done]
          graph.addEdge(
            from: earlier, to: operation, when: conditions[random.below(conditions.count)])
        }
      }
      ungrouped.append(operation)
    }
    let policies: [FailurePolicy] = [.continue, .continue, .stop, .cancel]
    return Plan(
      name: "random", sources: SourceMap(), steps: steps, graph: graph,
      queues: [QueueSpec(name: "default", width: width)], pools: [],
      failurePolicy: policies[random.below(policies.count)],
      timeout: random.below(8) == 0 ? time(5_000_000_000, &random) : nil,
      settings: settings(&random), groups: groups)
  }

  /// Instances, the steps of a pipeline, or steps of which each instance gets copies.
  private static func group(
    of members: [OperationID], _ groups: [OperationID: GroupPlan], _ graph: inout Graph,
    _ random: inout SeededGenerator
  ) -> GroupPlan {
    let isFailFast = random.below(2) == 0
    let nested = GroupPlan(
      kind: .nested(path: nil), members: members, allowsFailure: random.below(3) == 0)
    if members.isEmpty || random.below(2) == 0 {
      return random.below(2) == 0
        ? nested : GroupPlan(kind: .matrix, members: members, isFailFast: isFailFast)
    }
    var operations: [OperationID] = []
    var open = members
    while let operation = open.popLast() {
      operations.append(operation)
      open += groups[operation]?.members ?? []
    }
    for operation in operations { graph.setGated(operation) }
    return GroupPlan(
      kind: .expanding("x"), members: members, isFailFast: isFailFast,
      pattern: GroupPattern(operations: operations.sorted(), pools: [], group: nested))
  }

  static func step(
    _ random: inout SeededGenerator, _ id: String, givesOutputs: Bool = false
  ) -> PlannedStep {
    var parts = LateParts()
    let place = Span(start: 0, end: 0)
    parts.rare.outputs = [MemberModel(name: "x", span: place, value: .constant(.null))]
    return PlannedStep(
      id: id, span: place, work: .known(.script(ScriptText(id))), settings: settings(&random),
      late: givesOutputs ? LateStep(parts, in: LateScope()) : nil)
  }

  /// The time, or the longest that can be written. It takes no number of the course of the run, which is
  /// the same with other times.
  private static func time(_ usual: Nanoseconds, _ random: inout SeededGenerator) -> Nanoseconds {
    isRare(random) ? RetryPolicy().maxDelay : usual
  }

  private static func isRare(_ random: SeededGenerator) -> Bool {
    var copy = random
    var others = SeededGenerator(seed: ~copy.next())
    return others.below(16) == 0
  }

  private static func settings(_ random: inout SeededGenerator) -> StepSettings {
    var retry = RetryPolicy()
    retry.limit = random.below(3)
    retry.delay = time(Nanoseconds(random.below(3)) * 500_000_000, &random)
    retry.backoff = isRare(random) ? 1_000_000 : 1000
    var hooks = Hooks()
    for kind in HookKind.allCases where random.below(4) == 0 {
      hooks[kind] = [.known(.script("hook"))]
    }
    var stop = StopSequence()
    stop.grace = time(stop.grace, &random)
    return StepSettings(
      timeout: random.below(4) == 0 ? time(1_000_000_000, &random) : nil, retry: retry,
      allowFailure: random.below(4) == 0 ? .always : .never, stop: stop, hooks: hooks)
  }
}

extension RunMachine.Action {
  fileprivate var isStart: Bool { if case .start = self { true } else { false } }
}

extension SeededGenerator {
  fileprivate mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }
}

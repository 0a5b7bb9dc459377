// A run in virtual time: scripted commands instead of processes, and the whole run as one string.

import Diagnostics
import Expressions
import Plans
import Scheduling

@testable import Running

/// Runs a `RunMachine` against commands that do what a script says.
///
/// The graph is written `"a; b: a; c: a?failed"`; `a!9` has the priority 9. A command's script lists what its attempts do:
/// `ok@2` ends well after 2 s, `7@1` exits with 7 after 1 s, `sig9@1` dies by signal 9, `missing`
/// cannot be started, `hang` goes on until it is asked to end, `stubborn` until it is killed; `immortal` ends 5 s after
/// that. `ok@2~5` ends well after 2 s, which is reported after 5 s.
/// Hooks are scripted under `a.on_success.1`. What has no script is `ok@1`. The end of a command that timed
/// out has a `!`, that of a hook that was stopped a `~`.
///
/// What `decisions` names is gated: `run`, `skip`, `keep`, `join`, or `expand x y` and `join` after that; `later` is no answer.
/// A service is written `&a`, and what depends on it `b: a?ready`; `serve 2 5` runs one that is asked every
/// 2 s for 5 s at most whether it is ready.
///
/// `wait 2 5` looks every 2 s for 5 s at most, and runs then; `wait 2` waits for ever. What its looks
/// find is scripted under `a.wait.1`, as attempts are; the last word counts for all further ones.
struct Simulation {
  var graph: String
  var scripts: [String: String] = [:]
  var settings: [String: StepSettings] = [:]
  var run = StepSettings()
  var decisions: [String: String] = [:]
  /// The members by the id of their group; `!` after it means `fail_fast`, `~` that they are made
  /// during the run, `*` that each instance of the group gets copies of them, `^` that it is the use
  /// of a pipeline.
  var groups: [String: [String]] = [:]
  /// The failure policies and widths of groups.
  var policies: [String: FailurePolicy] = [:]
  var widths: [String: Int] = [:]
  /// The steps that are expected to be kept.
  var idleSteps: Set<String> = []
  /// Groups that give outputs.
  var givesOutputs: Set<String> = []
  /// Services that the run was asked for by name.
  var named: [String] = []
  /// Claimed by `%name` behind an id.
  var pools: [PoolSpec] = []
  /// When another run has the mutexes that runs share, from one second to another; they are tried again each second.
  var others: [Range<Nanoseconds>] = []
  var width = 8
  var commandLimit = Int.max
  var failurePolicy = FailurePolicy.continue
  var timeout: Nanoseconds?
  var isStrict = false
  /// Signals by the second in which they arrive.
  var signals: [(second: Nanoseconds, signal: Int32)] = []
  /// Steps whose commands go on elsewhere after a signal 1, or when another run goes on with this one.
  var elsewhere: Set<String> = []
  /// The second in which it is found that another run goes on with this one.
  var overtaken: Nanoseconds?
  /// From one second to another, oprun is stopped by a signal.
  var stopped: Range<Nanoseconds>?
  var canBeChangedFromOutside = false
  /// Questions about what an end has led to are answered after the timers that are due in the same turn.
  var answersAfterTimers = false
  /// Changes to the queue by the second.
  var changes: [(second: Nanoseconds, change: QueueChange)] = []

  /// What somebody asks for by the second: `retry a`, `cancel a`, `cancel`, `cancel-queue`, `pause`, `continue`,
  /// `width 2`, `priority 9 a`. A refusal is in the timeline, in brackets.
  var requests: [(second: Nanoseconds, request: String)] = []

  enum QueueChange {
    case suspend, resume
    case width(Int)
  }

  /// Every event as `second:what`, separated by blanks. `STUCK` at its end: nothing that was written
  /// here can make it go on.
  func timeline() -> String {
    var playback = Playback(self)
    return playback.play()
  }

  /// The steps in the order of their starts.
  var starts: [String] {
    timeline().split(separator: " ").compactMap { word in
      word.firstIndex(of: "+").map { String(word[word.index(after: $0)...]) }
    }
  }

  func plan() -> Plan {
    var graph = Graph()
    var steps: [PlannedStep] = []
    var edges: [(String, Int)] = []
    for part in self.graph.split(separator: ";") {
      let sides = part.split(separator: ":")
      let name = sides[0].filter { $0 != " " }
      let id = String(name.drop { $0 == "&" }.prefix { $0 != "%" && $0 != "!" })
      var spec = OperationSpec()
      spec.priority =
        name.split(separator: "!").dropFirst().first.flatMap { Int16($0) } ?? 0
      spec.takesSlot = name.first != "&"
      spec.claims = name.split(separator: "%").dropFirst().compactMap { claim in
        pools.firstIndex { $0.name == claim }.map { Claim(PoolID($0), amount: 1_000_000) }
      }
      spec.isGated = decisions[id] != nil || patternMembers(self.groups).contains(id)
      let operation = graph.append(spec)
      steps.append(
        PlannedStep(
          id: id, span: Span(start: 0, end: 0), work: .known(.script(ScriptText(id))),
          settings: settings[id] ?? StepSettings(),
          late: givesOutputs.contains(id) ? lateOutputs : nil))
      for dependency in sides.dropFirst().joined().split(separator: " ") {
        edges.append((String(dependency), operation.index))
      }
    }
    for (dependency, dependent) in edges {
      let parts = dependency.split(separator: "?")
      let condition: EdgeCondition =
        switch parts.last {
        case "failed" where parts.count == 2: .failed
        case "done" where parts.count == 2: .done
        case "succeeded" where parts.count == 2: .succeeded
        case "ready" where parts.count == 2: .ready
        case "readyOrDone" where parts.count == 2: .readyOrDone
        default: .ok
        }
      guard let from = steps.firstIndex(where: { $0.id == parts[0] }) else { continue }
      graph.addEdge(from: OperationID(from), to: OperationID(dependent), when: condition)
    }
    func operation(_ id: String) -> OperationID {
      OperationID(steps.firstIndex { $0.id == id } ?? -1)
    }
    var groups: [OperationID: GroupPlan] = [:]
    for (name, members) in self.groups {
      let id = name.filter { !"!~*^".contains($0) }
      let ids = members.map { operation($0) }
      let pattern = patternMembers([name: members].merging(self.groups) { $1 }, of: name)
      groups[operation(id)] = GroupPlan(
        kind: name.contains("^")
          ? .nested(path: nil) : name.contains { "~*".contains($0) } ? .expanding("x") : .matrix,
        members: ids, isFailFast: name.contains("!"),
        timeout: name.contains("*") ? nil : settings[id]?.timeout,
        allowsFailure: settings[id]?.allowFailure == .always,
        failurePolicy: policies[id] ?? .continue, width: widths[id],
        pattern: pattern.isEmpty
          ? nil
          : GroupPattern(
            operations: pattern.map { operation($0) }.sorted(), pools: [],
            group: GroupPlan(
              kind: .nested(path: nil), members: ids, timeout: settings[id]?.timeout,
              allowsFailure: settings[id]?.allowFailure == .always)))
    }
    return Plan(
      name: "test", sources: SourceMap(), steps: steps, graph: graph,
      queues: [QueueSpec(name: "default", width: width)], pools: pools,
      failurePolicy: failurePolicy,
      timeout: timeout, settings: run, groups: groups,
      named: Set(named.map { operation($0) }))
  }
}

private let lateOutputs: LateStep = {
  var parts = LateParts()
  parts.rare.outputs = [
    MemberModel(name: "x", span: Span(start: 0, end: 0), value: .constant(.null))
  ]
  return LateStep(parts, in: LateScope())
}()

/// What is copied for the instances of a group, or of any, which stands among `groups`.
private func patternMembers(_ groups: [String: [String]], of group: String? = nil) -> Set<String> {
  var found: Set<String> = []
  var open = groups.filter { $0.key.contains("*") && (group == nil || $0.key == group) }
    .flatMap(\.value)
  while let id = open.popLast() {
    found.insert(id)
    open += groups.first { $0.key.filter { !"!~*^".contains($0) } == id }?.value ?? []
  }
  return found
}

extension Plan {
  fileprivate func operation(_ id: String) -> OperationID {
    OperationID(steps.firstIndex { $0.id == id } ?? -1)
  }
}

private struct Playback {
  private struct Command {
    let key: CommandKey
    let startedAt: Nanoseconds
    var endsAt: Nanoseconds?
    var status: CommandEnd.Status
    /// When it is over by itself, though its end may be reported later.
    var overAt: Nanoseconds?
    let lastsAfterKill: Nanoseconds
    let isStubborn: Bool
  }

  private let simulation: Simulation
  private var plan: Plan { machine.plan }
  private var decisions: [String: String]
  private var machine: RunMachine
  private var commands: [Command] = []
  private var now: Nanoseconds = 0
  private var retryAt: Nanoseconds?
  private var words: [String] = []
  private var probeCounts: [String: Int] = [:]

  init(_ simulation: Simulation) {
    self.simulation = simulation
    decisions = simulation.decisions
    var rules = RunRules()
    rules.isStrict = simulation.isStrict
    rules.commandLimit = simulation.commandLimit
    rules.sharesHostMutexes = true
    let plan = simulation.plan()
    rules.idleSteps.planned = Set(simulation.idleSteps.map(plan.operation))
    machine = RunMachine(plan: plan, rules: rules)
    machine.canBeChangedFromOutside = simulation.canBeChangedFromOutside
  }

  mutating func play() -> String {
    var signals = simulation.signals.map { ($0.second * second, $0.signal) }[...]
    var changes = simulation.changes.map { ($0.second * second, $0.change) }[...]
    var requests = simulation.requests.map { ($0.second * second, $0.request) }[...]
    var overtaken = simulation.overtaken.map { $0 * second }
    machine.begin(at: 0)
    perform()
    while machine.end == nil {
      let times =
        commands.compactMap(\.endsAt)
        + [
          machine.deadline, signals.first?.0, changes.first?.0, requests.first?.0, retryAt,
          overtaken,
        ]
        .compactMap { $0 }
      guard let next = times.min() else { return words.joined(separator: " ") + " STUCK" }
      now = max(now, next)
      if let stopped = simulation.stopped, stopped.contains(now / second) {
        now = stopped.upperBound * second
      }
      if let signal = signals.first, signal.0 <= now {
        signals.removeFirst()
        words.append("\(now / second):signal\(signal.1)")
        let left = signal.1 == 1 ? takeElsewhere() : []
        if left.isEmpty {
          machine.signalled(signal.1, at: now)
        } else {
          machine.leave(left, because: signal.1, at: now)
        }
      }
      if let time = overtaken, time <= now {
        overtaken = nil
        machine.overtaken("r2 goes on", leaving: takeElsewhere(), at: now)
        perform()
      }
      if let change = changes.first, change.0 <= now {
        changes.removeFirst()
        apply(change.1)
      }
      if let request = requests.first, request.0 <= now {
        requests.removeFirst()
        ask(request.1)
        perform()
      }
      for command in commands where (command.endsAt ?? .max) <= now {
        commands.removeAll { $0.key == command.key }
        guard machine.awaitsEnd(of: command.key) else { continue }
        machine.ended(
          command.key,
          CommandEnd(
            command.status, endedByItself: command.overAt.map { $0 < now } ?? false,
            duration: now - command.startedAt), at: now)
        if !simulation.answersAfterTimers { perform() }
      }
      machine.advance(to: now)
      perform()
    }
    return words.joined(separator: " ")
  }

  /// The commands that go on elsewhere, of which nothing more is heard.
  private mutating func takeElsewhere() -> Set<CommandKey> {
    let left = commands.map(\.key).filter { simulation.elsewhere.contains(id($0.operation)) }
    commands.removeAll { left.contains($0.key) }
    return Set(left)
  }

  private mutating func apply(_ change: Simulation.QueueChange) {
    switch change {
    case .suspend: machine.scheduler.suspend(.default)
    case .resume: machine.scheduler.resume(.default)
    case .width(let width): machine.scheduler.setWidth(width, of: .default)
    }
    words.append("\(now / second):\(change)")
  }

  private mutating func ask(_ request: String) {
    let parts = request.split(separator: " ").map(String.init)
    let last = machine.steps.count > 0 ? operation(parts[parts.count - 1]) : nil
    let action: ControlAction? =
      switch parts[0] {
      case "pause": .pause(nil)
      case "continue": .proceed(nil)
      case "cancel": parts.count == 1 ? .cancelRun : last.map { .cancel($0) }
      case "cancel-queue": .cancelQueue(.default)
      case "retry": last.map { .retry($0) }
      case "width": Int(parts[1]).map { .setWidth(.default, $0) }
      case "priority":
        last.flatMap { step in Int16(parts[1]).map { .setPriority(step, $0) } }
      default: nil
      }
    guard let action else { return words.append("[what is '\(request)'?]") }
    switch machine.control(ControlNote(action, by: "anna"), at: now) {
    case .done: break
    case .unchanged(let text), .refused(let text, _): words.append("\(now / second):[\(text)]")
    }
  }

  private func operation(_ id: String) -> OperationID? {
    (0..<machine.steps.count).map { OperationID($0) }.first { machine.steps[$0].id == id }
  }

  /// Exchanges mutexes with other runs; false if nothing has changed.
  private mutating func share() -> Bool {
    retryAt = nil
    for pool in machine.hostMutexes where !machine.holds(pool) { machine.close(pool) }
    for pool in machine.hostMutexes where machine.lacks(pool) {
      guard !simulation.others.contains(where: { $0.contains(now / second) }) else {
        retryAt = now + second
        continue
      }
      machine.open(pool, at: now)
      return true
    }
    return false
  }

  private mutating func perform() {
    while true {
      let actions = machine.takeActions()
      if actions.isEmpty, !share() { return }
      machine.holdStarts()
      for action in actions {
        switch action {
        case .start: break
        case .stop(let key, let signal): end(key, by: signal)
        case .kill(let key): end(key, by: 9)
        case .decide(let operation, let question): decide(operation, question)
        case .publish(let key): machine.published(key, at: now)
        case .tell(let event): say(event)
        }
      }
      machine.startHeld(at: now)
      for case .start(let key) in actions where machine.mayStart(key, at: now) { start(key) }
    }
  }

  private mutating func decide(_ operation: OperationID, _ question: Question) {
    let usual = machine.groupPlan(operation) == nil ? "run" : "join"
    let isPattern = machine.groupPlan(operation)?.pattern != nil
    let isJoin = question == .join && (isPattern || machine.standsForCopies(operation))
    let words = (isJoin ? "join" : decisions[id(operation)] ?? usual).split(separator: " ").map(
      String.init)
    if words[0] == "later" { return }
    let decision: Decision =
      switch words[0] {
      case "skip": .skip("no")
      case "skipGroup": .skipGroup(plan.operation(words[1]), "no")
      case "join": .join
      case "expand": .expand(words.dropFirst().map(newOperation))
      case "fail": .fail("no")
      case "keep": .keep(Ending(.cached))
      case "wait": wait(operation, words.dropFirst().compactMap { Nanoseconds($0) })
      case "serve": serve(operation, words.dropFirst().compactMap { Nanoseconds($0) })
      default: .run(ReadyStep(machine.steps[operation]))
      }
    if words[0] == "expand" { decisions[id(operation)] = "join" }
    if words[0] == "wait" { decisions[id(operation)] = "run" }
    machine.decided(operation, decision, at: now)
  }

  private func wait(_ operation: OperationID, _ times: [Nanoseconds]) -> Decision {
    .wait([probe(times)], ReadyStep(machine.steps[operation]))
  }

  private func serve(_ operation: OperationID, _ times: [Nanoseconds]) -> Decision {
    let step = ReadyStep(machine.steps[operation])
    return .run(ReadyStep(.arguments(["serve"]), step.settings, readiness: [probe(times)]))
  }

  private func probe(_ times: [Nanoseconds]) -> Probe {
    Probe(
      action: .arguments(["probe"]), every: times[0] * second,
      timeout: times.count > 1 ? times[1] * second : nil, words: "it")
  }

  private func newOperation(_ name: String) -> NewOperation {
    let id = name.filter { $0 != "&" }
    var spec = OperationSpec()
    spec.takesSlot = name == id
    // What an instance of several steps waits for are these.
    spec.isGated = plan.groups.values.contains { $0.pattern != nil }
    return NewOperation(
      step: PlannedStep(
        id: id, span: Span(start: 0, end: 0), work: .known(.script(ScriptText(id))),
        settings: simulation.settings[id] ?? StepSettings()),
      spec: spec)
  }

  private mutating func start(_ key: CommandKey) {
    let script = simulation.scripts[name(key)]?.split(separator: " ").map(String.init) ?? ["ok@1"]
    var index = 0
    if case .attempt(let number) = key.role { index = min(number, script.count) - 1 }
    if case .probe = key.role {
      let count = probeCounts[name(key), default: 0]
      probeCounts[name(key)] = count + 1
      index = min(count, script.count - 1)
      words.append("\(now / second):probe(\(id(key.operation)))")
    }
    let parts = script[index].split(separator: "@").map(String.init)
    let times = parts.dropFirst().joined().split(separator: "~").map {
      (Nanoseconds($0) ?? 0) * second
    }
    var command = Command(
      key: key, startedAt: now, endsAt: now + (times.last ?? 0), status: .exited(0),
      overAt: times.count > 1 ? now + times[0] : nil,
      lastsAfterKill: parts[0] == "immortal" ? 5 * second : 0,
      isStubborn: ["stubborn", "immortal"].contains(parts[0]))
    switch parts[0] {
    case "ok": break
    case "hang", "stubborn", "immortal": command.endsAt = nil
    case "missing": command.status = .notStarted("command not found", exitCode: 127)
    case let word where word.hasPrefix("sig"):
      command.status = .signalled(Int32(word.dropFirst(3)) ?? 0)
    case let word: command.status = .exited(Int32(word) ?? -1)
    }
    commands.append(command)
  }

  private mutating func end(_ key: CommandKey, by signal: Int32) {
    words.append("\(now / second):\(signal == 9 ? "kill" : "stop")(\(name(key)))")
    guard let index = commands.firstIndex(where: { $0.key == key }) else { return }
    if let over = commands[index].overAt, over < now { return }
    if commands[index].isStubborn, signal != 9 { return }
    commands[index].endsAt = now + commands[index].lastsAfterKill
    commands[index].status = .signalled(signal)
  }

  private mutating func say(_ event: RunEvent.Kind) {
    guard let word = word(event) else { return }
    words.append("\(now / second):\(word)")
  }

  private func word(_ event: RunEvent.Kind) -> String? {
    switch event {
    case .started(let operation, let role):
      return "+\(name(CommandKey(operation: operation, role: role)))"
    case .ended(let operation, let role, let end):
      let mark = end.timedOut ? "!" : isHook(role) && end.isStopped ? "~" : ""
      return "-\(name(CommandKey(operation: operation, role: role)))=\(text(end.status))\(mark)"
    case .retrying(let operation, let attempt, let delay):
      return "\(id(operation))#\(attempt)in\(delay / second)"
    case .settled(let operation, let ending, let cause):
      return
        "\(id(operation))=\(ending.outcome)\(ending.isAllowed ? "(allowed)" : "")\(text(cause))"
    case .ready(let operation): return "\(id(operation))!ready"
    case .heldUp(let operation, let heldUp):
      return "\(id(operation))?\(heldUp.holders.map(id).joined(separator: "+"))"
    case .waiting(let operation, let words): return "\(id(operation))?\(words)"
    case .appended(_, let name, let group, _, _): return "\(id(group))>\(name)"
    case .controlled(let note):
      return "\(note.words(queue: { _ in "default" }, step: id).replacing(" ", with: "_"))"
    case .reopened(let operation, let ending): return "\(id(operation))~\(ending.outcome)"
    case .notice(let text): return "notice(\(text.replacing(" ", with: "_")))"
    case .stopping(let reason): return "stopping(\(reason.short(id)))"
    case .finished(let end): return "end=\(end.exitStatus)"
    default: return nil
    }
  }

  private func isHook(_ role: CommandRole) -> Bool {
    if case .hook = role { true } else { false }
  }

  private func id(_ operation: OperationID) -> String {
    operation == .run ? "@run" : machine.steps[operation].id
  }

  /// `a` for an attempt, `a.on_success.1` for a hook.
  private func name(_ key: CommandKey) -> String {
    switch key.role {
    case .attempt: id(key.operation)
    case .hook: "\(id(key.operation)).\(key.role.name)"
    case .probe(let index): "\(id(key.operation)).wait.\(index)"
    }
  }

  private func text(_ status: CommandEnd.Status) -> String {
    switch status {
    case .exited(let code): "\(code)"
    case .signalled(let signal): "sig\(signal)"
    case .notStarted: "missing"
    case .outputsRefused: "refused"
    case .abandoned: "abandoned"
    case .lost: "lost"
    }
  }

  private func text(_ cause: Cause) -> String {
    switch cause {
    case .itself: ""
    case .dependency(let root): "<\(id(root))"
    case .stopped(let reason), .stoppedEarlier(let reason): "<\(reason.short(id))"
    case .hook(let kind): "<\(kind.key)"
    case .condition(let reason), .timeLimit(let reason), .wait(let reason), .service(let reason),
      .notReady(let reason):
      "<\(reason)"
    }
  }
}

private let second: Nanoseconds = 1_000_000_000

extension StopReason {
  fileprivate func short(_ id: (OperationID) -> String) -> String {
    switch self {
    case .signal(let signal): "signal\(signal)"
    case .failure(let operation): id(operation)
    case .runTimeout: "timeout"
    case .groupTimeout(let group): "limit(\(id(group)))"
    case .noWidth: "width"
    case .noOutputs: "outputs"
    case .left: "left"
    case .suspended: "suspended"
    case .request(let user): user
    case .stateFailure: "state"
    case .overtaken: "overtaken"
    case .died: "died"
    }
  }
}

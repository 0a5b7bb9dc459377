// Runs a scheduler in virtual time and writes down what happens, so that schedules are compared
// whole: "0 a+ b+ | 2 a- c+ | 3 b-failed d=blocked(b)".
//
// `a+` starts, `a-` succeeds, `a-failed` ends so, `a.` pauses, `a>` is resumed, `a=…` ends without
// finishing, `a~` has no ending any more.

import Scheduling

struct Simulation {
  typealias Script = [Int: (inout Simulation) -> Void]

  private(set) var operations: [OperationText]
  let vocabulary: Vocabulary
  var scheduler: Scheduler
  private(set) var time = 0
  private var running: [(end: Int, id: OperationID)] = []
  private var paused: [(end: Int, id: OperationID)] = []
  private var retried: Set<OperationID> = []
  private var line: [String] = []
  private var timeline: [String] = []

  init(
    _ text: String, queues: String = "main=1", pools: String = "", patience: Int = 16,
    pathReach: Int = 16
  ) {
    vocabulary = Vocabulary(queues: queues, pools: pools)
    operations = vocabulary.operations(text)
    scheduler = Scheduler(
      graph: graph(of: operations).graph, queues: vocabulary.queues, pools: vocabulary.pools,
      patience: patience, pathReach: pathReach)
  }

  /// Runs until nothing runs any more and the script is at its end.
  mutating func run(_ script: Script = [:]) -> String {
    while true {
      endWhatIsDue()
      script[time]?(&self)
      tellSettlements()
      while let id = scheduler.next() { start(id) }
      if !line.isEmpty { timeline.append("\(time) " + line.joined(separator: " ")) }
      line = []
      let times = running.map(\.end) + paused.map(\.end) + script.keys
      guard let next = times.filter({ $0 > time }).min() else { break }
      time = next
    }
    return timeline.joined(separator: " | ")
  }

  func id(_ name: String) -> OperationID {
    OperationID(operations.firstIndex { $0.name == name } ?? 0)
  }

  func queue(_ name: String) -> QueueID {
    QueueID(vocabulary.queues.firstIndex { $0.name == name } ?? 0)
  }

  /// Appends what the text says to the running graph.
  mutating func append(_ text: String) {
    for operation in vocabulary.operations(text) {
      let dependencies = operation.dependencies.map { (id($0.0), $0.1) }
      operations.append(operation)
      scheduler.append(operation.spec, after: dependencies)
    }
  }

  /// Each may wait for one that comes after it.
  mutating func appendTogether(_ text: String) {
    let added = vocabulary.operations(text)
    operations += added
    scheduler.append(
      added.map { operation in
        Scheduler.Addition(
          operation.spec, after: operation.dependencies.map { (id($0.0), $0.1) })
      })
  }

  mutating func cancel(_ name: String) {
    let cancelled = id(name)
    running.removeAll { $0.id == cancelled }
    finish(cancelled, as: Ending(.cancelled))
  }

  /// Makes an operation that has ended run again, and succeed.
  mutating func reopen(_ name: String, in groups: String...) {
    operations[id(name).index].ending = Ending(.succeeded)
    let reopened = scheduler.reopen(id(name), in: groups.map { id($0) })
    line += reopened.map { "\(operations[$0.operation.index].name)~" }
  }

  private mutating func start(_ id: OperationID) {
    line.append(operations[id.index].name + "+")
    running.append((time + operations[id.index].duration, id))
  }

  private mutating func endWhatIsDue() {
    for (end, id) in paused where end == time {
      guard scheduler.state(of: id) == .paused else { continue }
      if let reason = scheduler.stopReason {
        scheduler.settle(id, as: Ending(.cancelled), cause: .stopped(reason))
      } else {
        line.append(operations[id.index].name + ">")
        scheduler.resume(id)
      }
    }
    paused.removeAll { $0.end <= time }
    let due = running.filter { $0.end == time }
    running.removeAll { $0.end == time }
    for (_, id) in due {
      if let delay = operations[id.index].retryDelay, retried.insert(id).inserted {
        line.append(operations[id.index].name + ".")
        paused.append((time + delay, id))
        scheduler.pause(id)
      } else {
        finish(id, as: operations[id.index].ending)
      }
    }
  }

  private mutating func finish(_ id: OperationID, as ending: Ending) {
    line.append(operations[id.index].name + "-" + (ending.outcome == .succeeded ? "" : "\(ending)"))
    scheduler.finish(id, as: ending)
    tellSettlements()
  }

  private mutating func tellSettlements() {
    for settlement in scheduler.takeSettlements() {
      let name = operations[settlement.operation.index].name
      line.append("\(name)=\(settlement.ending)\(describe(settlement.cause))")
    }
  }

  private func describe(_ cause: Cause) -> String {
    switch cause {
    case .itself: ""
    case .dependency(let root): "(\(operations[root.index].name))"
    case .stopped(.failure(let id)): "(stop \(operations[id.index].name))"
    case .stopped(let reason), .stoppedEarlier(let reason): "(\(reason))"
    case .hook(let kind): "(\(kind))"
    case .condition(let text), .timeLimit(let text), .wait(let text), .service(let text),
      .notReady(let text):
      "(\(text))"
    }
  }
}

extension Ending: CustomStringConvertible {
  /// `failed*` if the failure is allowed.
  public var description: String { "\(outcome)" + (isAllowed ? "*" : "") }
}

/// The timeline of a graph.
func schedule(
  _ text: String, queues: String = "main=1", pools: String = "", patience: Int = 16,
  _ script: Simulation.Script = [:]
) -> String {
  var simulation = Simulation(text, queues: queues, pools: pools, patience: patience)
  return simulation.run(script)
}

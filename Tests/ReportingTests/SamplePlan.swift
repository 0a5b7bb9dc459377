// Plans in a tiny language: "fetch; build~3: fetch; fix@net: build!failed".
//
// `~3` is an expected time in seconds, `@net` a queue, `^4` a priority, `?` a gate, `!failed` a
// condition.

import Diagnostics
import Plans
import Scheduling

func samplePlan(
  _ text: String, width: Int = 4, settings: StepSettings = StepSettings(),
  action: (String) -> Action = { .script("echo \($0)") }
) -> Plan {
  var sample = SamplePlan(width: width)
  let words = text.split(separator: ";").map { $0.filter { $0 != "\n" } }
  for word in words { sample.add(word, settings: settings, action: action) }
  for word in words { sample.connect(word) }
  return sample.plan
}

extension Plan {
  /// The step stands for others.
  func group(
    _ id: String, _ kind: GroupPlan.Kind = .matrix, of members: [String] = []
  ) -> Plan {
    var groups = groups
    let members = members.map(operation)
    groups[operation(id)] = GroupPlan(kind: kind, members: members)
    return with(groups: groups).replacing(id) { step in
      let work: Work? = members.isEmpty ? step.work.shown.map { .late(shown: $0) } : nil
      return PlannedStep(
        id: id, span: step.span, work: work ?? .none, settings: step.settings, late: step.late)
    }
  }

  /// Something about the step is decided late.
  func late(
    _ id: String, if condition: String? = nil, skipped reason: String? = nil, probes: [String] = []
  ) -> Plan {
    replacing(id) { step in
      PlannedStep(
        id: id, span: step.span, work: step.work, settings: step.settings,
        late: LateStep(condition: condition, skipReason: reason, probes: probes))
    }
  }

  private func replacing(_ id: String, _ body: (PlannedStep) -> PlannedStep) -> Plan {
    var steps = steps
    let index = operation(id).index
    steps[index] = body(steps[index])
    return with(steps: steps)
  }

  private func with(
    steps: [PlannedStep]? = nil, groups: [OperationID: GroupPlan]? = nil
  ) -> Plan {
    Plan(
      name: name, sources: sources, steps: steps ?? self.steps, graph: graph, queues: queues,
      pools: pools, failurePolicy: failurePolicy, timeout: timeout, settings: settings,
      groups: groups ?? self.groups)
  }

  func operation(_ id: String) -> OperationID {
    OperationID(steps.firstIndex { $0.id == id } ?? -1)
  }
}

private struct SamplePlan {
  private var graph = Graph()
  private var steps: [PlannedStep] = []
  private var queues: [QueueSpec]
  private var file = ""

  init(width: Int) { queues = [QueueSpec(name: "default", width: width)] }

  mutating func add(_ text: String, settings: StepSettings, action: (String) -> Action) {
    let head = text.split(separator: ":")[0].filter { $0 != " " }
    let id = String(head.prefix { !"~@^?&".contains($0) })
    var spec = OperationSpec()
    if let seconds = part(of: head, after: "~") { spec.expected = Int64(seconds * 1e9) }
    if let priority = part(of: head, after: "^") { spec.priority = Int16(priority) }
    if head.contains("@") {
      if queues.count == 1 { queues.append(QueueSpec(name: "net", width: 2)) }
      spec.queue = QueueID(1)
    }
    spec.isGated = head.contains("?")
    spec.takesSlot = !head.contains("&")
    graph.append(spec)
    let start = file.utf8.count + 6
    file += "- id: \(id)\n"
    let span = Span(start: start, end: start + id.utf8.count)
    steps.append(PlannedStep(id: id, span: span, work: .known(action(id)), settings: settings))
  }

  private func part(of text: String, after sign: Character) -> Double? {
    guard let start = text.firstIndex(of: sign) else { return nil }
    let digits = text[text.index(after: start)...].prefix { $0.isNumber || ".-".contains($0) }
    return Double(digits)
  }

  mutating func connect(_ text: String) {
    let parts = text.split(separator: ":")
    guard parts.count == 2 else { return }
    let id = parts[0].filter { $0 != " " }.prefix { !"~@^?&".contains($0) }
    for word in parts[1].split(separator: " ") {
      let pieces = word.split(separator: "!")
      let condition: EdgeCondition =
        switch pieces.count > 1 ? pieces[1] : "" {
        case "failed": .failed
        case "done": .done
        case "succeeded": .succeeded
        default: .ok
        }
      graph.addEdge(from: operation(pieces[0]), to: operation(id), when: condition)
    }
  }

  private func operation(_ id: Substring) -> OperationID {
    guard let index = steps.firstIndex(where: { $0.id == id }) else {
      preconditionFailure("unknown step '\(id)' in the sample")
    }
    return OperationID(index)
  }

  var plan: Plan {
    var sources = SourceMap()
    sources.add(path: "sample.yml", bytes: Array(file.utf8))
    return Plan(
      name: "sample.yml", sources: sources, steps: steps, graph: graph, queues: queues, pools: [],
      failurePolicy: .continue, timeout: nil, settings: StepSettings())
  }
}

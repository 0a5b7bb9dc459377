// The tiny language of these tests: a graph in one line.
//
//   "a!1; b!3: a; c@net: a b?failed"
//
// Operations are divided by `;`. After the name, in any order: `!3` priority, `@net` queue,
// `~5` expected duration, `/2` duration in the simulation (1), `%cpu*2` a claim (`%m` claims 1),
// `=failed` how it ends, `^2` one retry after 2, `&` takes no slot. After `:` what it depends on, `?` before the `when`.

import Scheduling

/// One operation as the text describes it.
struct OperationText {
  var name = ""
  var spec = OperationSpec()
  var duration = 1
  var ending = Ending(.succeeded)
  var retryDelay: Int?
  var dependencies: [(String, EdgeCondition)] = []
}

struct Vocabulary {
  var queues: [QueueSpec]
  var pools: [PoolSpec]

  /// "main=2 net=0": widths; "main=-1" has no bound; "net=1." is suspended.
  init(queues: String, pools: String) {
    self.queues = queues.split(separator: " ").map {
      let parts = $0.split(separator: "=")
      let width = Int(parts[1].filter { $0 != "." }) ?? 0
      return QueueSpec(
        name: String(parts[0]), width: width < 0 ? .max : width, isSuspended: parts[1].last == ".")
    }
    self.pools = pools.split(separator: " ").map {
      let parts = $0.split(separator: "=")
      return PoolSpec(name: String(parts[0]), capacity: (Int64(parts[1]) ?? 0) * 1_000_000)
    }
  }

  func operations(_ text: String) -> [OperationText] {
    text.split(whereSeparator: { $0 == ";" || $0 == "\n" }).map { operation($0) }
  }

  private func operation(_ text: Substring) -> OperationText {
    var result = OperationText()
    let sides = text.split(separator: ":", maxSplits: 1)
    for part in parts(sides[0].filter { $0 != " " }) { apply(part, to: &result) }
    guard sides.count == 2 else { return result }
    for dependency in sides[1].split(separator: " ") {
      let halves = dependency.split(separator: "?")
      let condition = halves.count == 2 ? condition(halves[1]) : .ok
      result.dependencies.append((String(halves[0]), condition))
    }
    return result
  }

  private func apply(_ part: Substring, to operation: inout OperationText) {
    let value = part.dropFirst()
    switch part.first {
    case "!": operation.spec.priority = Int16(value) ?? 0
    case "@": operation.spec.queue = QueueID(queues.firstIndex { $0.name == value } ?? 0)
    case "~": operation.spec.expected = Nanoseconds(value)
    case "/": operation.duration = Int(value) ?? 1
    case "%": operation.spec.claims.append(claim(value))
    case "=": operation.ending = ending(value)
    case "&": operation.spec.takesSlot = false
    case "^": operation.retryDelay = Int(value)
    default: operation.name = String(part)
    }
  }

  private func claim(_ text: Substring) -> Claim {
    let parts = text.split(separator: "*")
    let amount = parts.count == 2 ? Int64(parts[1]) ?? 0 : 1
    return Claim(PoolID(pools.firstIndex { $0.name == parts[0] } ?? 0), amount: amount * 1_000_000)
  }

  /// The parts, split before each sign: "a!1@net" is "a", "!1", "@net".
  private func parts(_ text: String) -> [Substring] {
    var parts: [Substring] = []
    var start = text.startIndex
    for index in text.indices.dropFirst() where "!@~/%=^&".contains(text[index]) {
      parts.append(text[start..<index])
      start = index
    }
    return parts + [text[start...]]
  }
}

func condition(_ text: Substring) -> EdgeCondition {
  EdgeCondition.allCases.first { "\($0)" == text } ?? .ok
}

/// "failed", "timedOut", "failed*": the star allows the failure.
func ending(_ text: Substring) -> Ending {
  let outcome = Outcome.allCases.first { "\($0)" == text.filter { $0 != "*" } }
  return Ending(outcome ?? .succeeded, isAllowed: text.last == "*")
}

/// Only the graph, for tests that run nothing.
func graph(_ text: String) -> (graph: Graph, names: [String]) {
  let operations = Vocabulary(queues: "main=1", pools: "").operations(text)
  return graph(of: operations)
}

func graph(of operations: [OperationText]) -> (graph: Graph, names: [String]) {
  var graph = Graph()
  let names = operations.map(\.name)
  let numbers = Dictionary(zip(names, names.indices)) { first, _ in first }
  for operation in operations { graph.append(operation.spec) }
  for (index, operation) in operations.enumerated() {
    for (name, condition) in operation.dependencies {
      graph.addEdge(
        from: OperationID(numbers[name] ?? 0), to: OperationID(index), when: condition)
    }
  }
  return (graph, names)
}

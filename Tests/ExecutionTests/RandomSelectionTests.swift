// Random pipelines of groups in groups, of which some steps are selected: what runs is compared with a
// model that knows only trees of steps.

import Expressions
import Glibc
import Pipelines
import Plans
import RunFiles
import TestSupport
import Testing

@testable import Execution

@Suite(.blocking) struct `A selection in random groups` {
  @Test(arguments: 0..<8)
  func `runs what is named and what that needs, in every instance`(part: Int) throws {
    for seed in part * 150..<(part + 1) * 150 {
      var random = SeededGenerator(seed: UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 &+ 5)
      var pipeline = RandomPipeline(&random)
      let selected = pipeline.select(&random)
      let (ran, status) = try ran(pipeline, selected.name)
      let wanted = pipeline.commands(of: selected).sorted()
      #expect(
        ran == wanted && status == 0,
        "seed \(seed), \(selected.name), exit \(status)\n\(pipeline.text) \(pipeline.files)")
    }
  }

  @Test func `meets late and known matrices, manual steps, false conditions and used pipelines`() {
    var seen: Set<String> = []
    for seed in 0..<200 {
      var random = SeededGenerator(seed: UInt64(seed))
      var pipeline = RandomPipeline(&random)
      let selected = pipeline.select(&random)
      let wanted = [
        "list.outputs.l", "[p, q]", "manual: true", "list.outputs.n", "uses: ",
      ]
      seen.formUnion(wanted.filter { pipeline.text.contains($0) })
      if selected.name.split(separator: "/").count > 3 { seen.insert("depth") }
      if selected.name.contains("[") { seen.insert("instance") }
      if pipeline.list.isEmpty { seen.insert("empty") }
      if pipeline.files.values.contains(where: { $0.hasPrefix("default") }) {
        seen.insert("default")
      }
    }
    #expect(seen.count == 9)
  }

  /// The steps whose commands were started, and the exit status. A run that cannot end is stopped by a signal.
  private func ran(_ pipeline: RandomPipeline, _ name: String) throws -> ([String], Int32) {
    var options = PlanningOptions(selection: [name])
    let files = pipeline.files
    options.files = PipelineFiles { path, _ in
      let name = path.split(separator: "/").last?.split(separator: ".").first
      return .success(name.flatMap { files[String($0)] }.map { Array("{\($0)}".utf8) })
    }
    let plan = try makePlan(path: "p.yml", bytes: Array(pipeline.text.utf8), options: options)
    var list = TestStub()
    let values = pipeline.list.map { Value.string($0) }
    list.outputs = [(name: "l", value: .list(values)), (name: "n", value: .number(1))]
    let folder = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    let (end, commands) = rehearse(
      plan, ["list": list],
      RunOptions(runID: "t", directory: RunDirectory(owning: folder, path: "/proc")),
      observer: NoObserver())
    return (commands.keys.sorted(), end.exitStatus)
  }
}

private final class NoObserver: RunObserver {
  func observe(_ event: RunEvent) {}
}

/// A step, or a group of steps.
private struct Node {
  enum Matrix { case none, known, late }

  let id: String
  var matrix = Matrix.none
  var isManual = false
  /// Its condition is false, which is known only during the run.
  var isOff = false
  /// Steps before it in its group.
  var needs: Set<Int> = []
  /// It is the use of a pipeline that has these steps.
  var isUse = false
  /// What the used pipeline selects; empty for all that is not manual.
  var defaults: Set<Int> = []
  var steps: [Node] = []

  /// Something in it is known only after the step `list`.
  var isLate: Bool { matrix == .late || isOff || steps.contains(where: \.isLate) }

  /// What runs of a group of which no step is named.
  var usual: Set<Int> {
    let first = defaults.isEmpty ? Set(steps.indices.filter { !steps[$0].isManual }) : defaults
    return first.union(steps.needed(by: first))
  }
}

extension [Node] {
  fileprivate func needed(by numbers: Set<Int>) -> Set<Int> {
    var found: Set<Int> = []
    for number in numbers { found.formUnion(self[number].needs) }
    return found.isEmpty ? [] : found.union(needed(by: found))
  }
}

/// A step by its numbers in the groups around it, and the values of known matrices that its name has.
private struct Selected {
  var path: [Int] = []
  var values: [String?] = []
  var name = ""
}

private struct RandomPipeline {
  private var steps: [Node] = []
  private var count = 0
  /// What the step `list` prints.
  let list: [String]
  /// The pipelines that are used are files of their own.
  private let hasFiles: Bool

  init(_ random: inout SeededGenerator) {
    list = [["1", "2"], ["1", "2"], []][random.below(3)]
    hasFiles = random.below(2) == 0
    steps = nodes(&random, depth: 0)
  }

  private mutating func nodes(_ random: inout SeededGenerator, depth: Int) -> [Node] {
    var nodes: [Node] = []
    for number in 0..<1 + random.below(3) {
      count += 1
      var node = Node(id: "s\(count)")
      node.matrix = [.none, .none, .known, .late][random.below(4)]
      node.isManual = number > 0 && random.below(5) == 0
      node.isOff = random.below(12) == 0
      node.needs = Set((0..<number).filter { _ in random.below(3) == 0 })
      if depth < 3, random.below(5) > 1 {
        node.steps = self.nodes(&random, depth: depth + 1)
        node.isUse = random.below(2) == 0 && !node.steps.contains(where: \.isLate)
        if node.isUse, hasFiles, random.below(2) == 0 {
          node.defaults = [random.below(node.steps.count)]
        }
      }
      nodes.append(node)
    }
    return nodes
  }

  mutating func select(_ random: inout SeededGenerator) -> Selected {
    var selected = Selected()
    var inner = steps
    repeat {
      let number = random.below(inner.count)
      let node = inner[number]
      selected.path.append(number)
      selected.name += (selected.path.count > 1 ? "/" : "") + node.id
      let isNamed = node.matrix == .known && random.below(3) == 0
      selected.values.append(isNamed ? "q" : nil)
      if isNamed { selected.name += "[m\(node.id)=q]" }
      inner = node.steps
    } while !inner.isEmpty && random.below(5) > 0
    return selected
  }
}

// What should run.
extension RandomPipeline {
  func commands(of selected: Selected) -> [String] {
    ["list"] + commands(of: Array(zip(selected.path, selected.values))[...], in: steps, "")
  }

  private func commands(
    of path: ArraySlice<(Int, String?)>, in nodes: [Node], _ prefix: String
  ) -> [String] {
    guard let (number, value) = path.first else { return [] }
    let node = nodes[number]
    let needed = nodes.needed(by: [number]).flatMap { commands(of: nodes[$0], prefix) }
    if node.isOff { return needed }
    let own = instances(of: node, value).flatMap { instance in
      path.count == 1
        ? commands(in: node, prefix + node.id + instance)
        : commands(of: path.dropFirst(), in: node.steps, prefix + node.id + instance + "/")
    }
    return needed + own
  }

  private func commands(of node: Node, _ prefix: String) -> [String] {
    if node.isOff { return [] }
    return instances(of: node, nil).flatMap { commands(in: node, prefix + node.id + $0) }
  }

  private func commands(in node: Node, _ name: String) -> [String] {
    if node.steps.isEmpty { return [name] }
    return node.usual.flatMap { commands(of: node.steps[$0], name + "/") }
  }

  private func instances(of node: Node, _ value: String?) -> [String] {
    switch node.matrix {
    case .none: [""]
    case .known: (value.map { [$0] } ?? ["p", "q"]).map { "[m\(node.id)=\($0)]" }
    case .late: list.map { "[m\(node.id)=\($0)]" }
    }
  }
}

// How it is written.
extension RandomPipeline {
  var text: String { written.text }

  /// The files that are used, by their names.
  var files: [String: String] { hasFiles ? written.pipelines : [:] }

  private var written: (text: String, pipelines: [String: String]) {
    var pipelines: [String: String] = [:]
    let lines = steps.map { node in
      "- {" + self.text(node, among: steps, isOuter: true, &pipelines) + "}\n"
    }
    let sections = pipelines.map { "  \($0): {\($1)}\n" }.joined()
    let whole = """
      \(hasFiles || pipelines.isEmpty ? "" : "pipelines:\n" + sections)steps:
      - {id: list, run: list, outputs: {l: list, n: int}}
      \(lines.joined())
      """
    return (whole, pipelines)
  }

  private func text(
    _ node: Node, among nodes: [Node], isOuter: Bool = false, _ pipelines: inout [String: String]
  ) -> String {
    let needs = (isOuter ? ["list"] : []) + node.needs.sorted().map { nodes[$0].id }
    var words = "id: \(node.id), depends_on: [\(needs.joined(separator: ", "))]"
    if node.isManual { words += ", manual: true" }
    if node.isOff { words += ", if: steps.list.outputs.n > 1" }
    switch node.matrix {
    case .none: break
    case .known: words += ", matrix: {m\(node.id): [p, q]}"
    case .late: words += ", matrix: {m\(node.id): \"${{ steps.list.outputs.l }}\"}"
    }
    if node.steps.isEmpty { return words + ", run: x" }
    let steps = node.steps.map { "{" + text($0, among: node.steps, &pipelines) + "}" }
    let inner = "steps: [\(steps.joined(separator: ", "))]"
    guard node.isUse else { return words + ", " + inner }
    let names = node.defaults.map { node.steps[$0].id }
    let defaults = names.isEmpty ? "" : "default: [\(names.joined(separator: ", "))], "
    pipelines[node.id] = defaults + inner
    return words + (hasFiles ? ", uses: ./\(node.id).yml" : ", uses: '#\(node.id)'")
  }
}

extension SeededGenerator {
  fileprivate mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }
}

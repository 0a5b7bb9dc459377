// Names of steps in other pipeline uses: `group/step`, `group[os=linux]/step`.

import Expressions
import Plans

/// The id of a step, and the rest of a path.
struct StepPath {
  let id: Substring
  /// The text after the id; it begins with `[` or `/`, or is empty.
  let rest: Substring

  init(_ path: Substring) {
    let end = path.utf8.firstIndex { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "/") }
    id = path[..<(end ?? path.endIndex)]
    rest = path[(end ?? path.endIndex)...]
  }

  /// The possible instances at the beginning of the rest, with the text after each: values may
  /// contain brackets and slashes.
  var instances: [(suffix: Substring, rest: Substring)] {
    guard rest.first == "[" else { return [] }
    return rest.indices.compactMap { index in
      guard rest[index] == "]" else { return nil }
      let after = rest[rest.index(after: index)...]
      return after.isEmpty || after.first == "/" ? (rest[...index], after) : nil
    }
  }
}

/// The step that a path names, regardless of its instances.
struct PathTarget {
  let use: PipelineUse
  let step: Int
  /// True if the path names one instance of the step.
  var isOne = false
  /// True if the path names the step in each instance of a group.
  var isMany = false
}

extension PipelineUse {
  /// The step that a name stands for, in this pipeline or around the group.
  func find(path: String) -> PathTarget? {
    // The path is nearly always an id, which contains neither `[` nor `/`.
    if let (use, step) = find(path) { return PathTarget(use: use, step: step) }
    let first = StepPath(path[...])
    guard let (use, step) = find(String(first.id)) else { return nil }
    var search = PathSearch()
    return use.target(step, first, &search)
  }

  private func target(
    _ step: Int, _ path: StepPath, _ search: inout PathSearch
  ) -> PathTarget? {
    guard let first = path.rest.utf8.first else { return PathTarget(use: self, step: step) }
    if first == UInt8(ascii: "/") {
      var target = inner[step]?.target(path.rest, &search)
      if controlFlow(of: step)?.matrix != nil { target?.isMany = true }
      return target
    }
    if path.rest.utf8.last == UInt8(ascii: "]") {
      return PathTarget(use: self, step: step, isOne: true)
    }
    guard let inner = inner[step], search.begins(at: path.rest.startIndex, in: inner) else {
      return nil
    }
    for end in path.rest.utf8.indices where path.rest.utf8[end] == UInt8(ascii: "]") {
      let rest = path.rest[path.rest.utf8.index(after: end)...]
      if rest.utf8.first == UInt8(ascii: "/"), let found = inner.target(rest, &search) {
        return found
      }
    }
    return nil
  }

  /// The step that the rest of a path names; the rest begins with a slash.
  private func target(_ rest: Substring, _ search: inout PathSearch) -> PathTarget? {
    let path = StepPath(rest.dropFirst())
    return index.find(String(path.id)).flatMap { target($0, path, &search) }
  }
}

/// The positions after an instance from which steps were searched: any bracket may end the
/// instance, so one path can be read in many ways.
private struct PathSearch {
  private var starts: [ObjectIdentifier: String.Index] = [:]

  /// False if the search from there, or from further left, was tried before and found nothing.
  mutating func begins(at start: String.Index, in use: PipelineUse) -> Bool {
    let id = ObjectIdentifier(use)
    if let known = starts[id], known <= start { return false }
    starts[id] = start
    return true
  }
}

/// The operations that a path names, or why there are none.
enum PathFinding {
  /// The operations; `isInside` if they are in the pipeline use itself, not around it.
  case found([Int], isInside: Bool)
  /// The step has no such instance; the values are the group's operation and its name.
  case noInstance(of: Int, name: String)
  case unknown
}

extension Planner {
  /// Finds the operations that a path means inside a pipeline use.
  func operations(named path: String, in pipeline: Int) -> PathFinding {
    let first = StepPath(path[...])
    var use = pipeline
    while true {
      if let step = pipelines[use].index.find(String(first.id)) {
        return operations(of: step, in: use, first, isInside: use == pipeline)
      }
      guard pipelines[use].surroundings.isGroup, let parent = pipelines[use].parent else {
        return .unknown
      }
      use = parent.pipeline
    }
  }

  private func operations(
    of step: Int, in use: Int, _ path: StepPath, isInside: Bool
  ) -> PathFinding {
    let operation = pipelines[use].operation(of: step)
    if path.rest.isEmpty { return .found([operation], isInside: isInside) }
    guard path.rest.first == "[" else {
      if hasNoInstances(operation) {
        // The group ends when its steps would have ended.
        let isKnown = pipelines[use].find(path: String(path.id) + path.rest) != nil
        return isKnown ? .found([operation], isInside: isInside) : .unknown
      }
      let members = groups[operation]?.steps == nil ? groups[operation]?.members : [operation]
      return operations(at: path.rest, in: members ?? [], isInside: isInside)
    }
    for (suffix, rest) in path.instances {
      guard let member = instanceIndex.member(of: operation, String(suffix), in: self) else {
        continue
      }
      if rest.isEmpty { return .found([member], isInside: isInside) }
      return operations(at: rest, in: [member], isInside: isInside)
    }
    // The future instances are not known here.
    if groups[operation]?.isExpanding == true, hasOpenMatrix(address(of: operation)) {
      return .found([operation], isInside: isInside)
    }
    return .noInstance(of: operation, name: pipelines[use].id(of: step, text))
  }

  /// The operations that `/step` names in each of these pipeline uses.
  func operations(
    at rest: Substring, in members: [Int], isInside: Bool
  ) -> PathFinding {
    var found: [Int] = []
    let path = StepPath(rest.dropFirst())
    for member in members {
      guard let use = groups[member]?.steps,
        let step = pipelines[use].index.find(String(path.id))
      else { return .unknown }
      switch operations(of: step, in: use, path, isInside: isInside) {
      case .found(let operations, _): found += operations
      case .noInstance(let group, let name): return .noInstance(of: group, name: name)
      case .unknown: return .unknown
      }
    }
    return members.isEmpty ? .unknown : .found(found, isInside: isInside)
  }

  /// True for a group with a known matrix that is empty.
  func hasNoInstances(_ operation: Int) -> Bool {
    guard let group = groups[operation], case .matrix = group.kind else { return false }
    return group.members.isEmpty
  }

  /// The values of the matrices around an operation.
  func matrixValues(at address: StepAddress) -> ValueMap? { values(at: address).matrix }
}

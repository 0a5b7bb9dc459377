// Finds cached steps whose declared files collide: one reads what another makes without waiting for
// it, or two make the same file. Only paths without wildcards are certain to name a file; they are
// compared with each other, and with the patterns of outputs that cover them.

import Diagnostics
import Expressions
import Glibc
import Plans
import Scheduling

/// Compares the declarations of the cached steps of a plan.
final class DeclarationCheck {
  /// A step that declares files.
  private struct Declaring {
    let operation: Int
    let id: String
    let span: Span
    let cache: CacheSettings
    /// Outputs with expressions whose values only the run knows, as they are written.
    let lateOutputs: [String]
    let directory: String?
    /// True if only the run decides whether the step runs.
    let isConditional: Bool
    /// The conditions that the step waits for, besides other steps.
    let probes: [LateProbe]
  }

  private let planner: Planner
  private let paths: DeclaredPaths
  private var steps: [Declaring] = []
  /// The first step that makes each path, and the others.
  private var makers = PathTable()
  private var moreMakers: [ExactText: [Int]] = [:]
  // A step that makes files is not a service, so it has ended when a service that waits for it is
  // ready.
  private lazy var ancestry = Ancestry(
    planner.graph, budget: Self.budget, followsServices: true)
  private let alternatives: Alternatives
  /// True for each operation that runs if no step is named; nil means all.
  private lazy var usually = planner.keptIfNoneIsNamed()

  /// The number of comparisons of operations for one plan.
  private static let budget = 20_000_000
  /// The number of names of paths that may still be compared with directories and patterns:
  /// thousands of steps may share one directory.
  private var spaceBudget = 1_000_000

  init(_ planner: Planner, _ numbers: Renumbering, _ plan: Plan) {
    self.planner = planner
    paths = DeclaredPaths(workspace: planner.options.workspace)
    alternatives = Alternatives(planner, numbers, plan)
    let usual = planner.options.showsEveryStep ? planner.keptIfNoneIsNamed() : nil
    let copied = plan.copiedOperations
    for operation in 0..<planner.operationCount where usual?[operation] != false {
      guard let id = numbers[operation], let cache = plan.steps[id.index].settings.cache,
        plan.groups[id].map(\.isExpanding) != false, !copied.contains(id)
      else { continue }
      let step = plan.steps[id.index]
      if let declaring = Self.declaring(step, cache, operation) { steps.append(declaring) }
    }
  }

  /// The declaration of a step; nil if the step does not run, or if its directory is known only later.
  private static func declaring(
    _ step: PlannedStep, _ cache: CacheSettings, _ operation: Int
  ) -> Declaring? {
    guard step.late?.skipReason == nil else { return nil }
    let settings = (step.late?.parts.expansion?.parts ?? step.late?.parts)?.settings
    guard settings?.workingDirectory.isEmpty != false else { return nil }
    var known = cache
    var lateOutputs: [String] = []
    if let late = settings?.cache {
      known.inputs = late.inputs.compactMap(\.plain)
      known.outputs = late.outputs.compactMap(\.plain)
      known.scratch = late.scratch.compactMap(\.plain)
      lateOutputs = late.outputs.filter { $0.template != nil }.map(\.shown)
    }
    return Declaring(
      operation: operation, id: step.id, span: step.span, cache: known,
      lateOutputs: lateOutputs, directory: step.settings.workingDirectory,
      isConditional: step.late?.condition != nil,
      probes: (step.late?.parts.expansion?.parts ?? step.late?.parts)?.probes ?? [])
  }

  func report(to log: inout DiagnosticLog) {
    makers = PathTable(capacity: steps.reduce(0) { $0 + $1.cache.outputs.count })
    for number in steps.indices { checkOutputs(of: number, &log) }
    checkSpaces(&log)
    for number in steps.indices where !makers.isEmpty { checkInputs(of: number, &log) }
  }

  private func checkOutputs(of number: Int, _ log: inout DiagnosticLog) {
    let step = steps[number]
    for (part, patterns) in [
      (CachePart.outputs, step.cache.outputs), (.scratch, step.cache.scratch),
    ] {
      for pattern in patterns where paths.isOutside(pattern, in: step.directory) {
        log.report(at: span(of: pattern, in: part, of: number)) {
          PlanningMessage.outside(pattern, of: step.id, at: $0)
        }
      }
    }
    for pattern in step.cache.outputs {
      let plain = paths.plain(pattern, in: step.directory)
      guard let name = plain ?? paths.wild(pattern, in: step.directory),
        let first = makers.add(number, at: name)
      else { continue }
      let earlier = [first] + (moreMakers[name] ?? [])
      if plain == nil {
        guard spaceBudget > earlier.count else { continue }
        spaceBudget -= earlier.count
      }
      guard !earlier.contains(number) else { continue }
      if let other = earlier.last(where: { areUnordered($0, number) }) {
        log.report(
          PlanningMessage.madeTwice(
            pattern, by: place(ofMaker: other, of: name),
            and: place(of: number, pattern, .outputs), help: order(number, after: other)))
      }
      moreMakers[name, default: []].append(number)
    }
  }

  /// Compares the directories and patterns with wildcards of each step with the paths that others make.
  private func checkSpaces(_ log: inout DiagnosticLog) {
    let named: [(path: ExactText, maker: Int)] = steps.indices.flatMap { number in
      (steps[number].cache.outputs + steps[number].lateOutputs).compactMap { output in
        // No file has a path that is longer.
        guard let path = paths.plain(output, in: steps[number].directory),
          path.text.utf8.count < Int(PATH_MAX)
        else { return nil }
        return (path, number)
      }
    }
    let holders = Set(named.compactMap { $0.path.folder.flatMap(madePath) })
    var sorted: [(path: ExactText, maker: Int)]?
    for number in steps.indices {
      let step = steps[number]
      for pattern in step.cache.outputs {
        let plain = paths.plain(pattern, in: step.directory)
        let place = plain ?? paths.wild(pattern, in: step.directory)
        guard let place, plain == nil || holders.contains(place) else { continue }
        let known =
          sorted
          ?? named.sorted { $0.path.text.utf8.lexicographicallyPrecedes($1.path.text.utf8) }
        sorted = known
        guard let found = firstMade(in: DeclaredSpace(place), among: known, besides: number) else {
          continue
        }
        log.report(
          PlanningMessage.madeBelow(
            found.path.text, by: self.place(of: number, pattern, .outputs),
            and: self.place(ofMaker: found.maker, of: found.path),
            help: order(number, after: found.maker)))
        break
      }
    }
  }

  /// The first path that another step makes in a space of this step, which does not wait for it.
  private func firstMade(
    in space: DeclaredSpace, among named: [(path: ExactText, maker: Int)], besides number: Int
  ) -> (path: ExactText, maker: Int)? {
    let step = steps[number]
    let beginning = space.beginning.utf8
    var (low, high) = (0, named.count)
    while low < high {
      let middle = (low + high) / 2
      let isBefore = named[middle].path.text.utf8.lexicographicallyPrecedes(beginning)
      if isBefore { low = middle + 1 } else { high = middle }
    }
    for made in named[low...] {
      guard spaceBudget > 0, made.path.text.utf8.starts(with: beginning) else { return nil }
      spaceBudget -= 1
      if made.maker != number, space.covers(made.path, budget: &spaceBudget),
        areUnordered(made.maker, number),
        !step.cache.outputs.contains(where: { paths.plain($0, in: step.directory) == made.path })
      {
        return made
      }
    }
    return nil
  }

  private func checkInputs(of number: Int, _ log: inout DiagnosticLog) {
    let step = steps[number]
    for pattern in step.cache.inputs where !pattern.hasPrefix("!") {
      guard let path = paths.plain(pattern, in: step.directory).flatMap(madePath)
      else { continue }
      let found = [makers[path]].compactMap { $0 } + (moreMakers[path] ?? [])
      guard !found.contains(number), !excludes(pattern, step),
        let maker = found.first(where: { areUnordered($0, number) })
      else { continue }
      let help = order(number, after: maker)
      let isAwaited =
        help != PlanningMessage.runFirst(steps[maker].id)
        && step.probes.contains { isMade($0, by: maker) }
      return log.report(
        PlanningMessage.readTooEarly(
          pattern, of: place(ofMaker: maker, of: path), by: place(of: number, pattern, .inputs),
          help: isAwaited ? help.map(PlanningMessage.waitsForFile) : help))
    }
  }

  /// The path itself, or a directory around it, if a step makes it.
  private func madePath(at path: ExactText) -> ExactText? {
    makers.nearest(to: path)
  }

  /// True if a condition of `wait_for` is a file that a step makes.
  private func isMade(_ probe: LateProbe, by maker: Int) -> Bool {
    guard probe.model.kind == .file, case .script(.plain(let file)) = probe.model.target,
      let path = paths.plain(file, in: nil).flatMap(madePath)
    else { return false }
    return makers[path] == maker || moreMakers[path]?.contains(maker) == true
  }

  /// True if a pattern with `!` may exclude an input.
  private func excludes(_ pattern: String, _ step: Declaring) -> Bool {
    step.cache.inputs.contains {
      $0.hasPrefix("!") && pattern.hasPrefix(String($0.dropFirst()).partBeforeWildcards)
    }
  }

  /// True if both may run at the same time. If both have conditions, or if they demand different
  /// ends of another step, perhaps only one of them runs.
  private func areUnordered(_ first: Int, _ second: Int) -> Bool {
    let (one, other) = (steps[first], steps[second])
    guard !(one.isConditional && other.isConditional), let ancestry else { return false }
    let (before, after) = (OperationID(one.operation), OperationID(other.operation))
    return !ancestry.isBefore(before, after) && !ancestry.isBefore(after, before)
      && !ancestry.isExhausted && alternatives.mayBothRun(before, after)
  }

  /// The location where a step names a pattern.
  private func place(
    of number: Int, _ pattern: String, _ part: CachePart
  ) -> PlanningMessage.StepPlace {
    PlanningMessage.StepPlace(
      id: steps[number].id, span: span(of: pattern, in: part, of: number), pattern: pattern)
  }

  /// The location where a step names a path that it makes.
  private func place(ofMaker number: Int, of path: ExactText) -> PlanningMessage.StepPlace {
    let step = steps[number]
    let pattern = (step.cache.outputs + step.lateOutputs).first {
      paths.plain($0, in: step.directory) == path || paths.wild($0, in: step.directory) == path
    }
    return place(of: number, pattern ?? "", .outputs)
  }

  private func span(of pattern: String, in part: CachePart, of number: Int) -> Span {
    let step = steps[number]
    let address = planner.address(of: step.operation)
    let use = planner.pipelines[address.pipeline]
    let settings = use.settings(ofStep: address.step)
    guard settings >= 0 else { return step.span }
    for case .cache(let model) in use.model.settings[Int(settings)] {
      return model.span(of: pattern, in: part) ?? step.span
    }
    return step.span
  }

  /// The help that makes one step wait for another. A step can name only those beside it, or beside
  /// a group around it; in `depends_on`, a step that does not usually run would run each time.
  private func order(_ step: Int, after other: Int) -> String? {
    if let usually, usually[steps[step].operation], !usually[steps[other].operation] {
      return PlanningMessage.runFirst(steps[other].id)
    }
    let path = planner.path(of: planner.address(of: steps[step].operation))
    let otherPath = planner.path(of: planner.address(of: steps[other].operation))
    for (level, (own, target)) in zip(path, otherPath).enumerated() {
      guard own.pipeline == target.pipeline else { return nil }
      if own.isOfSameStep(as: target) { continue }
      let pipeline = planner.pipelines[own.pipeline]
      let name = pipeline.id(of: target.step, planner.text)
      let isDirect = level == path.count - 1
      return PlanningMessage.addDependency(
        name, to: isDirect ? nil : pipeline.id(of: own.step, planner.text))
    }
    return nil
  }
}

// `oprun trace`: a step runs while it is watched, and its `cache` is proposed. docs/confined-steps.md

import Diagnostics
import Execution
import Glibc
import Plans
import Reporting
import RunFiles
import Scheduling

extension Invocation {
  /// The step that is traced; nil for another command.
  var tracedStep: String? { command.name == Subcommand.trace.name ? operands.last : nil }
}

extension Tool {
  func trace(_ invocation: Invocation) throws(UsageFailure) -> Int32 {
    guard invocation.operands.count == 2 else { throw .missingStep(of: .trace) }
    return try withFreshView { () throws(UsageFailure) in try choose(invocation, resuming: nil) }
  }

  /// Throws if several steps would be traced, each with a `cache` of its own, or a service, which
  /// has none and does not end.
  func checkTraced(_ invocation: Invocation, _ plan: Plan) throws(UsageFailure) {
    guard let step = invocation.tracedStep else { return }
    let operations = plan.steps(named: step)
    if operations.contains(where: { !plan.graph.takesSlot($0) }) { throw .tracedService(step) }
    let steps = operations.map { plan.steps[$0.index] }
    guard let first = steps.first,
      let other = steps.first(where: { $0.span.start != first.span.start })
    else { return }
    throw .severalTraced(step, first.id, other.id)
  }

  /// Writes the proposal after the run.
  func writeTrace(
    _ plan: Plan, _ invocation: Invocation, _ directory: RunDirectory, _ status: Int32
  ) {
    guard let step = invocation.tracedStep else { return }
    let reports = directory.names.filter { $0.hasSuffix(CommandTrace.ending) }.sorted()
      .map { TracedCommand(content(of: $0, in: directory)) }
    let records = reports.flatMap(\.records)
    guard !records.isEmpty else { return say(nothingTraced(step, plan, reports)) }
    if status != ExitStatus.success {
      say("the run failed: the step may use more files than were traced")
    } else if !reports.allSatisfy(\.isComplete) {
      say("the trace could not be written to its end: the step uses more files than were traced")
    }
    if reports.contains(where: \.leavesProcesses) {
      say(
        "the step left processes behind: what they write after its end is in the proposal, but not in its result",
        help: "let it wait for them")
    }
    let traced = plan.steps(named: step)
    if traced.count > 1, let first = traced.first {
      say(
        "the proposal covers all \(traced.count) instances together, with the files of each",
        help: "write what differs with an expression such as ${{ matrix.NAME }}, or trace one: "
          + "'\(printable(plan.steps[first.index].id))'")
    }
    let directories = Set(reports.compactMap(\.directory))
    guard
      let place = TracedWorkspace(
        step, in: plan, state: directory.path, directory: directories.min())
    else { return }
    if directories.count > 1 {
      say(
        "the instances ran in several directories: the paths in the proposal begin in "
          + quoted(place.directory))
    }
    let unnameable = Set(reports.flatMap { $0.unnameable(below: place.workspace) }).sorted()
    if !unnameable.isEmpty {
      say(
        "no pattern can name files whose names are not UTF-8: "
          + firstNames(of: unnameable, most: 8))
    }
    let files = TracedFiles(records, workspace: place.workspace) { path in
      var status = stat()
      return lstat(path, &status) == 0
    }
    let declaration = TracedDeclaration(files, place) { path in
      let folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      return folder >= 0 ? namesOfFiles(owning: folder) : nil
    }
    if invocation.isOn(Options.json) {
      declaration.writeJSON(to: output)
    } else {
      declaration.writeYAML(to: output)
    }
  }

  private func nothingTraced(
    _ step: String, _ plan: Plan, _ reports: [TracedCommand]
  ) -> String {
    if reports.contains(where: { $0.directory != nil }) {
      return "nothing is known of what \(quoted(step)) did: the process that watched it was killed"
    }
    let isBuiltin = plan.steps(named: step).contains { operation in
      if case .helper = plan.steps[operation.index].work.known { true } else { false }
    }
    return isBuiltin
      ? "\(quoted(step)) is a built-in step: its inputs name the files that it uses"
      : "\(quoted(step)) did not run: nothing was traced"
  }

  private func content(of name: String, in directory: RunDirectory) -> [UInt8] {
    let descriptor = directory.open(name)
    guard descriptor >= 0 else { return [] }
    let file = LogFile(owning: descriptor)
    var bytes = [UInt8](repeating: 0, count: file.size)
    let count = bytes.withUnsafeMutableBytes { file.read(at: 0, into: $0) }
    directory.remove(name)
    return Array(bytes.prefix(count))
  }
}

// The current operations of a run: those of the plan, then the instances that steps were expanded
// to. Only this file knows their names, the places of their logs, which of them are groups, and
// their dependencies.

import Diagnostics
import Expressions
import Masking
package import Plans
import RunFiles
import Scheduling

/// One command's output: an attempt of a step, or one of its hooks.
struct Stream: Hashable {
  let operation: OperationID
  let role: CommandRole
}

final class RunOperations {
  /// The plan as it was when the run started.
  let plan: Plan
  private let directory: RunDirectory
  private let masker: Masker?
  /// The screen on which lines fold, and names may be too long; nil for output to programs.
  private let screen: Screen?
  private let added: AddedOperations
  private var resolvedNames: [OperationID: String] = [:]
  /// True if one line stands for all instances of a step.
  private let foldsInstances: Bool
  /// The group of each operation of the plan that is an instance; −1 for the others. Empty if there is no instance.
  private let groups: [Int32]
  /// True if the run is over: nobody has seen its logs being written.
  private var isReplayed = false
  /// A sink that is used again and again, because making one takes longer than writing a few words.
  private let wordSink = ByteSink.intoMemory()

  init(plan: Plan, directory: RunDirectory, masker: Masker?, screen: Screen? = nil) {
    self.plan = plan
    added = AddedOperations(to: plan)
    self.directory = directory
    self.masker = masker
    self.screen = screen
    foldsInstances = screen.map { !$0.unfoldsInstances } ?? false
    groups = foldsInstances ? plan.groupsOfInstances : []
  }

  /// The group whose line stands for this instance. Instances that stand for others themselves have
  /// no such line: their steps differ.
  func fold(of operation: OperationID) -> OperationID? {
    if operation.index < plan.steps.count {
      guard groups.indices.contains(operation.index) else { return nil }
      let group = groups[operation.index]
      return group < 0 ? nil : OperationID(Int(group))
    }
    return foldsInstances && !standsForOthers(operation) ? expandedGroup(of: operation) : nil
  }

  var count: Int { added.count }

  /// The number of steps as people count them now: a group counts as its members, if it has any.
  var stepCount: Int { added.stepCount }

  func append(
    _ operation: OperationID, id: String, to group: OperationID, after dependencies: [OperationID]
  ) {
    added.append(operation, id: id, from: group, after: dependencies)
  }

  /// Takes the name for people of an operation that becomes known now.
  func resolve(_ operation: OperationID, name: String?) {
    if let name { resolvedNames[operation] = name }
  }

  /// The step that was expanded, if this is an instance of one.
  func expandedGroup(of operation: OperationID) -> OperationID? { added[operation]?.origin }

  /// The operation itself, or the step of the plan that was expanded to it.
  func planned(_ operation: OperationID) -> OperationID { added.planned(operation) }

  /// The number of instances of a step, as far as they are known.
  func instanceCount(of group: OperationID) -> Int {
    added.instances(of: group)?.count ?? plan.groups[group]?.members.count ?? 0
  }

  /// True if the operation goes on beside the steps that need it.
  func isService(_ operation: OperationID) -> Bool {
    guard plan.graph.hasServices, operation.rawValue >= 0 else { return false }
    return !plan.graph.takesSlot(planned(operation))
  }

  /// True if the output may tell a CI runner something.
  func isTrusted(_ stream: Stream) -> Bool {
    stream.operation.rawValue < 0 || !step(stream.operation).settings.hasUntrustedOutput
  }

  /// The services that the operation depends on.
  func services(of operation: OperationID) -> [OperationID] {
    guard plan.graph.hasServices else { return [] }
    var found: [OperationID] = []
    forEachDependency(of: operation) { found += services(in: $0) }
    return found
  }

  private func services(in operation: OperationID) -> [OperationID] {
    guard isService(operation) else { return [] }
    var members = plan.groups[operation]?.members ?? []
    if members.isEmpty { members = added.instances(of: operation) ?? [] }
    return members.isEmpty ? [operation] : members.flatMap { services(in: $0) }
  }

  /// True if people do not count the operation, because others take its place.
  func standsForOthers(_ operation: OperationID) -> Bool { added.standsForOthers(operation) }
}

// Properties of an operation.
extension RunOperations {
  /// The step of an operation; an instance is its group's step with another id. It must not be
  /// called for the run's own hooks.
  func step(_ operation: OperationID) -> PlannedStep {
    guard let addition = added[operation] else { return plan.steps[operation.index] }
    let step = plan.steps[planned(operation).index]
    return PlannedStep(
      id: addition.id, span: step.span, work: step.work, settings: step.settings, late: step.late)
  }

  /// The settings of a step, without copying the rest of it, or of the run.
  func settings(of operation: OperationID) -> StepSettings {
    operation.rawValue < 0 ? plan.settings : plan.steps[planned(operation).index].settings
  }

  /// The id of the operation, or the words for the run itself. For programs, ids that are equal
  /// without their secrets are told apart, as in the names of logs: `deploy[token=***]~7`.
  func name(_ operation: OperationID) -> String {
    guard let id = id(operation) else { return "the run" }
    return screen == nil ? masker?.name(id, number: operation.index) ?? id : id
  }

  /// The time limit of the command of a step, or of a hook; nil if it has none, or if the hook was ended
  /// before, because the run had to end.
  func limit(of end: CommandEnd, as role: CommandRole, _ operation: OperationID) -> Nanoseconds? {
    let settings = settings(of: operation)
    guard case .hook = role else { return settings.timeout }
    guard let limit = hook(role, of: settings)?.timeout else { return nil }
    // A limit begins with the turn of the loop in which the command is started, its duration a little later.
    return end.duration + 50_000_000 >= limit ? limit : nil
  }

  /// The hook of a step, or of the run, with these settings.
  func hook(_ role: CommandRole, of settings: StepSettings) -> HookCommand? {
    guard case .hook(let kind, let index, _) = role else { return nil }
    let hooks = settings.hooks[kind]
    return hooks.indices.contains(index - 1) ? hooks[index - 1] : nil
  }

  /// The name for a place beside others: cut in its middle where a terminal is too narrow.
  func compactName(_ operation: OperationID) -> String { short(name(operation)) }

  func short(_ name: String) -> String { short(name, columns: screen?.nameColumns ?? .max) }

  /// A name that takes at most this many columns where lines are cut.
  func short(_ name: String, columns: Int) -> String {
    guard let screen, screen.clipsMessages else { return name }
    return cutInMiddle(masker?.mask(name) ?? name, columns: columns)
  }

  /// The expected columns of the name in front of a line.
  func widthOfName(_ operation: OperationID) -> Int {
    if fold(of: operation) != nil { return 0 }
    let width = displayWidth(of: plan.steps[operation.index].id)
    guard plan.standsForOthers(operation) else { return width }
    guard !groups.isEmpty, let group = plan.groups[operation], case .matrix = group.kind else {
      return 0
    }
    return width + 2 + digitCount(UInt(group.members.count))
  }

  /// The path of the log, for people.
  func logPath(of stream: Stream) -> String { directory.path(of: logName(of: stream)) }

  /// The log of a command that is running, or whose end is being reported; nil if it has none.
  func log(of stream: Stream) -> LogFile? { directory.logs.log(of: stream.operation, stream.role) }

  /// The log of a command whose end has been reported.
  func log(
    of stream: Stream, writtenTo identity: FileIdentity?
  ) throws(LogReadFailure) -> LogFile {
    if let identity {
      return try directory.log(logName(of: stream), writtenTo: identity)
    }
    guard isReplayed else { throw .neverWritten }
    guard let log = directory.log(logName(of: stream)) else { throw .replaced }
    return log
  }

  /// Announces that the following events are those of a run that is over. Its logs are opened only
  /// where they are shown.
  func beginReplay() { isReplayed = true }

  /// The end of a command. If the command was lost in a run that is over, its output is as long as its log.
  func completed(_ end: CommandEnd, of stream: Stream) -> CommandEnd {
    guard isReplayed, end.outputByteCount == 0 else { return end }
    return end.with(outputByteCount: directory.log(logName(of: stream))?.size ?? 0)
  }

  private func logName(of stream: Stream) -> String {
    let id = id(stream.operation) ?? RunDirectory.runHookName
    let name = masker?.name(id, number: stream.operation.index) ?? id
    return RunDirectory.logName(of: name, stream.role)
  }

  /// The title: `unit`, `unit (attempt 2)`, `unit (on_failure)`.
  func title(of stream: Stream) -> String {
    name(stream.operation) + (stream.role.words.map { " (\($0))" } ?? "")
  }

  /// The title and the name for people.
  func heading(of stream: Stream) -> [Piece] {
    [Piece(title(of: stream), cut: .middle)] + label(of: stream.operation)
  }

  /// The command that decided how a step failed, with the values of its expressions as far as they are known.
  func command(of settled: SettledOperation) -> ShownCommand? {
    let step = step(settled.operation)
    guard let role = settled.decisive?.role, case .hook = role else {
      return settled.command.map { ShownCommand(.script(ScriptText($0))) } ?? step.work.shown
    }
    return hook(role, of: step.settings)?.work.shown
  }

  /// The text that `write` writes. Must not be called within itself.
  func words(_ write: (ByteSink) -> Void) -> String {
    write(wordSink)
    return wordSink.takeText()
  }

  /// The first line of a command; secrets are masked before it is cut.
  func firstLine(of command: ShownCommand, columns: Int) -> String {
    let sink = ByteSink.intoMemory()
    sink.masker = masker
    sink.write(firstLineOf: command, columns: columns)
    return sink.text
  }

  /// The id, and the name for people, if there is one.
  func fullName(_ operation: OperationID) -> String {
    let label = label(of: operation).map { " \($0.text)" }.joined()
    return name(operation) + label
  }

  /// The command that resumes the run of this name; nil if its pipeline was not read from a file.
  func resumeCommand(of run: String) -> String? {
    guard let file = plan.sources.files.first, !file.path.hasPrefix("<") else { return nil }
    return "oprun resume \(run)" + stateOption
  }

  /// The command that prints the log; nil if a secret in the name of the step hides which one it is.
  func logsCommand(of stream: Stream) -> String? {
    guard let id = id(stream.operation), (masker?.mask(id) ?? id) == id, !id.containsText("***"),
      let run = directory.path.split(separator: "/").last
    else { return nil }
    return "oprun logs \(run) \(shellQuoted(id))" + stateOption
  }

  private var stateOption: String {
    let state = directory.state?.path ?? ".oprun"
    let isUsual = state == ".oprun" || state.hasSuffix("/.oprun")
    return isUsual ? "" : " --state-dir \(shellQuoted(state))"
  }

  /// The name for people, if there is one and it is known.
  func label(of operation: OperationID) -> [Piece] {
    guard let name = givenName(of: operation), name != id(operation) else { return [] }
    return [Piece("(\(shortName(name)))", .faint, gap: 1)]
  }

  func givenName(of operation: OperationID) -> String? {
    if operation.rawValue < 0 { return nil }
    if !resolvedNames.isEmpty, let name = resolvedNames[operation] { return name }
    return settings(of: operation).name.flatMap { $0.containsText("${{") ? nil : $0 }
  }

  private func id(_ operation: OperationID) -> String? { added.id(of: operation) }
}

// The dependencies of an operation.
extension RunOperations {
  /// Calls `body` for each dependency. An instance waited for the dependencies of its step; a step
  /// that was expanded also for its instances.
  func forEachDependency(of operation: OperationID, _ body: (OperationID) -> Void) {
    if let own = ownDependencies(of: operation) {
      own.forEach(body)
    } else {
      plan.graph.forEachDependency(of: planned(operation)) { body($0.from) }
    }
    added.instances(of: operation)?.forEach(body)
  }
}

extension RunOperations {
  /// The dependencies of an instance itself; nil if they are those of its step.
  func ownDependencies(of operation: OperationID) -> [OperationID]? {
    guard let own = added[operation]?.dependencies, !own.isEmpty else { return nil }
    return own
  }
}

extension Plan {
  /// The group of each operation that is an instance of a matrix and stands for no others; −1 for
  /// the others. Empty if there is no matrix.
  package var groupsOfInstances: [Int32] {
    let matrices = groups.filter { if case .matrix = $0.value.kind { true } else { false } }
    guard !matrices.isEmpty else { return [] }
    var numbers = [Int32](repeating: -1, count: steps.count)
    for (group, matrix) in matrices {
      for member in matrix.members where !standsForOthers(member) {
        numbers[member.index] = Int32(group.index)
      }
    }
    return numbers
  }
}

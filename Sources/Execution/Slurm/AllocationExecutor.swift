// The nodes of an allocation as an executor: commands run on the node that oprun is on as processes, on
// the others as steps of the job, which `srun` starts. docs/design-slurm.md, “Allocations”.

import Diagnostics
import Glibc
import Plans
import RunFiles
import Running
import Scheduling

final class AllocationExecutor: Executor {
  let local: any Executor
  let parts: SlurmParts
  let allocation: Allocation
  private var room: AllocationRoom
  /// The commands that wait for a node, in the order of their starts.
  private var held: [PlacedCommand] = []
  private var placed: [CommandKey: PlacedCommand] = [:]
  /// The commands whose `srun` this is.
  private var placedBySrun: [CommandKey: PlacedCommand] = [:]
  private var files: NodeFiles?
  /// The steps that were lost on each node.
  private var losers: [Int: Set<String>] = [:]
  private var news: [CommandNews] = []
  private var nextNumber = 1
  private var taken: [CommandKey: [UInt8]] = [:]
  private var lookedAt: Nanoseconds = 0
  private let waiting: any Waiting
  /// The variables of `srun`, which the step inherits: all but secrets.
  private let environment: CommandEnvironment

  /// The steps are being listed, for this command among others.
  private var listing: (command: PlacedCommand, key: CommandKey)?
  private var nextListing: Nanoseconds = 0

  /// How long a step that was killed is waited for.
  private static let killWait: Nanoseconds = 10_000_000_000
  /// How often the logs of other nodes are looked at.
  private static let interval: Nanoseconds = 300_000_000
  /// How long small commands may pass a large one by.
  private static let patience: Nanoseconds = 30_000_000_000

  init(
    _ local: any Executor, _ parts: SlurmParts, _ allocation: Allocation, _ waiting: any Waiting
  ) {
    self.local = local
    self.parts = parts
    self.allocation = allocation
    self.waiting = waiting
    room = AllocationRoom(allocation)
    let secret = parts.secretVariables.map(\.name)
    environment = CommandEnvironment(
      [],
      inherited: Set(inheritedEnvironment().values.keys).subtracting(secret)
        .subtracting(PlacedCommand.optionsOfJob))
  }

  /// More than run at once would only wait here, where no priority counts.
  var commandLimit: Int { min(local.commandLimit, max(1, allocation.processorCount)) }

  // MARK: Start

  func start(_ command: Command, at now: Nanoseconds) {
    guard let order = command.slurm else { return local.start(command, at: now) }
    let new = PlacedCommand(command, order, at: now)
    if let words = room.objection(to: new.share) {
      return news.append(
        .ended(command.key, CommandEnd(.notStarted(words, exitCode: 126))))
    }
    placed[command.key] = new
    held.append(new)
    place(at: now)
  }

  /// Starts what there is room for. Small commands pass a large one by, but not for ever.
  private func place(at now: Nanoseconds) {
    var found: [(PlacedCommand, Int)] = []
    var isBlocked = false
    held.removeAll { command in
      guard !isBlocked,
        let node = room.take(command.share, avoiding: command.avoided)
      else {
        isBlocked = isBlocked || now - command.startedAt > Self.patience
        return false
      }
      found.append((command, node))
      return true
    }
    for (command, node) in found {
      command.node = node
      if node == allocation.own, !command.needsStep {
        command.limitDue = command.order.timeLimit.map { sum(now, $0) }
        local.start(command.command, at: now)
        if command.tries > 0 { tellPlace(of: command, on: node) }
      } else {
        startStep(command, on: node, at: now)
      }
    }
  }

  private func startStep(_ command: PlacedCommand, on node: Int, at now: Nanoseconds) {
    command.number = nextNumber
    nextNumber += 1
    do throws(SystemError) {
      let files = try openFiles()
      let mark = files.mark(of: parts.runID).text(of: command.number)
      let name = parts.shownName(command.step, command.key)
      command.jobName = "\(SlurmCommands.jobName(name)).\(mark)"
      try files.write(
        TaskFile(
          command: parts.onNode(command.command), workspace: parts.workspace, runID: parts.runID,
          limits: TaskLimits(time: command.order.timeLimit, stop: command.order.stop),
          secrets: parts.secrets), number: command.number)
      let srun = command.srun(
        on: allocation.nodes[node].name, memory: room.granted(command.share, on: node).memory,
        [files.programPath, NodeTask.word, parts.folder],
        in: environment)
      placedBySrun[srun.key] = command
      local.start(srun, at: now)
      tellPlace(of: command, on: node)
    } catch {
      end(command, CommandEnd(.notStarted(refusalMessage(error), exitCode: 126)), at: now)
    }
  }

  private func tellPlace(of command: PlacedCommand, on node: Int) {
    let place = CommandPlacement(job: allocation.job, node: allocation.nodes[node].name)
    news.append(.event(.placed(command.key.operation, command.key.role, place)))
  }

  private func openFiles() throws(SystemError) -> NodeFiles {
    if let files { return files }
    let made = try NodeFiles.make(in: parts.folder)
    if parts.copiesProgram { try made.installProgram() }
    files = made
    return made
  }

  // MARK: Stop

  func stop(_ key: CommandKey, with signal: Int32, at now: Nanoseconds) {
    guard let command = placed[key] else { return local.stop(key, with: signal, at: now) }
    if command.stopSignal == nil { command.stopSignal = signal }
    guard let node = command.node else { return dismiss(command, signal, at: now) }
    if command.number == 0, node == allocation.own {
      return local.stop(key, with: signal, at: now)
    }
    // oprun on the node knows the stop sequence. `srun` itself would kill the step at once.
    if let claim = try? files?.claim(of: command.number) {
      local.start(command.signalling(claim, "TERM", in: environment), at: now)
    } else {
      local.stop(command.srunKey, with: SIGTERM, at: now)
    }
  }

  func kill(_ key: CommandKey, at now: Nanoseconds) {
    guard let command = placed[key] else { return local.kill(key, at: now) }
    if command.node == nil { return dismiss(command, SIGKILL, at: now) }
    guard command.number > 0 else { return local.kill(key, at: now) }
    if command.stopSignal == nil { command.stopSignal = SIGKILL }
    command.killedAt = command.killedAt ?? now
    // The step goes on when `srun` is killed.
    if let claim = try? files?.claim(of: command.number) {
      local.start(command.signalling(claim, "KILL", in: environment), at: now)
    }
    local.kill(command.srunKey, at: now)
  }

  /// Ends a command that has no node yet.
  private func dismiss(_ command: PlacedCommand, _ signal: Int32, at now: Nanoseconds) {
    held.removeAll { $0 === command }
    end(command, CommandEnd(.signalled(signal), duration: now - command.startedAt), at: now)
  }

  // MARK: The loop

  func leave(at now: Nanoseconds) { local.leave(at: now) }

  func ready(_ number: Int, at now: Nanoseconds) { local.ready(number, at: now) }

  func advance(to now: Nanoseconds) {
    local.advance(to: now)
    for item in local.takeNews() { hear(item, at: now) }
    keepLimits(at: now)
    if now >= lookedAt + Self.interval { look(at: now) }
  }

  var deadline: Nanoseconds? {
    let isLooking = placed.values.contains { $0.number > 0 && $0.node != nil }
    let limit = placed.values.compactMap(\.limitDue).min()
    return [local.deadline, isLooking ? lookedAt + Self.interval : nil, limit].compactMap(\.self)
      .min()
  }

  /// Ends the processes of this node whose time is over. Nobody else does: the run leaves the limits of what Slurm starts
  /// to Slurm.
  private func keepLimits(at now: Nanoseconds) {
    let due = placed.values.filter { $0.limitDue.map { $0 <= now } == true }
    for command in due.sorted(by: { $0.key.operation.index < $1.key.operation.index }) {
      if command.hasTimedOut {
        command.limitDue = nil
        local.kill(command.key, at: now)
      } else if command.stopSignal == nil {
        command.hasTimedOut = true
        command.limitDue = sum(now, command.order.stop.grace)
        local.stop(command.key, with: command.order.stop.signal, at: now)
      } else {
        command.limitDue = nil
      }
    }
  }

  func takeNews() -> [CommandNews] {
    for item in local.takeNews() { hear(item, at: waiting.now) }
    defer { news.removeAll(keepingCapacity: true) }
    return news
  }

  private func hear(_ item: CommandNews, at now: Nanoseconds) {
    switch item {
    case .outputGrew(let key, _) where PlacedCommand.isSrun(key): break
    case .outputWithheld(let key) where PlacedCommand.isSrun(key): break
    case .ended(let key, let end) where PlacedCommand.isSrun(key):
      parts.directory.logs.remove(of: key.operation, key.role)
      if let command = placedBySrun.removeValue(forKey: key) {
        command.srunEndedAt = now
        takeResult(of: command, at: now)
      } else if let listing, listing.key == key {
        self.listing = nil
        listed(for: listing.command, end, at: now)
      }
    case .ended(let key, let end):
      guard let command = placed[key] else { return news.append(item) }
      let timedOut = command.hasTimedOut && !end.endedByItself
      self.end(
        command, timedOut ? end.marked(timedOut: true, isStopped: end.isStopped) : end, at: now)
    case .outputGrew, .outputWithheld, .event, .stateFailed: news.append(item)
    }
  }

  func outputs(of key: CommandKey) -> [UInt8]? {
    taken.removeValue(forKey: key) ?? local.outputs(of: key)
  }

  var marks: RunMarks { local.marks }

  var startTimes: [CommandKey: Nanoseconds] {
    placed.mapValues(\.startedAt).merging(local.startTimes) { first, _ in first }
  }

  func holders(of server: LocalServer) -> [PortHolder] { local.holders(of: server) }
  var spareDescriptorCount: Int { local.spareDescriptorCount }
  var isOnCluster: Bool { true }

  func close() {
    local.close()
    if files != nil { NodeFiles.remove(from: parts.directory) }
  }

  // MARK: Ends

  /// Shows logs that have grown, and takes results that were not seen when `srun` ended.
  private func look(at now: Nanoseconds) {
    lookedAt = now
    for command in placed.values.sorted(by: { $0.number < $1.number })
    where command.number > 0 && command.node != nil {
      if command.srunEndedAt == nil {
        showLog(of: command)
      } else {
        takeResult(of: command, at: now)
      }
    }
  }

  private func takeResult(of command: PlacedCommand, at now: Nanoseconds) {
    let start = TaskStart(task: command.number, restart: allocation.restart)
    if let result = try? files?.result(of: start) {
      for event in result.events { news.append(.event(event.kind(of: command.key.operation))) }
      if let failure = result.stateFailure { news.append(.stateFailed(failure)) }
      taken[command.key] = result.outputs ?? []
      return end(command, result.end, at: now)
    }
    // What has not begun never will.
    let holder = try? files?.claim(command.number, for: NodeFiles.nobody)
    let hasBegun = holder != NodeFiles.nobody
    if hasBegun, !isOver(command, start, at: now) { return }
    if let signal = command.stopSignal {
      showLog(of: command)
      return end(
        command,
        CommandEnd(
          .signalled(signal), duration: now - command.startedAt,
          outputByteCount: command.toldByteCount), at: now)
    }
    if hasBegun, now < (command.srunEndedAt ?? now) + parts.plan.fileWait { return }
    lose(command, hasBegun: hasBegun, at: now)
  }

  /// Whether the step of a command is at an end. It goes on if something has killed its `srun` alone, and its result
  /// counts: another start would run beside it.
  private func isOver(_ command: PlacedCommand, _ start: TaskStart, at now: Nanoseconds) -> Bool {
    if command.isGone { return true }
    if command.stopSignal != nil, files?.exists(.stops, start.name) == true { return true }
    if let killedAt = command.killedAt, now >= killedAt + Self.killWait { return true }
    if listing == nil, now >= nextListing {
      nextListing = now + parts.plan.poll
      let nodes = Set(placed.values.filter { $0.srunEndedAt != nil }.compactMap(\.node)).sorted()
      let question = command.listing(of: nodes.map { allocation.nodes[$0].name }, in: environment)
      listing = (command, question.key)
      local.start(question, at: now)
    }
    return false
  }

  /// Slurm has said which steps go on, or nothing. Where it cannot be asked, a step is over with its `srun`.
  private func listed(for asker: PlacedCommand, _ end: CommandEnd, at now: Nanoseconds) {
    guard let mark = files?.mark(of: parts.runID),
      let listing = asker.listed(in: parts.directory, end)
    else { return }
    let live = listing.tasks(with: mark)
    for command in placed.values.sorted(by: { $0.number < $1.number })
    where command.number > 0 && command.srunEndedAt != nil {
      let isDown = command.node.map { listing.isDown(allocation.nodes[$0].name) } ?? false
      if live.contains(command.number), !isDown {
        command.srunEndedAt = now
      } else {
        command.isGone = true
        takeResult(of: command, at: now)
      }
    }
  }

  /// There is no result, and there will be none: the node is gone, or the step could not be started.
  private func lose(_ command: PlacedCommand, hasBegun: Bool, at now: Nanoseconds) {
    guard let node = command.node else { return }
    let name = allocation.nodes[node].name
    let words = AllocationMessage.noResult(on: name, command.lastWords(in: parts.folder))
    if isNodeLost(node, command, words, hasBegun: hasBegun), room.lose(node) {
      news.append(.event(.notice(AllocationMessage.lost(name))))
      endWhatFitsNowhere(at: now)
    }
    let request = command.order.request
    let isRefused = words.containsText("Invalid generic resource")
    let mayRepeat = (!hasBegun || request.onNodeFailure == .retry) && !isRefused
    guard mayRepeat, command.tries < request.infrastructureRetries,
      room.objection(to: command.share) == nil
    else {
      return end(
        command, CommandEnd(.lost(words), duration: now - command.startedAt), at: now)
    }
    news.append(.event(.notice(AllocationMessage.again(command.step, words))))
    room.putBack(command.share, on: node)
    command.returned(from: node)
    held.insert(command, at: 0)
    place(at: now)
  }

  /// Whether a node is gone, as Slurm says or as more than one step has shown. Of one alone, something may have killed
  /// what belongs to oprun.
  private func isNodeLost(
    _ node: Int, _ command: PlacedCommand, _ words: String, hasBegun: Bool
  ) -> Bool {
    losers[node, default: []].insert(command.step)
    return Self.nodeFailures.contains { words.containsText($0) }
      || losers[node, default: []].count > 1 || !hasBegun && command.tries >= 2
  }

  private static let nodeFailures = ["ode failure", "NODE_FAIL", "NODE FAILURE"]

  /// Ends the commands for which a node that is lost was the last one.
  private func endWhatFitsNowhere(at now: Nanoseconds) {
    for command in held {
      guard let words = room.objection(to: command.share) else { continue }
      held.removeAll { $0 === command }
      end(command, CommandEnd(.notStarted(words, exitCode: 126)), at: now)
    }
  }

  private func end(_ command: PlacedCommand, _ end: CommandEnd, at now: Nanoseconds) {
    placed[command.key] = nil
    if command.number > 0 { showLog(of: command) }
    news.append(.ended(command.key, end))
    if let node = command.node { room.putBack(command.share, on: node) }
    place(at: now)
  }

  /// Lets those who show output find the log of a command on another node.
  private func showLog(of command: PlacedCommand) {
    if command.log == nil {
      let descriptor = parts.directory.open(command.command.logName)
      guard descriptor >= 0 else { return }
      let log = LogFile(owning: descriptor)
      command.log = log
      parts.directory.logs.add(log, of: command.key.operation, command.key.role)
    }
    guard let size = command.log?.size, size > command.toldByteCount else { return }
    command.toldByteCount = size
    news.append(.outputGrew(command.key, byteCount: size))
  }
}

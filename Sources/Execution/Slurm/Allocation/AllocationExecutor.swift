// The nodes of an allocation as an executor: commands run as processes on the node that oprun is
// on, and as steps of the job, started by `srun`, on the others. docs/design-slurm.md,
// “Allocations”.

import Caching
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
  var room: AllocationRoom
  /// The commands that wait for a node, in the order of their starts.
  var held: [PlacedCommand] = []
  var placed: [CommandKey: PlacedCommand] = [:]
  /// The commands by the keys of their `srun`.
  private var placedBySrun: [CommandKey: PlacedCommand] = [:]
  private(set) var files: NodeFiles?
  /// The steps that were lost on each node.
  var losers: [Int: Set<String>] = [:]
  var news: [CommandNews] = []
  private var nextNumber = 1
  var taken: [CommandKey: [UInt8]] = [:]
  var lookedAt: Nanoseconds = 0
  private let waiting: any Waiting
  /// The variables of `srun`, which the step inherits: all but secrets.
  let environment: CommandEnvironment

  /// The listing of steps that is under way: the command whose key it has, and when it began.
  var listing: (command: PlacedCommand, key: CommandKey, since: Nanoseconds)?
  var nextListing: Nanoseconds = 0
  /// The times at which calls of Slurm that are under way have taken too long.
  var callLimits: [CommandKey: Nanoseconds] = [:]
  /// True if Slurm did not answer the last time, and that was reported.
  var isAway = false
  /// True if a step on another node may go on: the next run finds it by its files.
  var hasGivenUp = false

  /// The time for which a killed step is waited for.
  static let killWait: Nanoseconds = 10_000_000_000
  /// The time that a call of Slurm may take.
  static let callLimit: Nanoseconds = 30_000_000_000
  /// The interval at which the logs of other nodes are looked at.
  private static let interval: Nanoseconds = 300_000_000
  /// The time for which small commands may overtake a large one.
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

  /// Limited by the processors of the allocation: more commands would only wait here, where no priority counts.
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

  /// Starts the commands for which there is room. Small ones overtake a large one, but not for ever.
  func place(at now: Nanoseconds) {
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
        if command.tries > 0 {
          removeLeftovers(command.order.replaceable, in: command.command.directory ?? "")
        }
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
          secrets: parts.secrets, replaceable: command.order.replaceable,
          isRepeated: command.tries > 0), number: command.number)
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
      call(command.signalling(claim, "TERM", in: environment), at: now)
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
      call(command.signalling(claim, "KILL", in: environment), at: now)
    }
    local.kill(command.srunKey, at: now)
  }

  /// Ends a command that has no node yet.
  private func dismiss(_ command: PlacedCommand, _ signal: Int32, at now: Nanoseconds) {
    held.removeAll { $0 === command }
    end(command, CommandEnd(.signalled(signal), duration: now - command.startedAt), at: now)
  }

  // MARK: The loop

  func ready(_ number: Int, at now: Nanoseconds) { local.ready(number, at: now) }

  func advance(to now: Nanoseconds) {
    local.advance(to: now)
    for item in local.takeNews() { hear(item, at: now) }
    keepLimits(at: now)
    endCalls(at: now)
    if now >= lookedAt + Self.interval { look(at: now) }
  }

  var deadline: Nanoseconds? {
    let isLooking = placed.values.contains { $0.number > 0 && $0.node != nil }
    let limit = placed.values.compactMap(\.limitDue).min()
    return [
      local.deadline, isLooking ? lookedAt + Self.interval : nil, limit, callLimits.values.min(),
    ].compactMap(\.self).min()
  }

  /// Ends the processes of this node whose time is over. Nobody else does: the run leaves the time
  /// limits of commands with a Slurm request to Slurm.
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
      callLimits[key] = nil
      if let command = placedBySrun.removeValue(forKey: key) {
        command.srunEndedAt = now
        takeResult(of: command, at: now)
      } else if let listing, listing.key == key {
        self.listing = nil
        listed(for: listing.command, since: listing.since, end, at: now)
      }
    case .ended(let key, let end):
      guard let command = placed[key] else { return news.append(item) }
      let timedOut = command.hasTimedOut && !end.endedByItself
      self.end(
        command, timedOut ? end.marked(timedOut: true, isStopped: end.isStopped) : end, at: now)
    case .outputGrew, .outputWithheld, .beganAgain, .event, .isOver, .stateFailed:
      news.append(item)
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
    // Commands that are being ended may go on: nobody waits for the calls that ask for it.
    if placed.values.contains(where: { $0.number > 0 }) { hasGivenUp = true }
    local.close()
    if files != nil, !hasGivenUp { NodeFiles.remove(from: parts.directory) }
  }

  // MARK: Calls

  /// Calls a command of Slurm; it is ended if it hangs.
  func call(_ command: Command, at now: Nanoseconds) {
    callLimits[command.key] = sum(now, Self.callLimit)
    local.start(command, at: now)
  }

  private func endCalls(at now: Nanoseconds) {
    for key in callLimits.filter({ $0.value <= now }).keys {
      callLimits[key] = nil
      local.kill(key, at: now)
    }
  }
}

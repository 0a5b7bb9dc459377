// The ends of commands on the nodes of an allocation: results, and what it means if there is none.

import Diagnostics
import Plans
import RunFiles
import Running
import Scheduling

extension AllocationExecutor {
  /// Shows logs that have grown, and takes results that were not seen when `srun` ended.
  func look(at now: Nanoseconds) {
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

  func takeResult(of command: PlacedCommand, at now: Nanoseconds) {
    let start = TaskStart(task: command.number, restart: allocation.restart)
    if let result = try? files?.result(of: start) {
      for event in result.events { news.append(.event(event.kind(of: command.key.operation))) }
      if let failure = result.stateFailure { news.append(.stateFailed(failure)) }
      taken[command.key] = result.outputs ?? []
      return end(command, result.end, at: now)
    }
    // A task that no job has begun never will.
    let holder = try? files?.claim(command.number, for: NodeFiles.nobody)
    let hasBegun = holder != NodeFiles.nobody
    if hasBegun, !isOver(command, start, at: now) { return }
    if let signal = command.stopSignal {
      showLog(of: command)
      return end(
        command,
        CommandEnd(
          command.isGivenUp ? .abandoned : .signalled(signal), duration: now - command.startedAt,
          outputByteCount: command.toldByteCount), at: now)
    }
    if hasBegun, now < (command.srunEndedAt ?? now) + parts.plan.fileWait { return }
    lose(command, hasBegun: hasBegun, at: now)
  }

  /// True if the step of a command has ended. The step goes on if something has killed its `srun`
  /// alone, and its result counts: another start would run beside it.
  private func isOver(_ command: PlacedCommand, _ start: TaskStart, at now: Nanoseconds) -> Bool {
    if command.isGone { return true }
    if command.stopSignal != nil, files?.exists(.stops, start.name) == true { return true }
    if let killedAt = command.killedAt, now >= killedAt + Self.killWait {
      giveUp(command)
      return true
    }
    if listing == nil, now >= nextListing {
      nextListing = now + parts.plan.poll
      let nodes = Set(placed.values.filter { $0.srunEndedAt != nil }.compactMap(\.node)).sorted()
      let question = command.listing(of: nodes.map { allocation.nodes[$0].name }, in: environment)
      listing = (command, question.key, since: now)
      call(question, at: now)
    }
    return false
  }

  /// Gives up a killed step whose end nothing shows.
  private func giveUp(_ command: PlacedCommand) {
    hasGivenUp = true
    command.isGivenUp = true
    let step = (try? files?.claim(of: command.number)) ?? ""
    news.append(.event(.notice(AllocationMessage.notEnded(command.step, step))))
  }

  /// Handles the listing of the steps that go on, or a failure to get it. Where Slurm cannot be
  /// asked, a step is over with its `srun`.
  func listed(
    for asker: PlacedCommand, since: Nanoseconds, _ end: CommandEnd, at now: Nanoseconds
  ) {
    guard let mark = files?.mark(of: parts.runID) else { return }
    guard let listing = asker.listed(in: parts.directory, end) else {
      if !isAway { news.append(.event(.notice(SlurmMessage.away("squeue did not answer")))) }
      isAway = true
      return
    }
    if isAway { news.append(.event(.notice(SlurmMessage.back))) }
    isAway = false
    let live = listing.tasks(with: mark)
    for command in placed.values.sorted(by: { $0.number < $1.number })
    where command.number > 0 && command.srunEndedAt.map({ $0 <= since }) == true {
      let isDown = command.node.map { listing.isDown(allocation.nodes[$0].name) } ?? false
      if live.contains(command.number), !isDown {
        command.srunEndedAt = now
        // The step may have claimed its task after it was to be killed.
        if command.killedAt != nil, let claim = try? files?.claim(of: command.number) {
          call(command.signalling(claim, "KILL", in: environment), at: now)
        }
      } else {
        command.isGone = true
        takeResult(of: command, at: now)
      }
    }
  }

  /// Handles a command that will have no result: its node is gone, or its step could not be started.
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

  /// True if a node is gone, as Slurm says or more than one step has shown. If only one step was
  /// lost, something may have killed its processes.
  private func isNodeLost(
    _ node: Int, _ command: PlacedCommand, _ words: String, hasBegun: Bool
  ) -> Bool {
    losers[node, default: []].insert(command.step)
    return Self.nodeFailures.contains { words.containsText($0) }
      || losers[node, default: []].count > 1 || !hasBegun && command.tries >= 2
  }

  private static let nodeFailures = ["ode failure", "NODE_FAIL", "NODE FAILURE"]

  /// Ends the waiting commands that fit on no node now that one is lost.
  private func endWhatFitsNowhere(at now: Nanoseconds) {
    for command in held {
      guard let words = room.objection(to: command.share) else { continue }
      held.removeAll { $0 === command }
      end(command, CommandEnd(.notStarted(words, exitCode: 126)), at: now)
    }
  }

  func end(_ command: PlacedCommand, _ end: CommandEnd, at now: Nanoseconds) {
    placed[command.key] = nil
    if command.number > 0 { showLog(of: command) }
    if command.tries > 0 { news.append(.beganAgain(command.key)) }
    news.append(.ended(command.key, end))
    if let node = command.node { room.putBack(command.share, on: node) }
    place(at: now)
  }

  /// Adds the log of a command on another node to those that are shown.
  func showLog(of command: PlacedCommand) {
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

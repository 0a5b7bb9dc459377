// Handles processes that a command leaves behind: they are found, given a moment, and ended,
// wherever they have gone.
//
// Every descendant of a command that has ended is below a child of ours (we are the subreaper), so
// examining our own children finds whatever is left; the whole machine is not searched.

import Glibc
import Plans
import Running
import Scheduling

extension LocalProcesses {
  /// After a command ended by itself, the processes it left behind may still be writing: they are
  /// given time until no output has come for this long …
  static let idleTime: Nanoseconds = 100_000_000
  /// … or until this much time has passed in total.
  static let longestWait: Nanoseconds = 1_000_000_000
  /// The time between two checks of orphans that fork faster than they are killed.
  private static let nextLook: Nanoseconds = 2_000_000
  private static let roundsPerLook = 64

  /// Examines all commands that have ended and left something behind.
  func examineLeftovers(at now: Nanoseconds) {
    for command in commands {
      if let due = command.abandonAt, command.exit == nil, now >= due { abandon(command, now) }
      if command.exit != nil { examine(command, now) }
    }
  }

  /// When `examineLeftovers` is due even if the kernel has no news; nil if nothing is left behind.
  var leftoversDue: Nanoseconds? {
    var earliest: Nanoseconds?
    for command in commands {
      guard let exit = command.exit else {
        if let due = command.abandonAt { earliest = min(earliest ?? due, due) }
        continue
      }
      let due: Nanoseconds
      if let again = command.lookAgainAt {
        due = again
      } else if command.isKilled || !command.reportedOrphans.isEmpty {
        due = max(exit.at, command.lastOutputAt) + LocalProcesses.nextLook
      } else if command.isStopping {
        continue  // Until the kill; a death in between is news.
      } else {
        due = waitEnd(of: command, exit)
      }
      earliest = min(earliest ?? due, due)
    }
    return earliest
  }

  private func waitEnd(of command: RunningCommand, _ exit: RunningCommand.Exit) -> Nanoseconds {
    min(
      max(exit.at, command.lastOutputAt) + LocalProcesses.idleTime,
      exit.at + LocalProcesses.longestWait)
  }

  /// Finishes the command if it left nothing behind; otherwise waits, reports, or kills.
  func examine(_ command: RunningCommand, _ now: Nanoseconds) {
    guard let exit = command.exit else { return }
    var rest = remains(of: command, at: now)
    guard !rest.orphans.isEmpty else {
      return rest.isKnown ? finish(command, at: now) : noteGroup(of: command, [])
    }
    noteGroup(of: command, rest.orphans)

    if command.orphans != .kill, !command.isStopping {
      // One that is not known yet may have to be left alone, too.
      return rest.isKnown ? tolerate(rest.orphans, of: command, at: now) : ()
    }
    if let signal = command.stopSignal, !command.isKilled {
      return ask(rest.orphans, of: command, by: signal)
    }
    if !command.isKilled, now < waitEnd(of: command, exit) { return }

    if !command.isKilled {
      report(rest.orphans.filter { !isOutOfReach($0.processID) }, of: command, .kill)
    }
    for _ in 0..<LocalProcesses.roundsPerLook where !rest.orphans.isEmpty {
      rest.orphans.forEach { end($0, of: command) }
      reapOrphans(of: command)
      rest = remains(of: command, at: now)
      if rest.isKnown, rest.orphans.allSatisfy({ isOutOfReach($0.processID) }) {
        return lose(rest.orphans, of: command, at: now)
      }
    }
    if rest.isEmpty { finish(command, at: now) } else { command.lastOutputAt = now }
  }

  /// Forgets the group of a command if nobody is in it: its number may be reused, and guardians
  /// must not end that group.
  private func noteGroup(of command: RunningCommand, _ orphans: [ProcessStatus]) {
    guard !command.isGroupGone, !orphans.contains(where: { $0.isInGroup(of: command) }),
      Glibc.kill(-command.processID, 0) < 0, errno == ESRCH
    else { return }
    command.isGroupGone = true
    guardian?.note(group: 0, slot: command.pipe.token)
  }

  /// Ends every child that belongs to no known command: at the end of a run, nothing can own them. A
  /// child that has ended and was not collected, such as a command that the third signal killed, has
  /// left its own children to us and needs no look.
  func endStrays() {
    endControlGroup()
    for round in 0..<1000 {
      var areKnown = true
      let strays = children.strays(besides: [], of: nil).compactMap { ProcessStatus(of: $0) }
        .filter { process in
          guard !process.isZombie, !isOutOfReach(process.processID) else { return false }
          if let isOurs = isOurs(process) { return isOurs }
          // As long as for a process that turns up during the run.
          if round < 120 { areKnown = false }
          return round >= 120 && !isForeign(process)
        }
      if strays.isEmpty, areKnown { return dismissGuardian() }
      for stray in strays { Glibc.kill(stray.processID, SIGKILL) }
      for stray in children.strays(besides: [], of: nil) { reap(stray: stray) }
      usleep(500)
    }
  }

  /// True if the process is a descendant of this run that may not live on; nil if it cannot be known yet.
  private func isOurs(_ process: ProcessStatus) -> Bool? {
    if guardian?.isGuardian(process.processID) == true { return false }
    switch origin(of: process) {
    case .command(let number): return !tolerated.contains(number)
    case .hidden where !tolerated.isEmpty || children.adoptsOthers: return nil
    case .hidden, .nothing: return !isForeign(process)
    }
  }

  private func tolerate(
    _ orphans: [ProcessStatus], of command: RunningCommand, at now: Nanoseconds
  ) {
    orphans.forEach { children.exempt($0.processID) }
    tolerated.insert(command.number)
    if command.orphans == .warn { report(orphans, of: command, .warn) }
    finish(command, at: now)
  }

  /// Asks processes that have left the group of a stopping command to end, with everything below
  /// them; each process once.
  private func ask(_ orphans: [ProcessStatus], of command: RunningCommand, by signal: Int32) {
    var all = orphans.filter { $0.groupID != command.processID }.map(\.processID)
    while let next = all.popLast() {
      guard command.askedOrphans.insert(next).inserted else { continue }
      all += ProcessStatus.children(of: next)
      Glibc.kill(next, signal)
      Glibc.kill(next, SIGCONT)
    }
  }

  func report(
    _ orphans: [ProcessStatus], of command: RunningCommand, _ action: OrphanAction
  ) {
    let new = orphans.filter {
      !$0.isZombie && command.reportedOrphans.insert($0.processID).inserted
    }
    guard !new.isEmpty else { return }
    let processes = new.map { OrphanProcess($0) }
    news.append(
      .event(.orphansFound(command.key.operation, processes: processes, action: action)))
  }

  func report(outOfReach processes: [Int32], of command: RunningCommand) {
    let new = processes.filter { !command.reportedOutOfReach.contains($0) }
      .compactMap { OrphanProcess(outOfReach: $0) }
    guard !new.isEmpty else { return }
    command.reportedOutOfReach.formUnion(new.map(\.processID))
    news.append(.event(.outOfReach(command.key.operation, processes: new)))
  }

  /// Ends a process. A member of the group keeps the group's number in use, so the whole group can
  /// be ended at once and no fork escapes; others are ended one by one, with everything below them.
  private func end(_ process: ProcessStatus, of command: RunningCommand) {
    if process.groupID == command.processID { Glibc.kill(-command.processID, SIGKILL) }
    endAll(from: process.processID)
  }

  /// Ends a process with everything below it; returns those that cannot be signalled.
  @discardableResult
  func endAll(from root: Int32) -> [Int32] {
    var all = [root]
    var outOfReach: [Int32] = []
    while let next = all.popLast() {
      all += ProcessStatus.children(of: next)
      if Glibc.kill(next, SIGKILL) < 0, errno == EPERM { outOfReach.append(next) }
    }
    return outOfReach
  }

  /// Reaps orphans that have ended; a command that has just ended stays for `reap`.
  private func reapOrphans(of command: RunningCommand) {
    for stray in children.strays(besides: commands, of: command.number) { reap(stray: stray) }
  }

  private func reap(stray: Int32) {
    var status: Int32 = 0
    if waitpid(stray, &status, WNOHANG) == stray { children.reaped(stray) }
  }
}

// Finds the owners of children that oprun has not started.

import Glibc
import Plans
import Running
import Scheduling

extension LocalProcesses {
  /// The time for which a process that shows no environment is taken for one that starts a program.
  /// A start takes less than a millisecond, unless there is no processor for it.
  private static let longestStart: Nanoseconds = 60_000_000
  private static let nextLook: Nanoseconds = 2_000_000

  /// The processes that a command has left.
  struct Remains {
    fileprivate(set) var orphans: [ProcessStatus] = []
    /// False if it is not known yet whether a process is the command's.
    fileprivate(set) var isKnown = true

    var isEmpty: Bool { orphans.isEmpty && isKnown }
  }

  private enum Owner {
    case command(RunningCommand)
    case guardian
    /// The process may live on.
    case nobody
    /// Any of several commands may have started the process.
    case unknown
    /// The process is starting a program.
    case notYetKnown
  }

  func remains(of command: RunningCommand, at now: Nanoseconds) -> Remains {
    var remains = Remains()
    command.hasUnownedBeside = false
    for stray in children.strays(besides: commands, of: command.number) {
      guard let process = ProcessStatus(of: stray) else { continue }
      switch owner(of: process, at: now) {
      case .command(let owner):
        children.note(stray, owner: owner.number)
        if owner === command { remains.orphans.append(process) }
      case .guardian: break
      case .nobody: children.exempt(stray)
      case .unknown:
        let next = children[stray]?.nextCommand ?? nextNumber
        children.note(stray, unownedBefore: next)
        if command.number < next { command.hasUnownedBeside = true }
      case .notYetKnown: remains.isKnown = false
      }
    }
    command.lookAgainAt = remains.isKnown ? nil : now + LocalProcesses.nextLook
    return remains
  }

  /// The command that a process belongs to: the one in whose group or session it is, which the
  /// kernel knows; or whose mark or cookie it carries, if that command still runs, since a cookie
  /// may be passed on like any variable; or by elimination: the only command that was running when
  /// the process started, or the one among these to whose pipe it writes.
  private func owner(of process: ProcessStatus, at now: Nanoseconds) -> Owner {
    let known = children[process.processID]
    if let number = known?.owner, let command = commands.first(where: { $0.number == number }) {
      return .command(command)
    }
    if guardian?.isGuardian(process.processID) == true { return .guardian }
    // A command that ended may have had the same number as one that was started later.
    if let command = commands.last(where: process.isInGroup) { return .command(command) }
    let possible = commands.filter { $0.startTicks <= process.startTicks }
    var isMarked = false
    switch origin(of: process) {
    case .command(let number):
      if tolerated.contains(number) { return .nobody }
      if let command = commands.first(where: { $0.number == number }) { return .command(command) }
      isMarked = true
    case .nothing: break
    case .hidden:
      // Whatever cookie it will show, it can name only one command.
      if possible.count == 1, tolerated.isEmpty, !isForeign(process) { break }
      let start = known?.startingSince ?? now
      children.note(process.processID, startingSince: start)
      if now - start < LocalProcesses.longestStart { return .notYetKnown }
    }
    if !isMarked, isForeign(process) { return .nobody }
    if possible.count == 1 { return .command(possible[0]) }
    guard known?.nextCommand == nil else { return .unknown }
    let writer = possible.first { $0.pipe.isOutput(of: process.processID) }
    return writer.map { .command($0) } ?? .unknown
  }

  /// The command that a process comes from: by the mark that it cannot give up, or, in a run
  /// without a mark, by its cookie.
  func origin(of process: ProcessStatus) -> Cookie.Sight {
    if let number = mark?.command(of: process) { return .command(number) }
    return cookie.look(at: process.processID)
  }

  /// True if the process is an orphan of processes that oprun has not started: it has none of the
  /// marks of our processes.
  func isForeign(_ process: ProcessStatus) -> Bool {
    children.adoptsOthers && mark?.isCarried(by: process) != true
  }
}

extension ProcessStatus {
  func isInGroup(of command: RunningCommand) -> Bool {
    groupID == command.processID || sessionID == command.processID
  }
}

// Keeps track of oprun's children. As a subreaper oprun becomes the parent of every process whose
// own parent has died, so whatever a step leaves behind appears here as a child that oprun did not
// start.

import CLinux
import Glibc
import Scheduling

/// The children of this process, and which of them do not belong to a step.
struct Children: ~Copyable {
  /// Children that oprun had before it started anything (a shell that became oprun by `exec`),
  /// processes of oprun's own, and orphans that may live on.
  private let own: OwnProcesses
  /// True if orphans of processes that oprun has not started may become our children, too: of those that
  /// existed before the run, or of whatever enters a container whose first process is oprun.
  private(set) var adoptsOthers = false
  /// The strays, by number. A child keeps its number until it is reaped.
  private var strays: [Int32: Stray] = [:]
  /// The number of strays of each command.
  private var counts: [Int: Int] = [:]
  private let list: Int32
  private var buffer = [UInt8](repeating: 0, count: 4096)

  struct Stray {
    /// The number of the command that the stray belongs to; nil if none is known.
    fileprivate(set) var owner: Int?
    /// When the stray was first seen starting a program.
    fileprivate(set) var startingSince: Nanoseconds?
    /// The number of the first command that was started after the stray was seen, if nobody owned it then.
    fileprivate(set) var nextCommand: Int?
  }

  /// The list is read at the end of each command; if it is kept open, that takes one system call.
  init(isListKeptOpen: Bool, own: OwnProcesses) {
    self.own = own
    clinux_become_subreaper()
    let oprun = getpid()
    list = isListKeptOpen ? open("/proc/self/task/\(oprun)/children", O_RDONLY | O_CLOEXEC) : -1
    let foreign = current()
    adoptsOthers = !foreign.isEmpty || oprun == 1
    foreign.forEach { own.insert($0) }
  }

  deinit { if list >= 0 { close(list) } }

  mutating func exempt(_ processID: Int32) {
    forget(processID)
    own.insert(processID)
  }

  mutating func reaped(_ processID: Int32) {
    if !strays.isEmpty { forget(processID) }
    own.reaped(processID)
  }

  private mutating func forget(_ processID: Int32) {
    if let owner = strays.removeValue(forKey: processID)?.owner { counts[owner, default: 1] -= 1 }
  }

  subscript(_ processID: Int32) -> Stray? { strays[processID] }

  mutating func note(_ processID: Int32, owner: Int) {
    if strays[processID]?.owner == owner { return }
    forget(processID)
    strays[processID] = Stray(owner: owner)
    counts[owner, default: 0] += 1
  }

  mutating func note(_ processID: Int32, startingSince time: Nanoseconds) {
    strays[processID, default: Stray()].startingSince = time
  }

  mutating func note(_ processID: Int32, unownedBefore nextCommand: Int) {
    strays[processID, default: Stray()].nextCommand = nextCommand
  }

  /// Called when the command has ended, and its strays are gone or may live on.
  mutating func forget(command: Int) {
    guard counts.removeValue(forKey: command) ?? 0 > 0 else { return }
    strays = strays.filter { $0.value.owner != command }
  }

  /// The children, including zombies, that are neither exempt nor among `commands`, which are
  /// children themselves, nor known to belong to another command than that of the number. This takes one
  /// system call if there are none, whatever the number of commands and of strays of others.
  mutating func strays(besides commands: [RunningCommand], of number: Int?) -> [Int32] {
    var known = own.processIDs.count
    for command in commands where command.exit == nil { known += 1 }
    if let number, !counts.isEmpty {
      for (owner, count) in counts where owner != number { known += count }
    }
    let all = current()
    // Every known child is in the list until it is reaped, so equal numbers are equal sets.
    if all.count == known { return [] }
    let leaders = Set(commands.lazy.filter { $0.exit == nil }.map(\.processID))
    return all.filter { child in
      if leaders.contains(child) || own.processIDs.contains(child) { return false }
      guard let number, let owner = strays[child]?.owner else { return true }
      return owner == number
    }
  }

  private mutating func current() -> [Int32] {
    guard list >= 0 else { return ProcessStatus.children(of: getpid()) }
    var count = pread(list, &buffer, buffer.count, 0)
    // One call gives whole numbers, as many as fit into a page: less than that is all of them.
    guard count > buffer.count - Self.longestNumber else {
      return ProcessStatus.numbers(in: buffer[..<max(0, count)])
    }
    var text: [UInt8] = []
    while count > 0 {
      text += buffer[..<count]
      count = pread(list, &buffer, buffer.count, off_t(text.count))
    }
    return ProcessStatus.numbers(in: text)
  }

  /// Ten digits and a space; the rest is for longer ones to come.
  private static let longestNumber = 32
}

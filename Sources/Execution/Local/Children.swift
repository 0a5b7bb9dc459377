// Keeps track of our children. As a subreaper oprun becomes the parent of every process whose own
// parent has died, so whatever a step leaves behind appears here as a child that oprun did not
// start.

import CLinux
import Glibc

/// The children of this process, with those that do not belong to a step.
struct Children: ~Copyable {
  /// Children that oprun had before it started anything (a shell that became oprun by `exec`),
  /// processes of oprun's own, and orphans that may live on.
  private let own: OwnProcesses
  /// True if some existed before the run. Their orphans also become our children, and do not belong
  /// to a step.
  private(set) var hasForeignChildren = false
  private let list: Int32
  private var buffer = [UInt8](repeating: 0, count: 4096)

  /// The list is read at the end of each command; if it is kept open, that takes one system call.
  init(isListKeptOpen: Bool, own: OwnProcesses) {
    self.own = own
    clinux_become_subreaper()
    let oprun = getpid()
    list = isListKeptOpen ? open("/proc/self/task/\(oprun)/children", O_RDONLY | O_CLOEXEC) : -1
    let foreign = current()
    hasForeignChildren = !foreign.isEmpty
    foreign.forEach { own.insert($0) }
  }

  deinit { if list >= 0 { close(list) } }

  func exempt(_ processID: Int32) { own.insert(processID) }

  func reaped(_ processID: Int32) { own.reaped(processID) }

  /// The children, including zombies, that are neither exempt nor among `commands`, which are
  /// children themselves. This takes one system call if there are none, whatever the number of
  /// commands.
  mutating func strays(besides commands: [RunningCommand]) -> [Int32] {
    var known = own.processIDs.count
    for command in commands where command.exit == nil { known += 1 }
    let all = current()
    // Every known child is in the list until it is reaped, so equal numbers are equal sets.
    if all.count == known { return [] }
    let leaders = Set(commands.lazy.filter { $0.exit == nil }.map(\.processID))
    return all.filter { !leaders.contains($0) && !own.processIDs.contains($0) }
  }

  private mutating func current() -> [Int32] {
    guard list >= 0 else { return ProcessStatus.children(of: getpid()) }
    var count = pread(list, &buffer, buffer.count, 0)
    while count == buffer.count, count < 1 << 24 {
      buffer = [UInt8](repeating: 0, count: buffer.count * 2)
      count = pread(list, &buffer, buffer.count, 0)
    }
    return ProcessStatus.numbers(in: buffer[..<max(0, count)])
  }
}

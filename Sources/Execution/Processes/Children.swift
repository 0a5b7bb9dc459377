// Whose children we have. As a subreaper oprun becomes the parent of every process whose own
// parent has died, so whatever a step leaves behind shows up here as a child nobody started.

import CLinux
import Glibc

/// The children of this process, and which of them are none of a step's.
struct Children: ~Copyable {
  /// Children that oprun had before it started anything (a shell that became oprun by `exec`),
  /// the guardian, and orphans that may live on.
  private(set) var exempt: Set<Int32> = []
  /// Orphans cannot be told from the offspring of processes that were there before us.
  let hasForeignChildren: Bool
  private let list: Int32
  private var buffer = [UInt8](repeating: 0, count: 4096)

  init() {
    clinux_become_subreaper()
    let own = getpid()
    list = open("/proc/self/task/\(own)/children", O_RDONLY | O_CLOEXEC)
    exempt = Set(ProcessStatus.children(of: own))
    hasForeignChildren = !exempt.isEmpty
  }

  deinit { if list >= 0 { close(list) } }

  mutating func exempt(_ processID: Int32) { exempt.insert(processID) }

  mutating func reaped(_ processID: Int32) {
    if !exempt.isEmpty { exempt.remove(processID) }
  }

  /// Children, zombies too, that are neither exempt nor among `commands`. One system call and no
  /// allocation when there are none; O(children × commands).
  mutating func strays(besides commands: [Int32]) -> [Int32] {
    guard list >= 0 else {
      return ProcessStatus.children(of: getpid()).filter { !isKnown($0, commands) }
    }
    var count = pread(list, &buffer, buffer.count, 0)
    while count == buffer.count, count < 1 << 24 {
      buffer = [UInt8](repeating: 0, count: buffer.count * 2)
      count = pread(list, &buffer, buffer.count, 0)
    }
    var found: [Int32] = []
    var number: Int32 = 0
    for byte in buffer[..<max(0, count)] {
      if byte >= 48, byte <= 57 {
        number = number &* 10 &+ Int32(byte - 48)
      } else {
        if number > 0, !isKnown(number, commands) { found.append(number) }
        number = 0
      }
    }
    return found
  }

  private func isKnown(_ processID: Int32, _ commands: [Int32]) -> Bool {
    commands.contains(processID) || exempt.contains(processID)
  }
}

// Reads what /proc says about a process. A process may be gone by the time it is read; then the
// value is nil.

import Diagnostics
import Glibc
import Processors

/// The parts of `/proc/<id>/stat` that show where a process belongs.
struct ProcessStatus: Hashable {
  let processID: Int32
  /// The name: at most 15 bytes, with control characters replaced.
  let name: String
  let isZombie: Bool
  let parentID: Int32
  let groupID: Int32
  let sessionID: Int32
  /// The start time since boot, in clock ticks (hundredths of a second).
  let startTicks: UInt64
  /// The soft limit on resident memory, which Linux ignores: see `DescentMark`.
  let memoryLimit: UInt64
  /// False if the process has no environment: it was given an empty one, it has ended, or it is a
  /// thread of the kernel. True even between the point in `exec` at which it gives up its memory and
  /// the one at which it has its new environment, although it shows none there.
  let hasEnvironment: Bool

  init?(of processID: Int32) {
    guard let text = readSmallFile("/proc/\(processID)/stat") else { return nil }
    self.init(processID: processID, stat: text)
  }

  /// Parses a status. The name is in parentheses and may itself contain any byte, even a
  /// parenthesis.
  init?(processID: Int32, stat text: [UInt8]) {
    guard let open = text.firstIndex(of: UInt8(ascii: "(")),
      let close = text.lastIndex(of: UInt8(ascii: ")")), open < close
    else { return nil }
    let fields = text[(close + 1)...].split(separator: UInt8(ascii: " "))
    guard fields.count > 22, let state = fields[0].first else { return nil }
    let numbers = fields.map { Int64(String(decoding: $0, as: UTF8.self)) ?? 0 }
    self.processID = processID
    name = String(
      decoding: text[(open + 1)..<close].map { $0 < 32 || $0 == 127 ? UInt8(ascii: "?") : $0 },
      as: UTF8.self)
    // The first thread of a process may end before the others, which continue.
    isZombie = (state == UInt8(ascii: "Z") || state == UInt8(ascii: "X")) && numbers[17] < 2
    parentID = Int32(truncatingIfNeeded: numbers[1])
    groupID = Int32(truncatingIfNeeded: numbers[2])
    sessionID = Int32(truncatingIfNeeded: numbers[3])
    startTicks = UInt64(clamping: numbers[19])
    memoryLimit = UInt64(clamping: numbers[22])
    let (start, end) = numbers.count > 48 ? (numbers[47], numbers[48]) : (0, 0)
    let addressSpace = numbers[20]
    hasEnvironment = addressSpace > 0 && (end == 0 || end > start)
  }

  /// Every process that /proc shows.
  static func all() -> [Int32] {
    guard let folder = opendir("/proc") else { return [] }
    defer { closedir(folder) }
    var found: [Int32] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if let processID = Int32(name) { found.append(processID) }
    }
    return found
  }

  /// The direct children, including zombies.
  static func children(of processID: Int32) -> [Int32] {
    guard let text = readSmallFile("/proc/\(processID)/task/\(processID)/children") else {
      // The kernel has no CONFIG_PROC_CHILDREN.
      return all().filter { ProcessStatus(of: $0)?.parentID == processID }
    }
    return numbers(in: text)
  }

  /// The numbers in a text, which are separated by spaces.
  static func numbers(in text: some Sequence<UInt8>) -> [Int32] {
    var found: [Int32] = []
    var number: Int32?
    for byte in text {
      if byte >= 48, byte <= 57 {
        number = (number ?? 0) &* 10 &+ Int32(byte - 48)
      } else if let complete = number {
        found.append(complete)
        number = nil
      }
    }
    if let number { found.append(number) }
    return found
  }
}

/// The value of a variable in the environment that a process was started with; nil if it has none,
/// or if it may not be read. The environment is searched in pieces, however large it is. If the process
/// is starting a program, this waits until it has: it takes less than a millisecond, unless there is no
/// processor for it. A process that shows none for about 60 milliseconds is given up.
func environmentValue(of name: String, in processID: Int32) -> String? {
  for _ in 0..<400 {
    switch environment(of: processID) {
    case .text(let text): return environmentValue(of: name, in: text)
    case .none: return nil
    case .hidden: usleep(100)
    }
  }
  return nil
}

func environmentValue(of name: String, in text: [UInt8]) -> String? {
  let prefix = Array("\(name)=".utf8)
  for variable in text.split(separator: 0) where variable.starts(with: prefix) {
    return String(decoding: variable.dropFirst(prefix.count), as: UTF8.self)
  }
  return nil
}

/// The environment of a process, as /proc shows it.
enum ProcessEnvironment {
  case text([UInt8])
  /// There is no environment, or it may not be read.
  case none
  /// There is an environment that is not shown now: the process is starting a program, which may
  /// take long on a dead network disk. A process that has unmapped its environment looks the same
  /// for ever.
  case hidden
}

func environment(of processID: Int32) -> ProcessEnvironment {
  guard let text = readSmallFile("/proc/\(processID)/environ") else { return .none }
  if !text.isEmpty { return .text(text) }
  // The program may have started since then, and may even be starting the next one.
  guard let status = ProcessStatus(of: processID), status.hasEnvironment else { return .none }
  return .hidden
}

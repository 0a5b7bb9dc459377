// Finds processes that are alive on this machine and carry a mark in their arguments.

import Foundation

/// A mark that no other process has: a number of seconds for `sleep`, far longer than any test.
struct Mark: CustomStringConvertible {
  let seconds = "86400.\(UInt32.random(in: 100_000_000...999_999_999))"

  var description: String { seconds }

  /// The processes that have this mark as an argument, without zombies. An unset environment,
  /// another session or another parent hides nothing.
  var processes: [Int32] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.compactMap { Int32($0) }.filter { process in
      guard let arguments = FileManager.default.contents(atPath: "/proc/\(process)/cmdline") else {
        return false
      }
      return arguments.split(separator: 0).contains { $0.elementsEqual(seconds.utf8) }
    }
  }

  /// Ends what a probe has found, and only that.
  func endAll() {
    for process in processes { kill(process, SIGKILL) }
  }
}

/// Waits for a condition that must come true; false if it has not within the time.
func eventually(within limit: TimeInterval = 10, _ condition: () -> Bool) -> Bool {
  let end = Date().addingTimeInterval(limit)
  while Date() < end {
    if condition() { return true }
    usleep(3000)
  }
  return condition()
}

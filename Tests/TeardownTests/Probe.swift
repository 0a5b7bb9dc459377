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
func eventually(within limit: TimeInterval = 120, _ condition: () -> Bool) -> Bool {
  let end = ContinuousClock.now + .seconds(limit)
  while ContinuousClock.now < end {
    if condition() { return true }
    usleep(3000)
  }
  return condition()
}

/// How long something takes, in seconds.
func duration(_ body: () throws -> Void) rethrows -> TimeInterval {
  try ContinuousClock().measure(body) / .seconds(1)
}

// MARK: - The processes below one

func descendants(of process: Int32) -> [Int32] {
  let list = try? String(
    contentsOfFile: "/proc/\(process)/task/\(process)/children", encoding: .utf8)
  let direct = (list ?? "").split(separator: " ").compactMap { Int32($0) }
  return direct + direct.flatMap { descendants(of: $0) }
}

/// The arguments, the name first; empty if there is no such process.
func arguments(of process: Int32) -> [String] {
  let bytes = FileManager.default.contents(atPath: "/proc/\(process)/cmdline") ?? Data()
  return bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
}

/// Those that have their program already.
func guardians(of process: Int32) -> [Int32] {
  descendants(of: process).filter { arguments(of: $0).first == "guardian" }
}

/// The processes of oprun that read the file of this name for `hashFiles`.
func hashers(of file: String, below process: Int32) -> [Int32] {
  descendants(of: process).filter { process in
    if ["truncate", "sh"].contains(arguments(of: process).first) { return false }
    let folder = "/proc/\(process)/fd"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.contains {
      let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")
      return path?.hasSuffix("/\(file)") == true
    }
  }
}

/// True if the process has ended, whether or not somebody has collected it.
func hasEnded(_ process: Int32) -> Bool { state(of: process).map { $0 == "Z" } ?? true }

/// The letter of the kernel for what it does; nil if there is no such process.
func state(of process: Int32) -> Character? {
  let line = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
  return line?.split(separator: ")").last?.first { $0 != " " }
}

// Runs this program again, for what needs a process of its own.

import Foundation

/// Why a process has no result.
struct ChildFailure: Error {
  let message: String
}

/// This program as a process with other arguments. It is killed if it has not ended after the limit,
/// in seconds.
struct Child {
  private let arguments: [String]
  private let limit: Double

  init(_ arguments: [String], limit: Double) {
    self.arguments = arguments
    self.limit = limit
  }

  /// Waits for its end, and returns what it printed.
  func end() -> Result<String, ChildFailure> {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = arguments
    process.standardOutput = output
    process.standardError = output
    do { try process.run() } catch { return .failure(ChildFailure(message: "\(error)")) }
    DispatchQueue.global().asyncAfter(deadline: .now() + limit) {
      // A signal that can be blocked may be: Dispatch's threads block all of them.
      if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    if process.terminationReason == .exit { return .success(text) }
    let signal = process.terminationStatus
    return .failure(
      ChildFailure(
        message: signal == SIGKILL ? "not done after \(limit) s" : "crashed with signal \(signal)"))
  }
}

/// The time that one peer takes for the job of one row.
struct Sample {
  private static let limit = 600.0
  let row: String
  let peer: String

  /// Measures it in a process of its own. Returns nanoseconds for the whole job.
  func take(count: Int) -> Result<Int, ChildFailure> {
    Child(["--count", "\(count)", "--sample", row, peer], limit: Sample.limit).end().flatMap {
      text in
      if let time = Int(text.trimmingCharacters(in: .whitespacesAndNewlines)) {
        return .success(time)
      }
      return .failure(ChildFailure(message: "no time, but: \(text)"))
    }
  }
}

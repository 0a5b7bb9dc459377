// Reports the progress of a batch to programs: one line of JSON in the file or on the descriptor
// that `OPRUN_PROGRESS` names. docs/downloads.md, "Progress for programs", has its form.

import Diagnostics
import Glibc

/// The state of a batch at some moment.
struct BatchState: Hashable, Sendable {
  var done = 0
  var failed = 0
  let total: Int
  /// The noun for an item: `image` or `file`.
  let noun: String
  /// The number of bytes received over the network.
  var byteCount = 0
  /// The number of bytes that will have been received when the current transfers have ended.
  var expectedByteCount = 0

  /// The number of bytes per second.
  func speed(after nanoseconds: Int64) -> Int {
    Int(Double(byteCount) / (Double(max(1, nanoseconds)) / 1e9))
  }

  func line(after nanoseconds: Int64) -> String {
    "{\"version\":1,\"unit\":\(jsonString(noun)),\"total\":\(total),\"done\":\(done),"
      + "\"failed\":\(failed),\"bytes\":\(byteCount),"
      + "\"expected_bytes\":\(max(byteCount, expectedByteCount)),"
      + "\"bytes_per_second\":\(speed(after: nanoseconds))}\n"
  }
}

/// Writes lines, each of which replaces the previous one or follows it. A reader that has gone
/// away, or a file that cannot be written, is not a failure of the batch: then nothing more is
/// written.
struct ProgressReport: Sendable {
  private enum Destination: Hashable, Sendable {
    case file(String)
    case descriptor(Int32)
  }

  /// The shortest time between two lines, in nanoseconds.
  static let interval: Int64 = 400_000_000

  private let place: Destination
  private var isBroken = false
  private var last = ""

  /// Nil if the variable is not set, or for an invalid descriptor.
  init?(_ variable: String? = environmentValue("OPRUN_PROGRESS")) {
    guard let variable, !variable.isEmpty else { return nil }
    if variable.hasPrefix("fd:") {
      guard let number = Int32(variable.dropFirst(3)), number > 0, fcntl(number, F_GETFD) >= 0
      else { return nil }
      place = .descriptor(number)
    } else {
      place = .file(variable)
    }
  }

  mutating func write(_ line: String) {
    guard !isBroken, line != last else { return }
    last = line
    switch place {
    case .file(let path):
      do throws(SystemError) {
        // A device is not replaced, whichever user runs this.
        try Files.checkReplaceable(path)
        try Files.write(line, to: path, mode: 0o600)
      } catch { isBroken = true }
    case .descriptor(let number):
      // A pipe accepts a line of this length as a whole, or nothing of it if it is full: pipe(7).
      var polled = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
      guard poll(&polled, 1, 0) == 1, polled.revents & Int16(POLLOUT) != 0 else {
        isBroken = polled.revents & Int16(POLLERR | POLLNVAL) != 0
        return
      }
      let bytes = Array(line.utf8)
      isBroken = Glibc.write(number, bytes, bytes.count) != bytes.count
    }
  }
}

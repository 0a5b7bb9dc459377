// The other end of the socket of a run: sends a request, and reads the lines of the answer.

import CLinux
import Diagnostics
import Glibc
import Plans
import RunFiles

/// A connection to a run in progress.
final class RunConnection {
  enum Failure: Error {
    /// Nobody listens: the run has died, or is over.
    case gone
    /// The run accepts the connection, but does not answer.
    case silent
    /// The run can be followed only on its own machine.
    case elsewhere
    case errno(Int32)
  }

  private let descriptor: Int32
  private var buffer: [UInt8] = []
  private var start = 0
  private var hasEnded = false

  /// The time in milliseconds to wait for a socket: a run has none in its first moments, or one
  /// that refuses, and they last on a busy machine.
  private static let longestWait: Int64 = 10_000
  private static let patience: Int32 = 10_000
  /// The time in milliseconds to wait for an answer through files: the run looks every second, and
  /// file systems may be slow to show what others have written.
  private static let mailPatience: Int64 = 20_000

  /// Connects and sends the request.
  init(_ run: RunDirectory, _ request: ControlRequest) throws(Failure) {
    guard let descriptor = try Self.reach(run) else {
      self.descriptor = -1
      buffer = try Self.post(request, to: run)
      hasEnded = true
      return
    }
    self.descriptor = descriptor
    var line = Array(request.line.utf8)[...]
    while !line.isEmpty {
      let count = line.withUnsafeBytes {
        send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count < 0, errno == EAGAIN, wait(for: Int16(POLLOUT), Self.patience) { continue }
      guard count > 0 else { throw .gone }
      line = line.dropFirst(count)
    }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// A connected socket; nil if the run goes on where sockets do not reach, and has a mailbox.
  private static func reach(_ run: RunDirectory) throws(Failure) -> Int32? {
    do throws(Failure) {
      return try connect(to: run)
    } catch {
      guard case .gone = error, run.isInUse, RunMailbox(in: run) != nil else { throw error }
      return nil
    }
  }

  /// Sends a request through files; returns the whole answer.
  private static func post(
    _ request: ControlRequest, to run: RunDirectory
  ) throws(Failure) -> [UInt8] {
    if request.follows { throw .elsewhere }
    guard let mailbox = RunMailbox(in: run) else { throw .gone }
    guard let name = mailbox.ask(Array(request.line.utf8)) else { throw .errno(errno) }
    defer {
      mailbox.withdraw(name)
      if !run.isInUse { run.remove(RunMailbox.folderName) }
    }
    let end = milliseconds() + mailPatience
    while milliseconds() < end {
      let isInUse = run.isInUse
      if let answer = mailbox.takeAnswer(to: name) { return answer }
      if !isInUse { throw .gone }
      usleep(50_000)
    }
    throw .silent
  }

  private static func connect(to run: RunDirectory) throws(Failure) -> Int32 {
    let end = milliseconds() + longestWait
    while true {
      let result = clinux_connect(run.controlPath)
      if result >= 0 { return result }
      guard mayAnswerSoon(result, run), milliseconds() < end else {
        if result == -EAGAIN { throw .silent }
        throw [-ENOENT, -ECONNREFUSED].contains(result) ? .gone : .errno(-result)
      }
      usleep(5_000)
    }
  }

  /// True if a run that could not be reached may be reachable in a moment: it is busy, or does not
  /// listen yet. A run with a mailbox already listens: then its socket is on another machine, or
  /// there can be none.
  private static func mayAnswerSoon(_ result: Int32, _ run: RunDirectory) -> Bool {
    switch result {
    case -EAGAIN: true
    case -ENOENT, -ECONNREFUSED: run.isInUse && RunMailbox(in: run) == nil
    default: false
    }
  }

  /// The next line without its end; nil after the last one. Waits without limit if `patience` is nil.
  func line(patience: Int32? = RunConnection.patience) throws(Failure) -> ArraySlice<UInt8>? {
    while true {
      if let end = buffer[start...].firstIndex(of: UInt8(ascii: "\n")) {
        defer { start = end + 1 }
        return buffer[start..<end]
      }
      guard !hasEnded else { return nil }
      if start > 0 {
        buffer.removeFirst(start)
        start = 0
      }
      guard try fill(patience: patience) else { continue }
    }
  }

  /// True if no more lines will come.
  var isOver: Bool { hasEnded && !hasLine }

  /// True if a whole line has come already.
  var hasLine: Bool { buffer[start...].contains(UInt8(ascii: "\n")) }

  /// Reads the bytes that have come; false if none came in time.
  @discardableResult
  func fill(patience: Int32?) throws(Failure) -> Bool {
    guard wait(for: Int16(POLLIN), patience ?? -1) else {
      if patience == nil { return false }
      throw .silent
    }
    let old = buffer.count
    buffer += [UInt8](repeating: 0, count: 1 << 16)
    let count = buffer.withUnsafeMutableBytes {
      recv(descriptor, $0.baseAddress.map { $0 + old }, 1 << 16, Int32(MSG_DONTWAIT))
    }
    buffer.removeLast((1 << 16) - max(0, count))
    if count < 0, errno == EAGAIN || errno == EINTR { return true }
    if count <= 0 { hasEnded = true }
    return true
  }

  /// Waits until the connection is ready; false after `patience` milliseconds.
  func wait(for events: Int16, _ patience: Int32) -> Bool {
    var item = pollfd(fd: descriptor, events: events, revents: 0)
    return poll(&item, 1, patience) > 0
  }

  private static func milliseconds() -> Int64 { monotonicTime() / 1_000_000 }
}

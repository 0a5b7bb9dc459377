// An outlet for bytes to a reader that may stop reading: a pipe, a terminal, a socket. Nothing
// waits for the reader; bytes that it does not accept go into a backlog. docs/design-execution.md,
// “Readers that stop reading”.

import Diagnostics
import Glibc
import Plans
import RunFiles
import Scheduling

/// The end of a stream that a run writes to. If something is pending, the loop calls `resume` when
/// the descriptor accepts more.
final class Outlet: RunOutlet {
  /// The way in which bytes are written without waiting.
  private enum Manner {
    /// Only we use the open file description, and it does not block.
    case nonBlocking
    /// A flag of the call says that it must not block.
    case socket
    /// The open file description is shared with others and may block: poll first, and write little
    /// at a time.
    case careful
  }

  let descriptor: Int32
  private let manner: Manner
  private var backlog: Backlog
  /// True if nothing reads any more, or if bytes that are not accepted cannot be kept.
  private(set) var hasFailed = false
  /// The longest time to wait for readers in this turn, in nanoseconds.
  private var patience = Outlet.patiencePerTurn

  /// A reader that is merely slower than oprun accepts something within milliseconds. Waiting for
  /// it costs less than a detour through the disk.
  private static let longestWait: Int32 = 20
  private static let patiencePerTurn: Int64 = 100_000_000
  /// The maximum that `resume` writes, so that other work gets its turn.
  private static let longestResume = 1 << 20
  private static let resumeSize = 64 << 10

  /// Makes an outlet; nil if the target never makes a writer wait: a file, `/dev/null`.
  init?(_ target: Int32, backlog name: String, in directory: RunDirectory) {
    var status = stat()
    guard fstat(target, &status) == 0 else { return nil }
    let isSocket = status.st_mode & S_IFMT == S_IFSOCK
    guard isSocket || status.st_mode & S_IFMT == S_IFIFO || isatty(target) == 1 else { return nil }
    backlog = Backlog(name: name, in: directory)
    // O_NONBLOCK on the descriptor itself would affect every program that shares it.
    let own =
      isSocket
      ? -1 : open("/proc/self/fd/\(target)", O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
    descriptor = own >= 0 ? own : target
    manner = isSocket ? .socket : own >= 0 ? .nonBlocking : .careful
  }

  deinit { if manner == .nonBlocking { close(descriptor) } }

  /// True if bytes wait for the reader.
  var isBehind: Bool { !backlog.isEmpty }

  /// True if the kernel may copy to the descriptor now, past `write`.
  var isOpenForCopies: Bool { manner == .nonBlocking && !isBehind && !hasFailed }

  func write(_ bytes: UnsafeRawBufferPointer) {
    var rest = bytes
    while !isBehind, !rest.isEmpty, !hasFailed {
      rest = UnsafeRawBufferPointer(rebasing: rest[offer(rest)...])
      if !rest.isEmpty, !waitAMoment() { break }
    }
    if !rest.isEmpty, !hasFailed, !backlog.append(rest) { abandon() }
  }

  var pendingDescriptor: Int32? { isBehind ? descriptor : nil }

  func resume() {
    withUnsafeTemporaryAllocation(byteCount: Self.resumeSize, alignment: 16) { resume(buffer: $0) }
  }

  /// Writes as much of the backlog as the reader accepts.
  func resume(buffer: UnsafeMutableRawBufferPointer) {
    var count = 0
    while isBehind, count < Self.longestResume, !hasFailed {
      let piece = backlog.read(into: buffer)
      guard !piece.isEmpty else { return abandon() }
      let taken = offer(piece)
      backlog.drop(taken)
      if taken < piece.count { return }
      count += taken
    }
  }

  /// Gives up the bytes that have not been written yet.
  func abandon() {
    hasFailed = true
    backlog.clear()
  }

  func endTurn() { patience = Self.patiencePerTurn }

  /// Offers bytes to the reader; returns how many it accepted.
  private func offer(_ bytes: UnsafeRawBufferPointer) -> Int {
    var count = 0
    while count < bytes.count {
      let result = writeAtOnce(UnsafeRawBufferPointer(rebasing: bytes[count...]))
      if result >= 0 {
        count += result
      } else if errno == EAGAIN {
        break
      } else if errno != EINTR {
        abandon()
        break
      }
    }
    return count
  }

  private func writeAtOnce(_ bytes: UnsafeRawBufferPointer) -> Int {
    switch manner {
    case .nonBlocking: return Glibc.write(descriptor, bytes.baseAddress, bytes.count)
    case .socket:
      return send(
        descriptor, bytes.baseAddress, bytes.count,
        Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
    case .careful:
      guard isWritable(within: 0) else {
        errno = EAGAIN
        return -1
      }
      // A pipe that is ready has room for this much.
      return Glibc.write(descriptor, bytes.baseAddress, min(bytes.count, Int(PIPE_BUF)))
    }
  }

  /// Waits a moment for the reader; false if it accepts nothing, or if this turn has waited long
  /// enough.
  func waitAMoment() -> Bool {
    guard patience > 0, !hasFailed else { return false }
    let start = monotonicTime()
    let isReady = isWritable(within: Self.longestWait)
    patience -= monotonicTime() - start
    return isReady
  }

  private func isWritable(within milliseconds: Int32) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return poll(&entry, 1, milliseconds) > 0
  }
}

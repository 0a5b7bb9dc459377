// Where bytes leave for a reader who may stand still: a pipe, a terminal, a socket. Nobody waits
// for the reader; what it does not take goes into a backlog. docs/design-execution.md, “Readers
// that stop reading”.

import Glibc
import Plans
import RunFiles
import Scheduling

/// The end of a stream that a run writes to. Whoever sees that something is pending calls `resume`
/// when the descriptor takes more.
final class Outlet: RunOutlet {
  /// How bytes are written without waiting.
  private enum Manner {
    /// The description is ours alone, and does not block.
    case nonBlocking
    /// The call says that it must not block.
    case socket
    /// The description is shared with others and may block: a look first, and little at a time.
    case careful
  }

  let descriptor: Int32
  private let manner: Manner
  private var backlog: Backlog
  /// Nobody reads any more, or what nobody takes cannot be kept.
  private(set) var hasFailed = false
  /// How long readers may still be waited for in this turn, in nanoseconds.
  private var patience = Outlet.patiencePerTurn

  /// A reader that is merely slower than oprun takes something within milliseconds. To wait for it
  /// costs less than a detour over the disk.
  private static let longestWait: Int32 = 20
  private static let patiencePerTurn: Int64 = 100_000_000
  /// What `resume` writes at most, so that other things get their turn.
  private static let longestResume = 1 << 20
  private static let resumeSize = 64 << 10

  /// Nil if the target never makes a writer wait: a file, `/dev/null`.
  init?(_ target: Int32, backlog name: String, in directory: RunDirectory) {
    var status = stat()
    guard fstat(target, &status) == 0 else { return nil }
    let isSocket = status.st_mode & S_IFMT == S_IFSOCK
    guard isSocket || status.st_mode & S_IFMT == S_IFIFO || isatty(target) == 1 else { return nil }
    backlog = Backlog(name: name, in: directory)
    // O_NONBLOCK on the descriptor itself would be seen by every program that shares it.
    let own =
      isSocket
      ? -1 : open("/proc/self/fd/\(target)", O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
    descriptor = own >= 0 ? own : target
    manner = isSocket ? .socket : own >= 0 ? .nonBlocking : .careful
  }

  deinit { if manner == .nonBlocking { close(descriptor) } }

  /// Something waits for the reader.
  var isBehind: Bool { !backlog.isEmpty }

  /// Whether the kernel may copy to the descriptor now, past `write`.
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

  /// Writes from the backlog what the reader takes.
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

  /// What is not written yet is not written any more.
  func abandon() {
    hasFailed = true
    backlog.clear()
  }

  func endTurn() { patience = Self.patiencePerTurn }

  /// Answers how many bytes the reader took.
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
      // A pipe that is ready has room for as much.
      return Glibc.write(descriptor, bytes.baseAddress, min(bytes.count, Int(PIPE_BUF)))
    }
  }

  /// False if the reader takes nothing, or was waited for long enough in this turn.
  func waitAMoment() -> Bool {
    guard patience > 0, !hasFailed else { return false }
    let start = nanoseconds()
    let isReady = isWritable(within: Self.longestWait)
    patience -= nanoseconds() - start
    return isReady
  }

  private func isWritable(within milliseconds: Int32) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return poll(&entry, 1, milliseconds) > 0
  }

  private func nanoseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}

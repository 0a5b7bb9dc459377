// The pipe that a command writes its output to. Both ends stay open here, so it serves one command
// after the other without a system call between them. A pseudo-terminal takes its place for a command that
// wants one; it serves that command alone.

import CLinux
import Diagnostics
import Glibc
import RunFiles

/// A pipe, or a terminal, and its token in the set of watched descriptors.
final class OutputPipe {
  let token: Int
  let isTerminal: Bool
  private let readEnd: Descriptor
  private var writeEndIfOpen: Int32
  private var isLarge = false

  /// The largest size of a pipe: 1 MiB, the most that an unprivileged process may ask for.
  static let largestSize = 1 << 20

  init(token: Int) throws(SystemError) {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw .last("cannot create a pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    // This affects only our end: the command's end is another open file description and stays
    // blocking.
    _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
    self.token = token
    isTerminal = false
    readEnd = Descriptor(owning: ends[0])
    writeEndIfOpen = movedUp(ends[1])
  }

  /// Opens a terminal; its output is read as from a pipe.
  init(terminal size: TerminalSize, token: Int) throws(SystemError) {
    var device: Int32 = -1
    let screen = clinux_open_terminal(&device, size.rows, size.columns)
    guard screen >= 0 else { throw SystemError("cannot open a terminal", errno: -screen) }
    self.token = token
    isTerminal = true
    readEnd = Descriptor(owning: screen)
    writeEndIfOpen = device
  }

  deinit { closeWriteEnd() }

  func resize(to size: TerminalSize) {
    if isTerminal { clinux_resize_terminal(input, size.rows, size.columns) }
  }

  var input: Int32 { readEnd.number }

  /// The end for the command; −1 once closed.
  var output: Int32 { writeEndIfOpen }

  /// Closes our write end: from now on the pipe ends when the last process that writes to it is
  /// gone.
  func closeWriteEnd() {
    if writeEndIfOpen >= 0 { close(writeEndIfOpen) }
    writeEndIfOpen = -1
  }

  private lazy var identity: FileIdentity? = {
    var status = stat()
    return fstat(input, &status) == 0 ? FileIdentity(status) : nil
  }()

  /// True if it is the standard output or the standard error of a process.
  func isOutput(of processID: Int32) -> Bool {
    guard !isTerminal, let identity else { return false }
    return [STDOUT_FILENO, STDERR_FILENO].contains { descriptor in
      var status = stat()
      return stat("/proc/\(processID)/fd/\(descriptor)", &status) == 0
        && FileIdentity(status) == identity
    }
  }

  /// Lets a busy command write a mebibyte ahead, so that it and oprun alternate less often.
  func widen() {
    guard !isLarge, !isTerminal else { return }
    isLarge = true
    clinux_set_pipe_size(readEnd.number, Int32(OutputPipe.largestSize))
  }
}

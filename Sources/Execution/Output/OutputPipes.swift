// The pipes and terminals of a run, by their tokens in the set of watched descriptors: each is used
// by a command, waits for the next one, or is still held by processes that oprun no longer waits
// for.

import Diagnostics
import Glibc

/// Hands out pipes and terminals. Tokens are reused, so there are no more of them than were needed at the same time.
final class OutputPipes {
  private enum Use {
    case free
    case idle(OutputPipe)
    case command(RunningCommand)
    /// The pipe is read until it ends, so that no process gets SIGPIPE, and the bytes are dropped.
    case abandoned(OutputPipe)
  }

  private var uses: [Use] = []
  private var idle: [OutputPipe] = []
  private var free: [Int] = []
  /// The abandoned pipes, the oldest first.
  private var abandoned: [OutputPipe] = []
  private let waiting: KernelWaiting
  /// The largest number of abandoned pipes that stay open.
  private let spareCount: Int

  init(_ waiting: KernelWaiting, spare spareCount: Int) {
    self.waiting = waiting
    self.spareCount = spareCount
  }

  /// A pipe that nobody else holds.
  func pipe() throws(SystemError) -> OutputPipe {
    if let pipe = idle.popLast() { return pipe }
    return try watched { token throws(SystemError) in try OutputPipe(token: token) }
  }

  func terminal(_ size: TerminalSize) throws(SystemError) -> OutputPipe {
    try watched { token throws(SystemError) in try OutputPipe(terminal: size, token: token) }
  }

  private func watched(
    _ make: (Int) throws(SystemError) -> OutputPipe
  ) throws(SystemError) -> OutputPipe {
    let token = free.last ?? uses.count
    let pipe = try make(token)
    try waiting.add(pipe.input, for: .executor, number: token)
    if free.popLast() == nil { uses.append(.free) }
    return pipe
  }

  func use(_ pipe: OutputPipe, by command: RunningCommand) { uses[pipe.token] = .command(command) }

  /// Takes back a pipe that no process has open any more. A terminal serves one command; the rest
  /// of its session is hung up.
  func putBack(_ pipe: OutputPipe) {
    if pipe.isTerminal { return close(pipe) }
    uses[pipe.token] = .idle(pipe)
    idle.append(pipe)
  }

  /// Takes back a pipe that a process may have open, so that no other command gets it.
  func abandon(_ pipe: OutputPipe) {
    if pipe.isTerminal { return close(pipe) }
    pipe.closeWriteEnd()
    uses[pipe.token] = .abandoned(pipe)
    abandoned.append(pipe)
    if abandoned.count > spareCount { close(abandoned.removeFirst()) }
  }

  private func close(_ pipe: OutputPipe) {
    waiting.remove(pipe.input)
    uses[pipe.token] = .free
    free.append(pipe.token)
  }

  /// Called when a pipe is readable: returns the command whose output it is. Output of no command is dropped.
  func ready(_ token: Int) -> RunningCommand? {
    switch uses[token] {
    case .free: break
    case .command(let command): return command
    case .idle(let pipe):
      guard drain(pipe) > 0 else { break }
      // A process that oprun does not know has got the other end.
      idle.removeAll { $0 === pipe }
      abandon(pipe)
    case .abandoned(let pipe):
      guard drain(pipe) == 0 else { break }
      abandoned.removeAll { $0 === pipe }
      close(pipe)
    }
    return nil
  }

  private func drain(_ pipe: OutputPipe) -> Int {
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    return read(pipe.input, &piece, piece.count)
  }
}

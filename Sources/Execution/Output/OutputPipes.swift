// The pipes and terminals of a run, by their tokens in the set of watched descriptors: each is used by a
// command, waits for the next one, or is still held by processes that oprun no longer waits for.

import Diagnostics
import Glibc

/// Tokens are used again, so there are no more of them than were needed at the same time.
final class OutputPipes {
  private enum Use {
    case free
    case idle(OutputPipe)
    case command(RunningCommand)
    /// It is read until it ends, so that no process gets SIGPIPE, and what comes is dropped.
    case abandoned(OutputPipe)
  }

  private var uses: [Use] = []
  private var idle: [OutputPipe] = []
  private var free: [Int] = []
  /// The oldest first.
  private var abandoned: [OutputPipe] = []
  private let waiting: KernelWaiting
  /// How many may be abandoned and open.
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

  /// No process has it open any more. A terminal serves one command; what is left of its session is hung up.
  func putBack(_ pipe: OutputPipe) {
    if pipe.isTerminal { return close(pipe) }
    uses[pipe.token] = .idle(pipe)
    idle.append(pipe)
  }

  /// A process may have it open, and so no other command gets it.
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

  /// Something can be read: answers whose output it is. That of nobody is dropped.
  func ready(_ token: Int) -> RunningCommand? {
    switch uses[token] {
    case .free: break
    case .command(let command): return command
    case .idle(let pipe):
      guard drain(pipe) > 0 else { break }
      // Somebody was given its other end, whom oprun does not know of.
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

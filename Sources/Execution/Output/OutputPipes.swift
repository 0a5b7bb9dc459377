// The pipes and terminals of a run, by their tokens in the set of watched descriptors: each is used by a
// command, waits for the next one, or is still held by processes that oprun no longer waits for.

import Diagnostics
import Glibc
import Scheduling

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
  /// Those that oprun is not woken for yet.
  private var unwatched: [OutputPipe] = []
  private let waiting: KernelWaiting
  /// How many may be abandoned and open.
  private let spareCount: Int

  init(_ waiting: KernelWaiting, spare spareCount: Int) {
    self.waiting = waiting
    self.spareCount = spareCount
  }

  /// How long a pipe may be used before oprun is woken for what is printed, unless it is wide already.
  private static let longestSilence: Nanoseconds = 10_000_000

  /// A pipe that nobody else holds.
  func pipe() throws(SystemError) -> OutputPipe {
    while let pipe = idle.popLast() {
      if !OutputPipe.hasOutput(pipe.input) { return pipe }
      // Somebody was given its other end, whom oprun does not know of.
      abandon(pipe)
    }
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

  /// With `mayWait`, what the command prints in its first moments is only looked at when it ends, or after these
  /// moments.
  func use(
    _ pipe: OutputPipe, by command: RunningCommand, mayWait: Bool, at now: Nanoseconds
  ) {
    uses[pipe.token] = .command(command)
    pipe.since = now
    let isWatched = !mayWait || pipe.isLarge || pipe.isTerminal
    if isWatched == pipe.isWatched { return }
    watch(pipe, isWatched)
    if isWatched { unwatched.removeAll { $0 === pipe } } else { unwatched.append(pipe) }
  }

  private func watch(_ pipe: OutputPipe, _ isWatched: Bool) {
    waiting.change(
      pipe.input, for: .executor, number: pipe.token, isWatched ? .reading : .leaving)
    pipe.isWatched = isWatched
  }

  /// When `advance` is due; nil if oprun is woken for every pipe.
  var deadline: Nanoseconds? {
    unwatched.lazy.map(\.since).min().map { $0 + Self.longestSilence }
  }

  /// From now on oprun is woken for those that have been used, or idle, for a moment.
  func advance(to now: Nanoseconds) {
    if unwatched.isEmpty { return }
    unwatched.removeAll { pipe in
      guard now >= pipe.since + Self.longestSilence else { return false }
      watch(pipe, true)
      return true
    }
  }

  /// No process has it open any more. A terminal serves one command; what is left of its session is hung up.
  func putBack(_ pipe: OutputPipe, at now: Nanoseconds) {
    if pipe.isTerminal { return close(pipe) }
    pipe.since = now
    uses[pipe.token] = .idle(pipe)
    idle.append(pipe)
  }

  /// A process may have it open, and so no other command gets it.
  func abandon(_ pipe: OutputPipe) {
    if pipe.isTerminal { return close(pipe) }
    if !pipe.isWatched {
      watch(pipe, true)
      unwatched.removeAll { $0 === pipe }
    }
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

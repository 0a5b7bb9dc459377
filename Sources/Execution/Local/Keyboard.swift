// The keys of the terminal that oprun was started in, while they go to a command: raw mode, and back.
// The keys that end a run (Ctrl-C, Ctrl-\) stay with oprun.

import CLinux
import Glibc
import Plans
import Running
import Scheduling

/// The terminal behind standard input.
final class Keyboard {
  /// An open file of our own, on which a read never waits: another reader of the terminal, such as a pager,
  /// may be faster, and the open file of standard input is shared with others.
  private let file: Descriptor

  /// Who gets the keys: the command, and its terminal's screen.
  private(set) var reader: (key: CommandKey, screen: Int32)?
  /// The settings of the terminal as they were before.
  private var before = termios()
  /// Typed, and not taken yet.
  private var pending: [UInt8] = []
  /// When what is pending is tried again.
  private(set) var due: Nanoseconds?

  private static let nextTry: Nanoseconds = 20_000_000

  /// Nil if standard input is no terminal of ours.
  init?() {
    guard tcgetpgrp(STDIN_FILENO) >= 0,
      case .success(let file) = Descriptor.open("/dev/tty", O_RDWR | O_NONBLOCK | O_NOCTTY)
    else { return nil }
    self.file = file
    // To set a terminal is an error in the background, and no reason to be stopped.
    clinux_block_signals(1 << UInt64(SIGTTOU - 1))
  }

  var descriptor: Int32 { file.number }

  /// The terminal is ours to read: a job in the background would be stopped.
  var isInForeground: Bool { tcgetpgrp(descriptor) == getpgrp() }

  /// Answers the modes from before; nil if they cannot be set.
  func give(to key: CommandKey, _ screen: Int32) -> termios? {
    guard clinux_take_keys(descriptor, &before) == 0 else { return nil }
    reader = (key, screen)
    return before
  }

  /// The terminal is as it was.
  func takeBack() {
    guard reader != nil else { return }
    tcsetattr(descriptor, TCSANOW, &before)
    reader = nil
    pending = []
    due = nil
  }

  var isPending: Bool { !pending.isEmpty }

  /// Something was typed. False if nothing more will be.
  func pass(at now: Nanoseconds) -> Bool {
    var keys = [UInt8](repeating: 0, count: 1024)
    guard isInForeground else { return false }
    let count = read(descriptor, &keys, keys.count)
    if count <= 0 { return count < 0 && (errno == EAGAIN || errno == EINTR) }
    pending += keys[..<count]
    retry(at: now)
    return true
  }

  /// A terminal takes no more than a line that nobody has read yet.
  func retry(at now: Nanoseconds) {
    due = nil
    guard let reader, !pending.isEmpty else { return }
    let count = write(reader.screen, pending, pending.count)
    if count > 0 { pending.removeFirst(count) }
    if !pending.isEmpty { due = now + Self.nextTry }
  }
}

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

  /// The command that gets the keys, and its terminal's screen.
  private(set) var reader: (key: CommandKey, screen: Int32)?
  /// The settings that the terminal had before.
  private var before = termios()
  /// The keys that were typed and not taken yet.
  private var pending: [UInt8] = []
  /// When the pending keys are written again.
  private(set) var due: Nanoseconds?

  private static let nextTry: Nanoseconds = 20_000_000

  /// Nil if standard input is not a terminal that oprun may control.
  init?() {
    guard tcgetpgrp(STDIN_FILENO) >= 0,
      case .success(let file) = Descriptor.open("/dev/tty", O_RDWR | O_NONBLOCK | O_NOCTTY)
    else { return nil }
    self.file = file
    // Setting a terminal in the background is an error, and no reason to be stopped.
    clinux_block_signals(1 << UInt64(SIGTTOU - 1))
  }

  var descriptor: Int32 { file.number }

  /// True if the terminal is ours to read: a job in the background would be stopped.
  var isInForeground: Bool { tcgetpgrp(descriptor) == getpgrp() }

  /// Gives the keys to a command. Returns the earlier settings; nil if they cannot be changed.
  func give(to key: CommandKey, _ screen: Int32) -> termios? {
    guard clinux_take_keys(descriptor, &before) == 0 else { return nil }
    reader = (key, screen)
    return before
  }

  /// Restores the settings of the terminal.
  func takeBack() {
    guard reader != nil else { return }
    tcsetattr(descriptor, TCSANOW, &before)
    reader = nil
    pending = []
    due = nil
  }

  var isPending: Bool { !pending.isEmpty }

  /// Passes typed keys on; false if no more will come.
  func pass(at now: Nanoseconds) -> Bool {
    var keys = [UInt8](repeating: 0, count: 1024)
    guard isInForeground else { return false }
    let count = read(descriptor, &keys, keys.count)
    if count <= 0 { return count < 0 && (errno == EAGAIN || errno == EINTR) }
    pending += keys[..<count]
    retry(at: now)
    return true
  }

  /// Writes pending keys again: a terminal takes no more than a line that nobody has read yet.
  func retry(at now: Nanoseconds) {
    due = nil
    guard let reader, !pending.isEmpty else { return }
    let count = write(reader.screen, pending, pending.count)
    if count > 0 { pending.removeFirst(count) }
    if !pending.isEmpty { due = now + Self.nextTry }
  }
}

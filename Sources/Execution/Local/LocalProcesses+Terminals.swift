// Commands with a terminal of their own: its size, and which command gets the keys of the terminal
// that oprun was started in.

import CLinux
import Diagnostics
import Glibc
import Plans
import Running
import Scheduling

struct TerminalSize: Hashable {
  var rows: UInt16
  var columns: UInt16

  /// The size of the terminal that oprun was started in; 24 lines of 80 columns without one.
  static var current: TerminalSize {
    for descriptor in [STDOUT_FILENO, STDERR_FILENO, STDIN_FILENO] {
      var size = winsize()
      if ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 {
        return TerminalSize(rows: size.ws_row, columns: size.ws_col)
      }
    }
    return TerminalSize(rows: 24, columns: 80)
  }
}

extension LocalProcesses {
  /// The number under which keys are reported.
  static let keys = Int(UInt32.max) - 1
  /// The number under which a new size of the terminal is reported.
  static let resizing = Int(UInt32.max) - 2

  /// A terminal for one command.
  func terminal() throws(SystemError) -> OutputPipe {
    if keyboard == nil { keyboard = Keyboard() }
    return try pipes.terminal(.current)
  }

  /// Ends the input of commands with a terminal if nobody can ever type anything: a reader gets the
  /// end of input within a second, even a program that drops what was typed before it asked. A job
  /// in the background may come to the foreground.
  func tendTerminals(at now: Nanoseconds) {
    guard let due = terminalsDue, due <= now else { return }
    let readers = commands.filter { $0.pipe.isTerminal && $0.exit == nil }
    if keyboard == nil {
      for command in readers { _ = write(command.pipe.input, "\u{4}", 1) }
    } else {
      giveKeys()
    }
    let isDone = readers.isEmpty || keyboard?.reader != nil
    terminalsDue = isDone ? nil : now + LocalProcesses.nextLookAtTerminals
  }

  private static let nextLookAtTerminals: Nanoseconds = 1_000_000_000

  func resizeTerminals() {
    let size = TerminalSize.current
    for command in commands { command.pipe.resize(to: size) }
  }

  /// Gives the keys to a command with a terminal that runs alone; they stay with it until it ends.
  func giveKeys() {
    guard let keyboard, keyboard.reader == nil, keyboard.isInForeground else { return }
    let running = commands.filter { !$0.key.role.isProbe }
    guard running.count == 1, let command = running.first, command.pipe.isTerminal,
      command.exit == nil, let before = keyboard.give(to: command.key, command.pipe.input)
    else { return }
    guardian?.note(terminal: before)
    watchKeys()
    news.append(.event(.terminalTaken(command.key.operation, command.key.role)))
  }

  /// Called before the end of the command is reported.
  func takeBackKeys(of command: RunningCommand) {
    guard let keyboard, let reader = keyboard.reader, reader.key == command.key else { return }
    takeBackKeys()
    terminalsDue = 0
    news.append(.event(.terminalReturned(command.key.operation, command.key.role)))
  }

  func takeBackKeys() {
    guard let keyboard, keyboard.reader != nil else { return }
    ignoreKeys()
    keyboard.takeBack()
    guardian?.note(terminal: nil)
  }

  /// Called when something was typed.
  func passKeys(at now: Nanoseconds) {
    guard let keyboard, keyboard.pass(at: now), !keyboard.isPending else { return ignoreKeys() }
  }

  func retryKeys(at now: Nanoseconds) {
    guard let keyboard, let due = keyboard.due, due <= now else { return }
    keyboard.retry(at: now)
    if !keyboard.isPending { watchKeys() }
  }
}

extension LocalProcesses {
  private func watchKeys() {
    guard let keyboard else { return }
    try? waiting.add(keyboard.descriptor, for: .executor, number: LocalProcesses.keys)
  }

  private func ignoreKeys() { if let keyboard { waiting.remove(keyboard.descriptor) } }
}

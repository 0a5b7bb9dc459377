// A command that is watched: it runs below a process of this program, which reports what it uses.
// docs/design-execution.md, “Watching a command”

import CLinux
import Diagnostics
import Expressions
import Glibc
import Plans
import Running

package enum CommandTrace {
  /// The suffix of the names of reports, which are in the directory of the run.
  package static let ending = ".trace"

  /// The first word of the command line that makes this program watch a command.
  package static let word = "@trace"

  /// Watches a command and ends the process, if these are the words of such a command line.
  package static func watch(_ commandLine: [UnsafePointer<CChar>]) {
    guard commandLine.count > 3 else { return }
    let words = commandLine.dropFirst(3).map { UnsafeMutablePointer(mutating: $0) } + [nil]
    let status = words.withUnsafeBufferPointer { clinux_trace(commandLine[2], $0.baseAddress) }
    if status < 0 {
      let text = "oprun: cannot trace: \(SystemError.reason(-status))\n"
      _ = Array(text.utf8).withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
      exit(126)
    }
    exit(
      clinux_exited(status) != 0 ? clinux_exit_status(status) : 128 + clinux_signal(status))
  }
}

extension Command.Work {
  /// The work below a process that watches it. Built-in steps report themselves what they use.
  func traced(into report: String) -> Command.Work {
    let words: [String]
    switch self {
    case .words(let plain): words = plain
    case .script(let text, let shell): words = Interpreter.arguments(shell, script: text)
    case .builtin: return self
    }
    return .words(["/proc/self/exe", CommandTrace.word, report] + words)
  }
}

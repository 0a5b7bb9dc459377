// Local processes as an executor, as the loop sees them.

import Diagnostics
import Glibc
import Plans
import Running
import Scheduling

extension LocalProcesses: Executor {
  /// The number, in addition to those of pipes, under which ends of children are reported.
  static let children = Int(UInt32.max)

  var commandLimit: Int { limits.commandCount }

  func start(_ command: Command, at now: Nanoseconds) {
    do throws(SystemError) {
      try launch(command, at: now)
    } catch {
      let end = CommandEnd(.notStarted(refusalMessage(error), exitCode: 126))
      news.append(.ended(command.key, end))
    }
  }

  func ready(_ number: Int, at now: Nanoseconds) {
    if number == LocalProcesses.children { reap(at: now) } else { absorb(token: number, at: now) }
  }

  func advance(to now: Nanoseconds) { examineLeftovers(at: now) }

  var deadline: Nanoseconds? { leftoversDue }

  func takeNews() -> [CommandNews] {
    defer { news.removeAll(keepingCapacity: true) }
    return news
  }

  func close() { endStrays() }
}

// Local processes as an executor, as the loop sees them.

import Diagnostics
import Glibc
import Plans
import Running
import Scheduling

extension LocalProcesses: Executor {
  /// The number, in addition to those of pipes, under which ends of children are reported.
  static let children = Int(UInt32.max)

  var marks: RunMarks {
    RunMarks(cookie: cookie.prefix, mark: mark.map { String($0.value) })
  }

  var commandLimit: Int { limits.commandCount }

  var startTimes: [CommandKey: Nanoseconds] {
    Dictionary(commands.map { ($0.key, $0.startedAt) }) { first, _ in first }
  }

  /// Half of the spare descriptors, none in a frugal run, because the others are for pipes of
  /// processes that live on.
  var spareDescriptorCount: Int {
    limits.isFrugal ? 0 : limits.spareCount(besides: wanted) / 2
  }

  func start(_ command: Command, at now: Nanoseconds) {
    do throws(SystemError) {
      if try !searches(for: command, at: now) { try launch(command, at: now) }
    } catch {
      failed(command.key, error)
    }
  }

  /// Reports a command that cannot be started as ended.
  func failed(_ key: CommandKey, _ error: SystemError) {
    let end = CommandEnd(.notStarted(refusalMessage(error), exitCode: 126))
    news.append(.ended(key, end))
  }

  func ready(_ number: Int, at now: Nanoseconds) {
    switch number {
    case LocalProcesses.children: reap(at: now)
    case LocalProcesses.keys: passKeys(at: now)
    case LocalProcesses.resizing: resizeTerminals()
    case LocalProcesses.searches: takeSearches(at: now)
    default: absorb(token: number, at: now)
    }
  }

  func advance(to now: Nanoseconds) {
    naps = 0
    forgetRules()
    examineLeftovers(at: now)
    retryKeys(at: now)
    tendTerminals(at: now)
  }

  var deadline: Nanoseconds? {
    earlier(earlier(leftoversDue, keyboard?.due), terminalsDue)
  }

  func takeNews() -> [CommandNews] {
    // Emptying an array that others hold makes another one.
    if news.isEmpty { return [] }
    defer { news.removeAll(keepingCapacity: true) }
    return news
  }

  func close() {
    takeBackKeys()
    endStrays()
    temporary.collect()
  }
}

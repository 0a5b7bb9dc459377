// An executor that simulates another machine: its answers are late, some are lost, some come twice.
// The script of a command says what it does.

import Glibc
import Plans
import RunFiles
import Running
import Scheduling

@testable import Execution

/// Runs scripts such as `7@2; lost@3+0@9 stop@4`: what each start of the command does in turn, the
/// last for all further ones. In seconds since the start, or since it was asked:
///
/// `0@2` ends with 0 after 2 s, `sig9@2` by signal 9, `lost@2` without a status; `refused@2` cannot be
/// started, which is known after 2 s; what is joined by `+` is told one after the other for the same
/// start. `out@1` prints `words`, `x=1` gives an output. A command that is asked to end does after
/// 1 s, or `stop@4`, one that is killed after 1 s, or `kill@4`; `deaf` hears no signal but KILL. `seen@2` ends with 0
/// after 2 s, which is known once somebody looks.
final class LateExecutor: Executor {
  private struct Behaviour {
    var stopDelay = second
    var killDelay = second
    var isDeaf = false
  }

  let commandLimit: Int
  private(set) var started: [Command] = []
  private(set) var isClosed = false
  private let directory: RunDirectory
  private var behaviours: [CommandKey: Behaviour] = [:]
  private var coming: [(at: Nanoseconds, news: CommandNews)] = []
  private var news: [CommandNews] = []
  private var unseen: (at: Nanoseconds, news: CommandNews)?

  init(_ directory: RunDirectory, commandLimit: Int = .max) {
    self.directory = directory
    self.commandLimit = commandLimit
  }

  func start(_ command: Command, at now: Nanoseconds) {
    started.append(command)
    guard case .script(let text, _) = command.work else { return }
    let turns = text.split(separator: ";")
    let turn = turns[min(number(of: command), turns.count) - 1]
    var behaviour = Behaviour()
    for word in turn.split(separator: " ") {
      for part in word.split(separator: "+") { play(part, command, &behaviour, at: now) }
    }
    behaviours[command.key] = behaviour
  }

  /// The number of the start, counted from 1.
  private func number(of command: Command) -> Int {
    switch command.key.role {
    case .attempt(let number): number
    case .probe: command.key.repetition
    case .hook: 1
    }
  }

  private func play(
    _ word: Substring, _ command: Command, _ behaviour: inout Behaviour, at now: Nanoseconds
  ) {
    if word.contains("=") {
      write("\(word)\n", to: command.outputsName)
      return
    }
    let parts = word.split(separator: "@")
    let delay = parts.count > 1 ? (Nanoseconds(parts[1]) ?? 0) * second : 0
    let end: CommandEnd.Status
    switch parts[0] {
    case "hang": return
    case "deaf":
      behaviour.isDeaf = true
      return
    case "stop":
      behaviour.stopDelay = delay
      return
    case "kill":
      behaviour.killDelay = delay
      return
    case "seen":
      unseen = (now + delay, .ended(command.key, CommandEnd(.exited(0), duration: delay)))
      return
    case "out":
      let size = write("words\n", to: command.logName, of: command.key)
      coming.append((now + delay, .outputGrew(command.key, byteCount: size)))
      return
    case "lost": end = .lost("the node went away")
    case "refused": end = .notStarted("no such partition", exitCode: 126)
    case let signal where signal.hasPrefix("sig"): end = .signalled(Int32(signal.dropFirst(3)) ?? 0)
    case let code: end = .exited(Int32(code) ?? -1)
    }
    coming.append((now + delay, .ended(command.key, CommandEnd(end, duration: delay))))
  }

  @discardableResult
  private func write(_ text: String, to name: String, of key: CommandKey? = nil) -> Int {
    guard let file = try? directory.make(name) else { return 0 }
    let log = LogFile(owning: file)
    if let key { directory.logs.add(log, of: key.operation, key.role) }
    return Glibc.write(file, text, text.utf8.count)
  }

  func stop(_ key: CommandKey, with signal: Int32, at now: Nanoseconds) {
    guard let behaviour = behaviours[key], !behaviour.isDeaf else { return }
    coming.append((now + behaviour.stopDelay, .ended(key, CommandEnd(.signalled(signal)))))
  }

  /// Kills the command; what was to be reported about it is still reported.
  func kill(_ key: CommandKey, at now: Nanoseconds) {
    guard let behaviour = behaviours[key] else { return }
    coming.append((now + behaviour.killDelay, .ended(key, CommandEnd(.signalled(9)))))
  }

  func hasUnseenNews(at now: Nanoseconds) -> Bool { unseen.map { $0.at <= now } ?? false }

  func ready(_ number: Int, at now: Nanoseconds) {
    if let unseen { news.append(unseen.news) }
    unseen = nil
  }

  func advance(to now: Nanoseconds) {
    let due = coming.filter { $0.at <= now }.sorted { $0.at < $1.at }
    coming.removeAll { $0.at <= now }
    news += due.map(\.news)
  }

  var deadline: Nanoseconds? { coming.map(\.at).min() }

  func takeNews() -> [CommandNews] {
    defer { news = [] }
    return news
  }

  func close() { isClosed = true }
}

// Confined commands whose readable files are not known, because their steps have no key: a process
// of oprun looks for the files before they start. Meanwhile such commands can be ended like running
// ones.

import Caching
import Diagnostics
import Glibc
import Plans
import RunFiles
import Running
import Scheduling

/// A command that starts once the files that it can read are found.
final class WaitingStart {
  let command: Command
  let process: AnswerProcess
  let since: Nanoseconds

  init(_ command: Command, _ process: AnswerProcess, since: Nanoseconds) {
    self.command = command
    self.process = process
    self.since = since
  }
}

extension LocalProcesses {
  /// The number under which answers are reported.
  static let searches = Int(UInt32.max) - 3

  private static var purpose: String { "look for the files that a step can read" }

  /// Begins to look for the files that the command can read; false if they are known.
  func searches(for command: Command, at now: Nanoseconds) throws(SystemError) -> Bool {
    guard command.confinement?.hasOpenPatterns == true,
      let search = confiner.search(for: command, in: directory, at: now)
    else { return false }
    let process = try AnswerProcess.start(
      Self.purpose, named: "oprun-search", own: waiting.ownProcesses
    ) {
      let found = search()
      var writer = ByteWriter()
      writer.add(found != nil)
      writer.add(found ?? []) { $0.add(data: $1.characters.map { UInt8(bitPattern: $0) }) }
      return writer.bytes
    }
    try waiting.add(process.output, for: .executor, number: Self.searches)
    waitingStarts.append(WaitingStart(command, process, since: now))
    return true
  }

  /// Starts the commands whose readable files are known now.
  func takeSearches(at now: Nanoseconds) {
    for start in waitingStarts {
      guard let answer = start.process.take() else { continue }
      forget(start)
      do throws(SystemError) {
        try launch(start.command, found: try Self.files(in: answer), at: now)
      } catch {
        failed(start.command.key, error)
      }
    }
  }

  /// Gives up a command that was not started yet; false if there is no such command.
  func dropSearch(_ key: CommandKey, _ signal: Int32, at now: Nanoseconds) -> Bool {
    guard let start = waitingStarts.first(where: { $0.command.key == key }) else { return false }
    forget(start)
    news.append(.ended(key, CommandEnd(.signalled(signal), duration: now - start.since)))
    return true
  }

  private func forget(_ start: WaitingStart) {
    waiting.remove(start.process.output)
    waitingStarts.removeAll { $0 === start }
  }

  /// The files of an answer; nil if there were too many.
  private static func files(in answer: [UInt8]) throws(SystemError) -> [FileName]? {
    do throws(ByteReadFailure) {
      var reader = ByteReader(answer[...])
      guard try reader.flag() else { return nil }
      return try reader.list { reader throws(ByteReadFailure) in
        FileName(joining: try reader.data().map { CChar(bitPattern: $0) })
      }
    } catch {
      throw SystemError("cannot \(purpose)", errno: EPIPE)
    }
  }
}

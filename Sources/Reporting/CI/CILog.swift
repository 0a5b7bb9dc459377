// The log of a CI job, which a run shares with a runner: the group that is open in it, and the
// messages that wait until it is closed.

import Diagnostics
import Masking
import Plans
import Scheduling

/// The facts about the runner that reads the output of a run.
package struct CIOptions {
  package let runner: CIRunner
  /// The directory from which the runner resolves paths; absolute.
  package var root: String?
  /// The directory from which the paths of pipeline files count; absolute.
  package var directory = "/"
  /// A word that nobody can guess.
  package var makeWord: () -> String = CIOptions.randomWord

  package init(_ runner: CIRunner) { self.runner = runner }

  package static func randomWord() -> String {
    (0..<2).map { _ in hexadecimal(.random(in: .min ... .max), digits: 16) }.joined()
  }
}

/// The groups of a run in the log.
///
/// Messages that come while a group is open wait until it is closed: they are not part of it.
final class CILog {
  private struct Open {
    let group: CIGroup
    /// The line after output that is not trusted.
    let fenceEnd: String?
  }

  let options: CIOptions
  let dialect: any CIDialect
  private var open: Open?
  private var count = 0
  private var run = ""
  private var start: Nanoseconds = 0
  /// The time of the latest event.
  private var now: Nanoseconds = 0
  /// The time since which messages wait.
  private var waitingSince: Nanoseconds?
  /// True if too much waits.
  private var isFull = false

  /// The longest time for which messages wait, however much a group prints.
  private static let longestWait: Nanoseconds = 10_000_000_000
  /// The number of waiting bytes from which there are too many: some thousand lines.
  private static let mostWaiting = 32 << 10

  init(_ options: CIOptions) {
    self.options = options
    dialect = options.runner.dialect
  }

  func advance(to event: RunEvent) {
    now = event.time
    if case .began(let beginning) = event.kind {
      (run, start) = (beginning.runID, beginning.clock.wallTime)
    }
  }

  /// When the group must be interrupted because messages wait; `silence` is when it would be for being silent.
  func deadline(silence: Nanoseconds) -> Nanoseconds? {
    waitingSince.map { isFull ? $0 : min($0 + Self.longestWait, silence) }
  }

  /// Notes at the end of a turn whether messages wait.
  func noteWaiting(_ messages: ByteSink) {
    isFull = messages.heldByteCount >= Self.mostWaiting
    if messages.heldByteCount == 0 {
      waitingSince = nil
    } else if waitingSince == nil {
      waitingSince = now
    }
  }

  private var seconds: Int { Int((start + now) / 1_000_000_000) }

  /// A text for a command. It is masked first, because an escaped secret is no longer found.
  func words(_ text: String, _ sink: ByteSink) -> String {
    let masked = sink.masker?.mask(text) ?? text
    return CommandGuard.harmless(masked, dialect.rules)
  }
}

// Groups.
extension CILog {
  /// What is to be shown of a command at the head of its group.
  struct Heading {
    let id: String
    let title: String
    let state: CIGroup.State
  }

  func openGroup(_ heading: Heading, isTrusted: Bool, on screen: Screen) {
    closeGroup(on: screen)
    count += 1
    let group = CIGroup(
      run: run, number: count, id: words(heading.id, screen.output),
      title: words(oneLine(heading.title), screen.output),
      state: heading.state, time: seconds)
    screen.turnToOutput()
    screen.output.write(dialect.opening(of: group) ?? "> \(group.title)")
    screen.output.writeNewline()
    let fence = isTrusted ? nil : dialect.fence(options.makeWord())
    if let fence {
      screen.output.write(fence.before)
      screen.output.writeNewline()
    }
    if !isTrusted {
      screen.output.guardRules = dialect.rules.subtracting(fence == nil ? [] : .colons)
    }
    screen.messages.hold()
    open = Open(group: group, fenceEnd: fence?.after)
  }

  func closeGroup(isFailure: Bool = false, on screen: Screen) {
    guard let closing = open else { return }
    open = nil
    screen.output.guardRules = nil
    var group = closing.group
    group.time = seconds
    for line in [closing.fenceEnd, dialect.closing(of: group, isFailure: isFailure)] {
      guard let line else { continue }
      screen.output.write(line)
      screen.output.writeNewline()
    }
    screen.output.flush()
    screen.messages.release()
    waitingSince = nil
  }

  /// Begins the summary, which is not part of a group.
  func beginSummary(_ title: String, on screen: Screen) {
    closeGroup(on: screen)
    let title = words(oneLine(title), screen.messages)
    if let line = dialect.heading(ofSummary: title) { writeOwn(line, to: screen.messages) }
  }

  /// Writes a command among messages.
  func writeOwn(_ line: String, to messages: ByteSink) {
    messages.write(CommandGuard.ownCommand)
    messages.write(line)
    messages.writeNewline()
  }
}

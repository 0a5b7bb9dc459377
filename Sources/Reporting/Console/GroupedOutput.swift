// One group of output for each command. The oldest running command that prints is shown as its log
// grows; the output of the others waits in their logs until its group is closed.

import Plans
import RunFiles
import Scheduling

struct GroupedOutput: StepOutput {
  private struct Talker {
    let stream: Stream
    let start: Nanoseconds
    var byteCount: Int
  }

  private let screen: Screen
  private let operations: RunOperations
  private var live: LiveGroup?
  /// Running commands with output that has not been shown yet.
  private var talkers: [Talker] = []
  /// Commands that ended while another group was open, with the file of their output.
  private var waiting: [(stream: Stream, log: FileIdentity?)] = []
  /// What services print comes in lines with their names, where no group is open: they would hold the
  /// stage for ever.
  private var services: PrefixedOutput
  private var serviceNews: [Stream: Int] = [:]

  init(screen: Screen, operations: RunOperations) {
    self.screen = screen
    self.operations = operations
    services = PrefixedOutput(screen: screen, operations: operations)
  }

  private func isService(_ stream: Stream) -> Bool {
    switch stream.role {
    case .attempt: operations.isService(stream.operation)
    case .hook, .probe: false
    }
  }

  mutating func grew(_ stream: Stream, to byteCount: Int, start: Nanoseconds) {
    if isService(stream) {
      if live == nil {
        services.grew(stream, to: byteCount, start: start)
      } else {
        serviceNews[stream] = byteCount
      }
      return
    }
    if let live {
      if live.stream == stream {
        live.show(upTo: byteCount)
      } else if let index = talkers.firstIndex(where: { $0.stream == stream }) {
        talkers[index].byteCount = byteCount
      } else {
        talkers.append(Talker(stream: stream, start: start, byteCount: byteCount))
      }
    } else {
      open(stream, upTo: byteCount)
    }
  }

  private mutating func open(_ stream: Stream, upTo byteCount: Int) {
    guard let log = operations.log(of: stream) else { return }
    live = LiveGroup(stream, log, title: operations.title(of: stream), screen: screen)
    live?.show(upTo: byteCount)
  }

  mutating func ended(_ stream: Stream) {
    talkers.removeAll { $0.stream == stream }
    serviceNews[stream] = nil
    let log = operations.log(of: stream)
    if let live, live.stream != stream {
      waiting.append((stream, log?.identity))
      return
    }
    if isService(stream) { return services.ended(stream) }
    if let live {
      live.close()
    } else if let log {
      showWhole(stream, log)
    } else {
      screen.writeUnreadable(operations.logPath(of: stream), .neverWritten)
    }
    live = nil
    openNext()
  }

  private func showWhole(_ stream: Stream, _ log: LogFile) {
    LiveGroup(stream, log, title: operations.title(of: stream), screen: screen).close()
  }

  private mutating func openNext() {
    for (stream, identity) in waiting {
      do throws(LogReadFailure) {
        let log = try operations.log(of: stream, writtenTo: identity)
        if isService(stream) { services.close(stream, log) } else { showWhole(stream, log) }
      } catch {
        screen.writeUnreadable(operations.logPath(of: stream), error)
      }
    }
    waiting.removeAll(keepingCapacity: true)
    for (stream, byteCount) in serviceNews { services.grew(stream, to: byteCount, start: 0) }
    serviceNews.removeAll()
    guard let index = talkers.indices.min(by: { talkers[$0].start < talkers[$1].start }) else {
      return
    }
    let next = talkers.remove(at: index)
    open(next.stream, upTo: next.byteCount)
  }
}

/// A group that is open on the screen: how far its log has been shown.
private final class LiveGroup {
  let stream: Stream
  private let log: LogFile
  private let screen: Screen
  private var filter: TerminalFilter
  /// The position up to which it has been shown, always the start of a line.
  private var shown = 0
  /// The position up to which there is no newline after `shown`.
  private var searched = 0

  init(_ stream: Stream, _ log: LogFile, title: String, screen: Screen) {
    self.stream = stream
    self.log = log
    self.screen = screen
    filter = TerminalFilter(keepsColor: screen.colorsOutput)
    screen.writeOpening(of: title)
  }

  /// Shows only whole lines, because a message may come between any two calls.
  func show(upTo byteCount: Int) {
    guard byteCount > searched else { return }
    let range = searched..<byteCount
    searched = byteCount
    guard let end = log.endOfLastLine(in: range, buffer: screen.scratch) else { return }
    screen.turnToOutput()
    shown = screen.copy(shown..<end, of: log, filter: &filter, isEnd: true)
  }

  func close() {
    let size = log.size
    if shown < size {
      screen.turnToOutput()
      shown = screen.copy(shown..<size, of: log, filter: &filter, isEnd: true)
      if filter.hasColored { screen.output.write("\u{1b}[0m") }
      if !log.endsInNewline(at: size, buffer: screen.scratch) { screen.output.writeNewline() }
    } else if filter.hasColored {
      screen.turnToOutput()
      screen.output.write("\u{1b}[0m")
    }
  }
}

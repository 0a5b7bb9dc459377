// One group of output for each command. The oldest running command that prints is shown as its log
// grows; what the others print waits in their logs until its group is closed.

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
  /// Running, with output that is not shown yet.
  private var talkers: [Talker] = []
  /// Ended while another group was open.
  private var waiting: [Stream] = []

  init(screen: Screen, operations: RunOperations) {
    self.screen = screen
    self.operations = operations
  }

  mutating func grew(_ stream: Stream, to byteCount: Int, start: Nanoseconds) {
    if let live {
      if live.stream == stream {
        live.show(upTo: byteCount)
      } else if let index = talkers.firstIndex(where: { $0.stream == stream }) {
        talkers[index].byteCount = byteCount
      } else {
        talkers.append(Talker(stream: stream, start: start, byteCount: byteCount))
      }
    } else {
      live = LiveGroup(stream, operations: operations, screen: screen)
      live?.show(upTo: byteCount)
    }
  }

  mutating func ended(_ stream: Stream) {
    talkers.removeAll { $0.stream == stream }
    if let live, live.stream != stream {
      waiting.append(stream)
      return
    }
    if let live { live.close() } else { showWhole(stream) }
    live = nil
    openNext()
  }

  private func showWhole(_ stream: Stream) {
    if let group = LiveGroup(stream, operations: operations, screen: screen) {
      group.close()
    } else {
      screen.writeUnreadable(operations.log(of: stream))
    }
  }

  private mutating func openNext() {
    for stream in waiting { showWhole(stream) }
    waiting.removeAll(keepingCapacity: true)
    guard let index = talkers.indices.min(by: { talkers[$0].start < talkers[$1].start }) else {
      return
    }
    let next = talkers.remove(at: index)
    live = LiveGroup(next.stream, operations: operations, screen: screen)
    live?.show(upTo: next.byteCount)
  }
}

/// A group that is open on the screen: how far its log has been shown.
private final class LiveGroup {
  let stream: Stream
  private let log: LogFile
  private let screen: Screen
  private var filter: TerminalFilter
  /// Shown up to here, always the start of a line.
  private var shown = 0
  /// No newline between `shown` and here.
  private var searched = 0

  /// Nil if the log cannot be read.
  init?(_ stream: Stream, operations: RunOperations, screen: Screen) {
    guard let log = LogFile(path: operations.log(of: stream)) else { return nil }
    self.stream = stream
    self.log = log
    self.screen = screen
    filter = TerminalFilter(keepsColor: screen.colorsOutput)
    screen.writeOpening(of: operations.title(of: stream))
  }

  /// Shows whole lines only: a message may come between any two calls.
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

// The group of one command's output that is on the screen: how far its log has been shown.

import RunFiles

/// How much of a group was shown, and in which colours it goes on.
struct ShownGroup {
  /// The label in front of the next lines.
  fileprivate enum Label {
    case opening, continuation, none
  }

  /// The position up to which the log was shown: the start of a line, unless a last line without an
  /// end is being shown.
  fileprivate(set) var shown = 0
  /// The position before which no newline follows `shown`.
  fileprivate var searched = 0
  fileprivate var filter: TerminalFilter
  fileprivate var label = Label.opening

  /// Untrusted output for a CI runner is text without colours.
  init(_ screen: Screen, isTrusted: Bool) {
    filter = TerminalFilter(keepsColor: screen.colorsOutput && isTrusted, rail: screen.rail)
  }
}

/// The place where groups are shown, and the names of their operations.
struct Stage {
  let screen: Screen
  let operations: RunOperations
}

/// A group that is open on the screen.
final class LiveGroup {
  let stream: Stream
  private let log: LogFile
  private let stage: Stage
  private(set) var state: ShownGroup
  /// The number of bytes of the log that can be read.
  private var known = 0
  /// The state of the command when the group is opened.
  private let command: CIGroup.State
  private let isTrusted: Bool
  /// True if the shown text ends within a line.
  private var isInLine = false

  private var screen: Screen { stage.screen }

  /// Opens a group; it goes on where it was left if there is a state.
  init(
    _ stream: Stream, _ log: LogFile, on stage: Stage, from state: ShownGroup?,
    as command: CIGroup.State = .running
  ) {
    self.stream = stream
    self.log = log
    self.stage = stage
    self.command = command
    isTrusted = stage.screen.ci == nil || stage.operations.isTrusted(stream)
    self.state = state ?? ShownGroup(stage.screen, isTrusted: isTrusted)
  }

  /// True if everything known of the log was shown.
  var isCaughtUp: Bool { state.searched >= known }

  /// Shows whole lines only: a message may come between any two calls. Looks at no more than `room`
  /// bytes, and reduces that.
  func show(upTo byteCount: Int? = nil, within room: inout Int) {
    known = max(known, byteCount ?? 0)
    guard state.searched < known, room > 0 else { return }
    let range = state.searched..<(state.searched + min(room, known - state.searched))
    room -= range.count
    state.searched = range.upperBound
    guard let end = log.endOfLastLine(in: range, buffer: screen.scratch) else { return }
    copy(upTo: end)
  }

  /// Ends the group; false if there is no room for the rest.
  func finish(isFailure: Bool, within room: inout Int) -> Bool {
    let size = log.size
    show(upTo: size, within: &room)
    guard isCaughtUp, showRest(upTo: size, within: &room) else { return false }
    screen.ci?.closeGroup(isFailure: isFailure, on: screen)
    return true
  }

  /// Shows a last line without an end; false if there is no room for all of it.
  private func showRest(upTo size: Int, within room: inout Int) -> Bool {
    guard state.shown < size else { return true }
    let isLast = size - state.shown <= room
    // A smaller piece might end within its only character.
    guard isLast || room >= screen.scratch.count else { return false }
    let end = isLast ? size : state.shown + room
    room -= end - state.shown
    if end > state.shown {
      copy(upTo: end, isEnd: isLast)
      if !isLast {
        isInLine = true
        screen.suspendLine()
      }
    }
    guard isLast else { return false }
    screen.output.writeNewline()
    return true
  }

  /// Lets lines of another group come next; the lines after those say again whose they are.
  func interrupt() {
    if state.label == .none { state.label = .continuation }
    screen.ci?.closeGroup(on: screen)
  }

  private func copy(upTo end: Int, isEnd: Bool = true) {
    if isInLine, !screen.resumeLine() { state.filter.beginLine() }
    isInLine = false
    // A CI group is closed by whoever writes between its lines.
    if screen.ci == nil, state.label == .none, screen.subject != stream.operation {
      state.label = .continuation
    }
    writeLabel()
    screen.subject = stream.operation
    screen.turnToOutput()
    state.filter.resumeColors(to: screen.output)
    let reached = screen.copy(
      state.shown..<end, of: log, filter: &state.filter, isEnd: isEnd)
    // If nobody reads any more, or the log cannot be read, nothing comes later either.
    state.shown = reached > state.shown ? reached : end
    state.filter.suspendColors(to: screen.output)
  }

  private func writeLabel() {
    defer { state.label = .none }
    guard state.label != .none, screen.isShared else { return }
    let title = stage.operations.heading(of: stream)
    let isOpening = state.label == .opening
    guard let ci = screen.ci else {
      return screen.writeOpening(
        of: isOpening ? title : title + [Piece("(continued)", .faint, gap: 1)])
    }
    let words = title.map(\.text) + (isOpening ? [] : ["(continued)"])
    let heading = CILog.Heading(
      id: stage.operations.name(stream.operation), title: words.joined(separator: " "),
      state: command)
    ci.openGroup(heading, isTrusted: isTrusted, on: screen)
  }
}

// The group of one command's output that is on the screen: how far its log has been shown.

import RunFiles

/// What of a group was shown, and in which colours it goes on.
struct ShownGroup {
  /// What stands in front of the next lines.
  fileprivate enum Label {
    case opening, continuation, none
  }

  /// Shown up to here: the start of a line, unless a last line without an end is being shown.
  fileprivate(set) var shown = 0
  /// No newline between `shown` and here.
  fileprivate var searched = 0
  fileprivate var filter: TerminalFilter
  fileprivate var label = Label.opening

  /// Output that a CI runner may not obey is text without colours.
  init(_ screen: Screen, isTrusted: Bool) {
    filter = TerminalFilter(keepsColor: screen.colorsOutput && isTrusted, rail: screen.rail)
  }
}

/// Where groups are shown, and what they are called there.
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
  /// How many bytes of the log can be read.
  private var known = 0
  /// The command, when what is shown is shown.
  private let command: CIGroup.State
  private let isTrusted: Bool
  /// What was shown ends within a line.
  private var isInLine = false

  private var screen: Screen { stage.screen }

  /// Goes on where it was left if there is a state.
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

  /// Whether everything was shown that was known to be there.
  var isCaughtUp: Bool { state.searched >= known }

  /// Shows whole lines only: a message may come between any two calls. No more is looked at than `room`
  /// says, which shrinks.
  func show(upTo byteCount: Int? = nil, within room: inout Int) {
    known = max(known, byteCount ?? 0)
    guard state.searched < known, room > 0 else { return }
    let range = state.searched..<(state.searched + min(room, known - state.searched))
    room -= range.count
    state.searched = range.upperBound
    guard let end = log.endOfLastLine(in: range, buffer: screen.scratch) else { return }
    copy(upTo: end)
  }

  /// Nothing more will come. False if there is no room for the rest.
  func finish(isFailure: Bool, within room: inout Int) -> Bool {
    let size = log.size
    show(upTo: size, within: &room)
    guard isCaughtUp, showRest(upTo: size, within: &room) else { return false }
    screen.ci?.closeGroup(isFailure: isFailure, on: screen)
    return true
  }

  /// Shows a last line that has no end. False if there is no room for all of it.
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

  /// Lines of another group come next; those that follow say whose they are.
  func interrupt() {
    if state.label == .none { state.label = .continuation }
    screen.ci?.closeGroup(on: screen)
  }

  private func copy(upTo end: Int, isEnd: Bool = true) {
    if isInLine, !screen.resumeLine() { state.filter.beginLine() }
    isInLine = false
    // A CI's own groups are closed by whoever writes between their lines.
    if screen.ci == nil, state.label == .none, screen.subject != stream.operation {
      state.label = .continuation
    }
    writeLabel()
    screen.subject = stream.operation
    screen.turnToOutput()
    state.filter.resumeColors(to: screen.output)
    let reached = screen.copy(
      state.shown..<end, of: log, filter: &state.filter, isEnd: isEnd)
    // Of what nobody takes any more, or what cannot be read, nothing comes later either.
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
    ci.openGroup(
      (title.map(\.text) + (isOpening ? [] : ["(continued)"])).joined(separator: " "),
      of: stage.operations.name(stream.operation), command, isTrusted: isTrusted, on: screen)
  }
}

// The two streams of a run, and the order between them: step output on one, messages on the other.
// Both streams are often the same terminal, file or pipe; then the order in which they are written
// must be kept.

package import Masking
package import Plans
package import RunFiles
import Scheduling

/// How a run is shown.
package struct ScreenOptions {
  package var color = ColorChoice.auto
  /// True to use only ASCII marks.
  package var usesASCII = false
  /// True if every instance of a step has a line.
  package var unfoldsInstances = false
  /// True if a terminal shows what is running in a block below everything else.
  package var isLive = false
  /// Masks everything that is written.
  package var masker: Masker?
  /// The command that resumes the run, as is known when it is over; nil if there is none.
  package var resumeCommand: () -> String? = { nil }
  /// The directory for output that readers do not accept at once, so that nothing waits for them;
  /// nil means that oprun waits for them.
  package var backlogFolder: RunDirectory?
  /// The CI runner that reads both streams.
  package var ci: CIOptions?

  package init() {}
}

/// Standard output and standard error of a run.
package final class Screen {
  /// The sink for step output.
  let output: ByteSink
  /// The sink for progress, notices and the summary; the same one where both streams end up in the same
  /// place, unless that is a terminal, to whose width only messages are cut, or only messages are in ASCII.
  let messages: ByteSink
  /// True if both streams end up in the same place.
  let isShared: Bool
  /// True if output goes to a terminal, which would obey control characters.
  let filtersOutput: Bool
  let colorsOutput: Bool
  let colorsMessages: Bool
  let usesASCII: Bool
  let unfoldsInstances: Bool
  /// The terminal with a block at its bottom; nil if there is none.
  let pane: Pane?
  /// The log that oprun and a CI runner share; nil if people, files or programs read.
  let ci: CILog?
  let resumeCommand: () -> String?
  /// The operation of the last line: a reader takes output that follows for its own.
  var subject: OperationID?
  /// True if steps may colour their output.
  package var hasColoredOutput: Bool { colorsOutput }
  /// The columns that a line of a message should take.
  private(set) var columns = Screen.columnsElsewhere
  /// True if messages go to a terminal, which would wrap wider lines.
  let clipsMessages: Bool
  /// A buffer for reading a log: used within one call, never across calls.
  let scratch: UnsafeMutableRawBufferPointer

  /// The sink whose last output was passed on as it is, and does not end in a newline.
  private var unfinished: ByteSink?

  private static let scratchSize = 64 << 10
  /// The columns of a line where there is no terminal: longer text is hardly text.
  private static let columnsElsewhere = 4096
  private static let narrowestName = 8

  package init(
    output: Int32, messages: Int32, options: ScreenOptions, environment: (String) -> String?
  ) {
    isShared = Terminal.isSameTarget(output, messages)
    let outlet = options.backlogFolder.flatMap { Outlet(output, backlog: "@output", in: $0) }
    // There is one backlog for streams to the same place; otherwise the order would be lost.
    let other =
      isShared
      ? outlet : options.backlogFolder.flatMap { Outlet(messages, backlog: "@messages", in: $0) }
    clipsMessages = options.ci == nil && Terminal.width(of: messages) != nil
    pane =
      options.isLive && clipsMessages
      ? Pane(messages, other, wrapsAgain: Terminal.wrapsAgain(environment: environment)) : nil
    self.output = ByteSink(descriptor: output, outlet: outlet, pane: isShared ? pane : nil)
    self.messages =
      isShared && options.ci == nil && !clipsMessages && !options.usesASCII
      ? self.output : ByteSink(descriptor: messages, outlet: other, pane: pane)
    self.output.masker = options.masker
    self.messages.masker = options.masker
    ci = options.ci.map(CILog.init)
    let (isTerminal, showsColors) = (Terminal.isTerminal(output), ci?.options.runner.showsColors)
    // A runner may read from a terminal, but obeys no terminal's control characters.
    filtersOutput = isTerminal && ci == nil
    colorsOutput = options.color.isOn(
      isTerminal: showsColors ?? isTerminal, environment: environment)
    colorsMessages = options.color.isOn(
      isTerminal: showsColors ?? Terminal.isTerminal(messages), environment: environment)
    usesASCII = options.usesASCII
    self.messages.spellsInASCII = usesASCII
    unfoldsInstances = options.unfoldsInstances
    self.messages.guardRules = ci?.dialect.rules
    resumeCommand = options.resumeCommand
    scratch = .allocate(byteCount: Self.scratchSize, alignment: 16)
    measure()
  }

  /// A screen for a listing, with the same target as the sink.
  package init(
    listingTo sink: ByteSink, color: ColorChoice = .auto, environment: (String) -> String?
  ) {
    output = sink
    messages = sink
    isShared = true
    clipsMessages = Terminal.width(of: sink.descriptor) != nil
    filtersOutput = Terminal.isTerminal(sink.descriptor)
    colorsOutput = color.isOn(isTerminal: filtersOutput, environment: environment)
    colorsMessages = colorsOutput
    usesASCII = false
    unfoldsInstances = true
    pane = nil
    ci = nil
    resumeCommand = { nil }
    scratch = .allocate(byteCount: Self.scratchSize, alignment: 16)
    measure()
  }

  /// Reads the width of the terminal, which may change at any time.
  private func measure() {
    guard clipsMessages, let width = Terminal.width(of: messages.descriptor) else { return }
    columns = width
    messages.lineWidth = width
  }

  deinit { scratch.deallocate() }

  /// The outlets whose readers may stop reading; one if both streams end up in the same place.
  package var outlets: [any RunOutlet] {
    [output.outlet, isShared ? nil : messages.outlet].compactMap { $0 }
  }

  /// The error because of which standard output is incomplete; nil if it is complete, or nobody reads it.
  package var lossError: Int32? { output.lossError }

  /// Must be called before step output is written.
  func turnToOutput() { if isShared, messages !== output { messages.flush() } }

  /// Must be called before a message is written.
  func turnToMessages() {
    if isShared || unfinished === messages { endLine() }
    if isShared, messages !== output { output.flush() }
    if clipsMessages { measure() }
  }

  func flush() {
    output.flush()
    if messages !== output { messages.flush() }
    pane?.endTurn()
    ci?.noteWaiting(messages)
    output.outlet?.endTurn()
    messages.outlet?.endTurn()
  }

  /// Ends the line of output that was passed on.
  func endLine() {
    unfinished?.writeNewline()
    unfinished = nil
  }

  /// Lets a line of output go on later, unless something comes between.
  func suspendLine() { unfinished = output }

  /// Goes on with the line; false if something has come between.
  func resumeLine() -> Bool {
    defer { unfinished = nil }
    return unfinished === output
  }

  /// Writes part of a log as it is.
  func passOn(_ range: Range<Int>, of log: LogFile, to sink: ByteSink) {
    let (isRaw, width) = (sink.addsReturns, sink.lineWidth)
    let isASCII = sink.spellsInASCII
    sink.addsReturns = false
    sink.spellsInASCII = false
    sink.lineWidth = nil
    _ = log.copy(range, to: sink, buffer: scratch)
    sink.lineWidth = width
    sink.addsReturns = isRaw
    sink.spellsInASCII = isASCII
    unfinished = log.endsInNewline(at: range.upperBound, buffer: scratch) ? nil : sink
  }

  /// The prefix of the lines of a group between messages on a terminal; nil for files and pipes,
  /// which get output as it is.
  var rail: String? {
    guard isShared, filtersOutput else { return nil }
    return usesASCII ? "| " : "│ "
  }

  /// Writes part of a log to the output; returns the position where it stopped. `isEnd` is true if
  /// no more of the log will come.
  func copy(
    _ range: Range<Int>, of log: LogFile, filter: inout TerminalFilter, isEnd: Bool
  ) -> Int {
    guard filtersOutput || output.guardRules != nil else {
      return log.copy(range, to: output, buffer: scratch)
    }
    var position = range.lowerBound
    while position < range.upperBound {
      let wanted = min(scratch.count, range.upperBound - position)
      let window = UnsafeMutableRawBufferPointer(rebasing: scratch[..<wanted])
      let count = log.read(at: position, into: window)
      let bytes = UnsafeRawBufferPointer(rebasing: window[..<count])
      let isLast = isEnd && position + count == range.upperBound
      let used = writeVisible(bytes, isLast: isLast, through: &filter)
      if used == 0 { break }
      position += used
    }
    return position
  }
}

extension Screen {
  /// Sets raw mode: the terminal does nothing by itself while a command has its keys.
  func setRaw(_ isRaw: Bool) {
    if clipsMessages { messages.addsReturns = isRaw }
    if filtersOutput { output.addsReturns = isRaw }
  }
}

/// The marks at the start of a line.
enum Mark {
  case succeeded, failed, cached, warning, retry, waiting, notRun, opening

  func text(usesASCII: Bool) -> StaticString {
    switch self {
    case .succeeded: usesASCII ? "+" : "✓"
    case .failed: usesASCII ? "x" : "✗"
    case .cached: "="
    case .warning: "!"
    case .retry: usesASCII ? "~" : "↻"
    case .waiting: usesASCII ? "." : "…"
    case .notRun: "-"
    case .opening: ">"
    }
  }

  var style: Style {
    switch self {
    case .succeeded, .cached: .good
    case .failed: .bad
    case .warning, .retry: .warning
    case .waiting, .notRun, .opening: .faint
    }
  }
}

extension Screen {
  func write(_ mark: Mark) {
    messages.write(mark.text(usesASCII: usesASCII), in: mark.style, isColored: colorsMessages)
  }
}

extension Screen {
  /// Writes the line in front of a command's output, where messages are seen beside output.
  func writeOpening(of title: [Piece]) {
    guard isShared, ci == nil else { return }
    turnToMessages()
    write(.opening)
    messages.write(" ")
    write(title, at: 2)
  }

  /// The columns of a name that leaves room for something beside it.
  var nameColumns: Int { clipsMessages ? max(Self.narrowestName, columns * 2 / 5) : .max }

  func writeUnreadable(_ path: String, _ error: LogReadFailure) {
    turnToMessages()
    write(.warning)
    messages.write(" cannot read the log '")
    messages.write(oneLine(path))
    messages.write("': ")
    messages.write(error.reason)
    messages.writeNewline()
  }
}

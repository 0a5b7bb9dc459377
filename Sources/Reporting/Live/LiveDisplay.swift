// Decides when the block of a terminal is drawn. docs/design.md, “The live block”.

import Scheduling

/// The block of one run.
struct LiveDisplay {
  private let pane: Pane
  private let style: LiveStyle
  /// The time of the first change that the next frame shows.
  private var firstChange: Nanoseconds?
  private var lastFrame: Nanoseconds = 0
  private var lastSize: ScreenSize?
  private var isAside = false

  /// The time between frames that events ask for, and from an event to its frame.
  private static let pause: Nanoseconds = 50_000_000
  /// The time between frames without events, because times go on.
  private static let tick: Nanoseconds = 500_000_000

  /// Nil if the terminal has no block.
  init?(on screen: Screen) {
    guard let pane = screen.pane else { return nil }
    self.pane = pane
    style = LiveStyle(isColored: screen.colorsMessages, usesASCII: screen.usesASCII)
  }

  var deadline: Nanoseconds? {
    if isAside { return nil }
    return min(firstChange.map { $0 + Self.pause } ?? .max, (lastFrame / Self.tick + 1) * Self.tick)
  }

  mutating func changed(at time: Nanoseconds) { if firstChange == nil { firstChange = time } }

  /// True if a turn that ends now draws nothing. Text may wait for the next frame, too.
  func waits(at time: Nanoseconds) -> Bool {
    // The terminal may have a new size in a turn without events.
    deadline.map { time < $0 && firstChange != nil } ?? false
  }

  /// Draws a frame if it is due. Earlier text has reached the pane, unless this turn waits.
  mutating func endTurn(at time: Nanoseconds, _ view: (ScreenSize) -> LiveView) {
    guard let deadline, !waits(at: time) else { return }
    let isDue = time >= deadline
    let size = Terminal.size(of: pane.descriptor) ?? lastSize ?? Self.usualSize
    guard isDue || size != lastSize else { return }
    firstChange = nil
    lastFrame = time
    lastSize = size
    let isVisible = !pane.isBehind && Terminal.isInForeground(pane.descriptor)
    pane.draw(isVisible ? view(size).lines(on: size, style) : [], on: size)
  }

  private static let usualSize = ScreenSize(rows: 24, columns: 80)
}

// Leaving the terminal to others for a while.
extension LiveDisplay {
  /// Leaves the terminal to a command that gets the keys.
  mutating func stepAside() {
    pane.stepAside()
    isAside = true
  }

  mutating func comeBack(at time: Nanoseconds) {
    pane.comeBack()
    isAside = false
    changed(at: time)
  }

  /// Removes the block before oprun is stopped.
  func clear() { if !isAside { pane.clear() } }

  /// Draws the block again after oprun was stopped.
  mutating func redraw() {
    pane.forgetBlock()
    lastSize = nil
  }

  /// Removes the block at the end of the run.
  mutating func end() {
    if !isAside { pane.end() }
    isAside = true
  }
}

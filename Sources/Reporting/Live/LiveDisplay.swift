// When the block of a terminal is drawn. docs/design.md, “The live block”.

import Scheduling

/// The block of one run.
struct LiveDisplay {
  private let pane: Pane
  private let style: LiveStyle
  /// What the next frame shows first changed then.
  private var firstChange: Nanoseconds?
  private var lastFrame: Nanoseconds = 0
  private var lastSize: ScreenSize?
  private var isAside = false

  /// Frames that events ask for are as far apart, and behind their events.
  private static let pause: Nanoseconds = 50_000_000
  /// Times go on without events.
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

  /// Whether a turn that ends now draws nothing. What was written may wait for the next frame, too.
  func waits(at time: Nanoseconds) -> Bool {
    // A turn without events may be that of a new size.
    deadline.map { time < $0 && firstChange != nil } ?? false
  }

  /// What was written before is with the pane, unless it waits.
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

// The terminal belongs to others for a while.
extension LiveDisplay {
  /// A command gets the keys: what it prints passes by.
  mutating func stepAside() {
    pane.stepAside()
    isAside = true
  }

  mutating func comeBack(at time: Nanoseconds) {
    pane.comeBack()
    isAside = false
    changed(at: time)
  }

  /// oprun is about to be stopped.
  func clear() { if !isAside { pane.clear() } }

  /// oprun was stopped, and goes on.
  mutating func redraw() {
    pane.forgetBlock()
    lastSize = nil
  }

  /// The run is over.
  mutating func end() {
    if !isAside { pane.end() }
    isAside = true
  }
}

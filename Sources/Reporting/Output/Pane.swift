// A terminal during a run: text, which scrolls away as usual, above a block of lines that is drawn again
// and again. It knows bytes and rows, not what they say. docs/design.md, “The live block”.

/// A line of the block, at most as wide as the terminal.
struct BlockLine: Hashable {
  let bytes: [UInt8]
  /// The columns that the line takes.
  let width: Int
}

/// Collects text, and writes it together with the block: one write for each frame, which a terminal may
/// show at once. The cursor is at the start of the row below the block; it is never hidden, and no mode of
/// the terminal outlives a frame, so nothing has to be restored.
final class Pane {
  let descriptor: Int32
  private let terminal: ByteSink
  private let outlet: Outlet?
  private let wrapsAgain: Bool
  /// The text written since the last frame.
  private var text: [UInt8] = []
  private var endsInNewline = true
  /// The block on the screen.
  private var shown: [BlockLine] = []
  /// True if somebody else uses the terminal, or the run is over: text goes to it as it comes.
  private var passesOn = false

  private static let mostText = 32 << 10
  /// Synchronized output, https://github.com/contour-terminal/vt-extensions; other terminals ignore it.
  private static let beginning: StaticString = "\u{1b}[?2026h"
  private static let end: StaticString = "\u{1b}[?2026l"

  init(_ descriptor: Int32, _ outlet: Outlet?, wrapsAgain: Bool) {
    self.descriptor = descriptor
    self.outlet = outlet
    self.wrapsAgain = wrapsAgain
    terminal = ByteSink(descriptor: descriptor, outlet: outlet)
  }

  /// True if the terminal has not accepted everything.
  var isBehind: Bool { outlet?.isBehind ?? false }

  func append(_ bytes: UnsafeRawBufferPointer) {
    if passesOn { return terminal.write(bytes) }
    guard let last = bytes.last else { return }
    text += bytes
    endsInNewline = last == UInt8(ascii: "\n")
    if text.count > Self.mostText { emit([], on: Terminal.size(of: descriptor)) }
  }

  /// Writes a frame, unless nothing has changed. A terminal that takes nothing gets no blocks, which would be
  /// out of date when it shows them.
  func draw(_ block: [BlockLine], on size: ScreenSize) {
    if isBehind, text.isEmpty { return }
    emit(isBehind || !endsInNewline ? [] : block, on: size)
  }

  /// Removes the block until it is drawn again.
  func clear() { emit([], on: Terminal.size(of: descriptor)) }

  /// Forgets the block on the screen, which is not ours to remove any more: others have written to the terminal.
  func forgetBlock() { shown = [] }

  /// Leaves the terminal, which may be in raw mode, to others.
  func stepAside() {
    text = text.flatMap { $0 == UInt8(ascii: "\n") ? [UInt8(ascii: "\r"), $0] : [$0] }
    end()
  }

  /// Takes the terminal back, with the cursor at the start of a row.
  func comeBack() {
    terminal.flush()
    passesOn = false
    endsInNewline = true
  }

  /// Removes the block for good.
  func end() {
    clear()
    passesOn = true
  }

  func endTurn() { if passesOn { terminal.flush() } }

  private func emit(_ block: [BlockLine], on size: ScreenSize?) {
    if text.isEmpty, block == shown, fits(size) { return }
    let isFrame = !shown.isEmpty || !block.isEmpty
    if isFrame { terminal.write(Self.beginning) }
    eraseBlock(on: size)
    text.withUnsafeBytes { terminal.write($0) }
    text.removeAll(keepingCapacity: true)
    for line in block {
      line.bytes.withUnsafeBytes { terminal.write($0) }
      terminal.writeNewline()
    }
    if isFrame { terminal.write(Self.end) }
    terminal.flush()
    shown = block
  }

  /// True if no row of the block on the screen was wrapped.
  private func fits(_ size: ScreenSize?) -> Bool {
    size.map { size in shown.allSatisfy { $0.width <= size.columns } } ?? true
  }

  private func eraseBlock(on size: ScreenSize?) {
    guard !shown.isEmpty else { return }
    let columns = wrapsAgain ? size?.columns ?? .max : .max
    let rows = shown.reduce(0) { $0 + max(1, ($1.width - 1) / columns + 1) }
    terminal.write("\r\u{1b}[")
    terminal.write(decimal: rows)
    // The first row is erased by itself: if everything from the top left corner on is erased, tmux
    // keeps the old text in its scrollback.
    terminal.write("A\u{1b}[K\u{1b}[B\u{1b}[J\u{1b}[A")
  }
}

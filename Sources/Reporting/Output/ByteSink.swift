// A buffered writer of bytes to a descriptor that it does not own. It knows nothing about text
// except how to append it, and it never throws: a reader that has gone away must not stop a run.

import Glibc
package import Masking

/// Collects bytes in a buffer of fixed size and writes them in as few calls as possible. With a
/// masker no secret passes: in text for people however it is split between two writes, in a format
/// for programs in none of its values.
///
/// After the first failed write the sink is silent: everything is accepted, nothing is written.
package final class ByteSink {
  package let descriptor: Int32
  /// Used in place of the descriptor if writing must not wait.
  let outlet: Outlet?
  /// The pane, used in place of both where text is followed by a block.
  let pane: Pane?
  /// True if nothing reads the output any more, or the device is full.
  package var hasFailed: Bool { outlet?.hasFailed ?? isSilent }
  private var isSilent = false
  /// The milliseconds for which the descriptor may accept nothing; negative for no limit.
  private let patience: Int32
  /// The error of the failed write, if there is no outlet.
  package private(set) var errorNumber: Int32 = 0
  private let buffer: UnsafeMutableRawBufferPointer
  private var count = 0
  private var flushed = 0
  private var masking: MaskingStream?
  /// Used in place of the descriptor if the output is wanted as text, or held.
  private var memory: [UInt8]?

  /// Cuts the lines of a terminal.
  private var clipper = LineClipper()

  /// The columns that a line may take; a wider one is cut. Earlier output is passed on first.
  package var lineWidth: Int? {
    get { clipper.columns }
    set {
      if newValue != clipper.columns { flush() }
      clipper.columns = newValue
    }
  }

  /// True if a wider line is not cut but goes on in further ones.
  package var foldsLines: Bool {
    get { clipper.folds }
    set {
      if newValue != clipper.folds { flush() }
      clipper.folds = newValue
    }
  }

  /// True if an ellipsis is written in ASCII; then no output of commands may be written.
  package var spellsInASCII: Bool {
    get { clipper.spellsInASCII }
    set {
      if newValue != clipper.spellsInASCII { flush() }
      clipper.spellsInASCII = newValue
    }
  }

  /// Folds lines that are too wide for the terminal, if there is a terminal.
  package func fitToTerminal() {
    lineWidth = Terminal.width(of: descriptor)
    foldsLines = true
  }

  /// True if the terminal behind the sink is in raw mode.
  var addsReturns: Bool {
    get { clipper.addsReturns }
    set {
      if newValue != clipper.addsReturns { flush() }
      clipper.addsReturns = newValue
    }
  }

  /// Makes text harmless that a CI runner would take for commands. Earlier output is passed on first.
  private var commandGuard: CommandGuard?
  var guardRules: CommandGuard.Rules? {
    didSet {
      if guardRules == oldValue { return }
      flush()
      commandGuard = guardRules.map(CommandGuard.init)
    }
  }

  /// The masker; setting it passes earlier output on first.
  package var masker: Masker? {
    willSet { if count > 0 || masking != nil { flush() } }
    didSet { beginMasking() }
  }

  /// True if the output is a format that programs read. Each of its values is masked as a whole,
  /// before it is escaped or cut; its words and numbers are not, so it stays valid, and does not
  /// reveal a secret that equals one of them.
  package var isFormat = false {
    willSet { if newValue != isFormat { flush() } }
    didSet { if oldValue != isFormat { beginMasking() } }
  }

  /// True if the output is JSON inside of a page.
  var isInScript = false

  private func beginMasking() {
    masking = isFormat ? nil : masker.map(MaskingStream.init)
  }

  /// A value of a format, as it may be shown.
  func masked(_ value: String) -> String {
    isFormat ? masker?.mask(value) ?? value : value
  }

  /// The number of bytes accepted so far: the difference between two moments is the length of the
  /// text appended between them.
  var position: Int { flushed + count }

  package convenience init(descriptor: Int32, capacity: Int = 64 << 10) {
    self.init(descriptor: descriptor, outlet: nil, capacity: capacity)
  }

  /// Makes a sink for a descriptor of `openForWriting`. A reader that stops reading is a failure after a while.
  package convenience init(report descriptor: Int32) {
    self.init(descriptor: descriptor, outlet: nil, patience: longestPause)
  }

  init(
    descriptor: Int32, outlet: Outlet?, pane: Pane? = nil, capacity: Int = 64 << 10,
    patience: Int32 = -1
  ) {
    self.descriptor = descriptor
    self.patience = patience
    self.outlet = outlet
    self.pane = pane
    buffer = .allocate(byteCount: capacity, alignment: 16)
  }

  /// The text that the body writes, masked as it would be here.
  func captured(_ body: (ByteSink) -> Void) -> String {
    let sink = ByteSink.intoMemory()
    sink.masker = masker
    sink.isFormat = isFormat
    body(sink)
    return sink.text
  }

  /// A sink whose output nobody sees, to measure text by its `position`.
  package static func nowhere() -> ByteSink { ByteSink(descriptor: -1, capacity: 1024) }

  /// A sink whose output is its `text`.
  static func intoMemory(capacity: Int = 256) -> ByteSink {
    let sink = ByteSink(descriptor: -1, capacity: capacity)
    sink.memory = []
    return sink
  }

  /// The bytes written into memory so far.
  var bytes: [UInt8] {
    flush()
    return memory ?? []
  }

  var text: String { String(decoding: bytes, as: UTF8.self) }

  /// Takes the text written into memory.
  func takeText() -> String {
    defer {
      count = 0
      memory = []
    }
    let isWhole = memory?.isEmpty == true && masking == nil
    return isWhole ? String(decoding: buffer[..<count], as: UTF8.self) : text
  }

  /// Keeps everything written from now on in memory, however much it is, until `release`.
  func hold() {
    flush()
    memory = []
  }

  /// Writes the text that was held.
  func release() {
    flush()
    guard let waiting = memory else { return }
    memory = nil
    waiting.withUnsafeBytes { writeNow($0) }
  }

  /// The number of bytes that wait, as far as they were flushed.
  var heldByteCount: Int { memory?.count ?? 0 }

  deinit {
    flush()
    var rest: [UInt8] = []
    clipper.finish(into: &rest)
    rest.withUnsafeBytes { writeNow($0) }
    if descriptor >= 0 { release() }
    buffer.deallocate()
  }

  package func write(_ byte: UInt8) {
    if count == buffer.count { spill() }
    buffer[count] = byte
    count += 1
  }

  @inline(__always)
  package func write(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count <= buffer.count - count, let source = bytes.baseAddress,
      let start = buffer.baseAddress
    else { return writePastRoom(bytes) }
    (start + count).copyMemory(from: source, byteCount: bytes.count)
    count += bytes.count
  }

  private func writePastRoom(_ bytes: UnsafeRawBufferPointer) {
    if bytes.isEmpty { return }
    spill()
    guard bytes.count > buffer.count else { return write(bytes) }
    flushed += bytes.count
    pass(bytes)
  }

  package func write(_ byte: UInt8, times: Int) {
    var rest = times
    while rest > 0 {
      if count == buffer.count { spill() }
      let part = min(rest, buffer.count - count)
      guard let start = buffer.baseAddress else { return }
      memset(start + count, Int32(byte), part)
      count += part
      rest -= part
    }
  }

  /// Lets `fill` write into the buffer: at most `limit` bytes, far fewer than the buffer holds.
  /// `fill` returns the number of bytes.
  @inline(__always)
  func write(atMost limit: Int, _ fill: (UnsafeMutableRawPointer) -> Int) {
    if limit > buffer.count - count { spill() }
    precondition(limit <= buffer.count, "no more can be written at once than the buffer holds")
    guard let start = buffer.baseAddress else { return }
    count += fill(start + count)
  }

  /// Writes the collected bytes.
  package func flush() {
    spill()
    guard masking?.isHolding == true else { return }
    var rest: [UInt8] = []
    masking?.finish(into: &rest)
    rest.withUnsafeBytes { emit($0) }
  }

  /// Makes room in the buffer.
  private func spill() {
    guard count > 0 else { return }
    let gathered = UnsafeRawBufferPointer(rebasing: buffer[..<count])
    flushed += count
    count = 0
    pass(gathered)
  }

  private func pass(_ bytes: UnsafeRawBufferPointer) {
    guard masking != nil else { return emit(bytes) }
    var masked: [UInt8] = []
    masking?.mask(bytes, into: &masked)
    masked.withUnsafeBytes { emit($0) }
  }

  private func emit(_ bytes: UnsafeRawBufferPointer) {
    if commandGuard != nil {
      var harmless: [UInt8] = []
      commandGuard?.pass(bytes, into: &harmless)
      return harmless.withUnsafeBytes { clip($0) }
    }
    clip(bytes)
  }

  private func clip(_ bytes: UnsafeRawBufferPointer) {
    guard clipper.isNeeded else { return writeNow(bytes) }
    var clipped: [UInt8] = []
    clipper.clip(bytes, into: &clipped)
    clipped.withUnsafeBytes { writeNow($0) }
  }

  /// The error because of which output is missing; nil if nothing is, or if only its reader has gone away.
  package var lossError: Int32? {
    outlet == nil && isSilent && errorNumber != EPIPE ? errorNumber : nil
  }

  /// Tells the sink that a write past it (by `sendfile`) failed.
  func fail(_ error: Int32) {
    if outlet == nil { errorNumber = error }
    isSilent = true
    outlet?.abandon()
  }

  private func writeNow(_ bytes: UnsafeRawBufferPointer) {
    if memory != nil {
      memory?.append(contentsOf: bytes)
      return
    }
    if let pane { return pane.append(bytes) }
    if let outlet { return outlet.write(bytes) }
    guard let start = bytes.baseAddress else { return }
    var written = 0
    while written < bytes.count, !isSilent {
      let result = Glibc.write(descriptor, start + written, bytes.count - written)
      if result >= 0 {
        written += result
      } else if errno == EAGAIN, waitUntilWritable() {
        continue
      } else if errno != EINTR {
        errorNumber = errno
        isSilent = true
      }
    }
  }

  /// A descriptor shared with another program may be non-blocking without our doing. False if the
  /// reader must not be waited for.
  func waitUntilWritable() -> Bool {
    if let outlet { return outlet.waitAMoment() }
    var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    var count = poll(&entry, 1, patience)
    while count < 0, errno == EINTR { count = poll(&entry, 1, patience) }
    if count == 0 { errno = EAGAIN }
    return count != 0
  }

  /// The descriptor to which the kernel may copy, once everything collected is written; nil if
  /// bytes must come through `write`.
  var copyTarget: Int32? {
    if pane != nil { return nil }
    guard let outlet else { return descriptor }
    return outlet.isOpenForCopies ? outlet.descriptor : nil
  }
}

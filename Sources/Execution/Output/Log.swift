// The raw output of one command on disk: all of it, or its head and its tail, in the order in which
// they were printed. Bytes go from the pipe to the file inside the kernel, unless secrets must be
// masked; oprun's memory does not grow with them.

import CLinux
import Diagnostics
import Glibc
import Masking
import RunFiles

/// Writes one log. The file is created when the first byte comes.
///
/// Beyond the limit at least the newest `tailSize` bytes are kept after the head. Whenever there
/// are `longestTail` of them, the older ones are dropped, and a marker stands for everything that
/// is missing.
struct Log: ~Copyable {
  /// The effect of one call of `absorb`.
  enum Progress {
    case moved(Int)
    /// There is nothing to read now.
    case empty
    /// No process holds the other end any more.
    case ended
  }

  let name: String
  private let directory: RunDirectory
  /// The number of bytes that came, including dropped ones, counted after masking.
  private(set) var byteCount = 0
  /// The number of bytes that were read from the pipe.
  private(set) var readByteCount = 0
  private let masker: Masker?
  /// The mask, from the first byte on, if there are secrets.
  private var mask: LogMask?
  private let headLimit: Int
  /// The number of bytes missing after the head, and the length of the marker for them.
  private var missing: (byteCount: Int, marker: Int) = (0, 0)
  private var gapFile: LogGapFile?
  /// The file. The code that shows the log reads it through the same descriptor.
  private(set) var file: LogFile?
  private var isDiscarding = false

  /// The size of the tail that is kept: 1 MiB.
  static let tailSize = 1 << 20
  /// The size, 8 MiB, at which the tail is moved: rarely enough to cost little beside writing it.
  static let longestTail = 8 << 20
  /// The largest amount, in bytes, that is moved before other commands get their turn.
  private static let pieceSize = 1 << 20

  init(name: String, in directory: RunDirectory, limit: Int, masker: Masker? = nil) {
    self.name = name
    self.directory = directory
    self.masker = masker
    headLimit = limit
  }

  /// The number of bytes of the file that are in place and will stay.
  var readableByteCount: Int { isDiscarding ? 0 : min(byteCount, headLimit) }

  /// True if more came than the head keeps.
  var isBeyondLimit: Bool { byteCount > headLimit }

  /// Moves what the pipe holds into the file. After an error the output is dropped, so that the
  /// command is neither stopped nor kept waiting.
  mutating func absorb(
    from pipe: Int32, isTerminal: Bool = false
  ) throws(SystemError) -> Progress {
    if isDiscarding { return discard(from: pipe) }
    if file == nil {
      // A silent command leaves no file: look before one is made.
      guard isTerminal ? Log.hasOutput(terminal: pipe) : Log.hasOutput(pipe: pipe) else {
        return .empty
      }
      try makeFile()
    }
    if mask != nil { return try absorbMasked(from: pipe) }
    var (offset, room) = place()
    let moved = clinux_splice(pipe, descriptor, &offset, min(room, Log.pieceSize))
    switch moved {
    case 1...:
      readByteCount += moved
      try grow(by: moved)
      return .moved(moved)
    case 0: return .ended
    case -Int(EAGAIN): return .empty
    case -Int(EINVAL): return try copy(from: pipe, to: offset, room: room)
    default:
      throw failure(errno: Int32(-moved))
    }
  }

  /// Drops the surplus of the tail of a log beyond the limit. The file is complete afterwards; returns its size.
  mutating func finish() throws(SystemError) -> Int {
    guard file != nil, !isDiscarding else { return 0 }
    mask?.finish()
    try appendMasked()
    if tailByteCount > Log.tailSize { try dropMiddle() }
    return end
  }

  /// The size of the tail; negative if the head is not complete.
  private var tailByteCount: Int { byteCount - headLimit - missing.byteCount }

  /// The size of the file.
  private var end: Int { byteCount - missing.byteCount + missing.marker }

  private mutating func grow(by count: Int) throws(SystemError) {
    byteCount += count
    if tailByteCount >= Log.longestTail { try dropMiddle() }
  }

  /// Moves the newest bytes to the head. The file has them twice only if oprun is killed right before it is cut.
  private mutating func dropMiddle() throws(SystemError) {
    var tail = [UInt8](repeating: 0, count: Log.tailSize)
    let start = end - tail.count
    let read = tail.withUnsafeMutableBytes { readFully(descriptor, into: $0, at: start) }
    if read == nil { throw failure() }
    guard read == tail.count else { throw failure(errno: EIO) }
    let gap = LogGap(at: headLimit, byteCount: byteCount - headLimit - tail.count)
    let bytes = Array(gap.marker.utf8) + tail
    if gapFile == nil { gapFile = LogGapFile(of: name, in: directory) }
    let file = descriptor
    let move = {
      writeFully(bytes, to: file, at: gap.start) && ftruncate(file, gap.start + bytes.count) == 0
    }
    let isMoved =
      gapFile?.announce(gap, after: missing.byteCount, while: move) ?? move()
    guard isMoved else { throw failure() }
    missing = (gap.byteCount, gap.marker.utf8.count)
  }

  /// Adds lines of oprun's own at the end of a finished log; returns its size.
  mutating func add(_ text: String) throws(SystemError) -> Int {
    if isDiscarding { return 0 }
    if file == nil { try makeFile() }
    guard let file else { return 0 }
    let size = file.size
    var last: UInt8 = 0x0a
    withUnsafeMutableBytes(of: &last) { _ = file.read(at: max(0, size - 1), into: $0) }
    let bytes = Array((last == 0x0a ? "" : "\n").utf8) + Array((masker?.mask(text) ?? text).utf8)
    guard writeFully(bytes, to: descriptor, at: size) else { throw failure() }
    byteCount += bytes.count
    return size + bytes.count
  }

  /// True if the file can still be found under its name.
  var isInPlace: Bool { file.map { directory.holds($0, as: name) } ?? true }

  private static func hasOutput(pipe: Int32) -> Bool {
    var waiting: Int32 = 0
    _ = ioctl(pipe, UInt(FIONREAD), &waiting)
    return waiting > 0
  }

  /// True if the terminal has output. The last bytes may still be on their way inside the kernel:
  /// poll(2) waits for them, FIONREAD does not.
  private static func hasOutput(terminal: Int32) -> Bool {
    var entry = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, 0) > 0 && entry.revents & Int16(POLLIN) != 0
  }

  /// The meaning of a read that gave nothing. A terminal that was hung up gives EIO.
  private static func end(ofRead count: Int) -> Progress {
    count == 0 || errno == EIO ? .ended : .empty
  }

  private var descriptor: Int32 { file?.descriptor ?? -1 }

  private mutating func makeFile() throws(SystemError) {
    do throws(SystemError) {
      file = LogFile(owning: try directory.make(name))
    } catch {
      isDiscarding = true
      throw error
    }
    if let masker { mask = LogMask(masker) }
  }

  /// The offset of the next bytes, and how many fit there.
  private func place() -> (offset: Int64, room: Int) {
    let room = byteCount < headLimit ? headLimit - byteCount : Log.longestTail - tailByteCount
    return (Int64(end), room)
  }

  /// Copies output, for file systems that do not support splicing.
  private mutating func copy(
    from pipe: Int32, to offset: Int64, room: Int
  ) throws(SystemError) -> Progress {
    var piece = [UInt8](repeating: 0, count: min(room, 1 << 16))
    let count = read(pipe, &piece, piece.count)
    guard count > 0 else { return Log.end(ofRead: count) }
    guard writeFully(Array(piece.prefix(count)), to: descriptor, at: Int(offset)) else {
      throw failure()
    }
    readByteCount += count
    try grow(by: count)
    return .moved(count)
  }

  private mutating func absorbMasked(from pipe: Int32) throws(SystemError) -> Progress {
    let count = mask?.read(from: pipe) ?? 0
    guard count > 0 else { return Log.end(ofRead: count) }
    readByteCount += count
    try appendMasked()
    return .moved(count)
  }

  private mutating func appendMasked() throws(SystemError) {
    var start = 0
    let end = mask?.output.count ?? 0
    while start < end {
      let (offset, room) = place()
      let count = min(room, end - start)
      let isWritten = mask?.output.withUnsafeBytes { bytes in
        let piece = UnsafeRawBufferPointer(rebasing: bytes[start..<start + count])
        return writeFully(piece, to: descriptor, at: Int(offset))
      }
      guard isWritten == true else { throw failure() }
      start += count
      try grow(by: count)
    }
  }

  private mutating func discard(from pipe: Int32) -> Progress {
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    let count = read(pipe, &piece, piece.count)
    guard count > 0 else { return Log.end(ofRead: count) }
    byteCount += count
    readByteCount += count
    return .moved(count)
  }

  private mutating func failure(errno reason: Int32 = errno) -> SystemError {
    isDiscarding = true
    return SystemError("cannot write \(quoted(directory.path(of: name)))", errno: reason)
  }
}

// The memory that oprun and its guardians share, an unnamed file.

import Diagnostics
import Glibc

/// Words that are written by one side and read by the others, one at a time, followed by strings
/// that never change.
struct GuardianPage {
  private let words: UnsafeMutablePointer<Int32>
  private let byteCount: Int

  /// Commands beyond this number are recognised only by their marks.
  static let groupCapacity = 4096
  /// `gua1`; no other file begins with it.
  private static let magic: Int32 = 0x3161_7567
  private static let magicWord = 0
  private static let overWord = 1
  private static let seats = 2...3
  private static let ownerWord = 4
  private static let watchWord = 5
  /// The first words of the terminal: whether there is one, its path, its modes.
  private static let terminalWord = 6
  private static let pathWords = 7..<23
  private static let modeWords = 23..<39
  private static let firstGroup = 39
  private static let wordCount = firstGroup + groupCapacity
  private static let textStart = wordCount * MemoryLayout<Int32>.stride

  /// The page of a new run, in an empty file. `texts` contain no zero bytes.
  init(of owner: Int32, _ texts: [String], in file: Int32) throws(SystemError) {
    let byteCount = Self.textStart + texts.reduce(0) { $0 + $1.utf8.count + 1 }
    guard ftruncate(file, off_t(byteCount)) == 0, let page = Self(mapping: file, byteCount) else {
      throw .last("cannot start the guardian")
    }
    self = page
    words[Self.magicWord] = Self.magic
    words[Self.ownerWord] = owner
    var next = UnsafeMutableRawPointer(words) + Self.textStart
    for text in texts {
      for byte in text.utf8 {
        next.storeBytes(of: byte, as: UInt8.self)
        next += 1
      }
      // The terminating byte is already there.
      next += 1
    }
  }

  /// The page of a descriptor; nil if the descriptor has none.
  init?(in descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_size >= Self.textStart else { return nil }
    self.init(mapping: descriptor, Int(status.st_size))
    guard words[Self.magicWord] == Self.magic else { return nil }
  }

  private init?(mapping descriptor: Int32, _ byteCount: Int) {
    let page = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
    guard let page, page != MAP_FAILED else { return nil }
    words = page.bindMemory(to: Int32.self, capacity: Self.wordCount)
    self.byteCount = byteCount
  }

  /// Unmaps the page. Must be called once; other processes keep theirs.
  func unmap() { munmap(words, byteCount) }

  /// The strings as they were passed in.
  var texts: [String] {
    let bytes = UnsafeRawBufferPointer(start: words, count: byteCount)[Self.textStart...]
    return bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast()
      .map { String(decoding: $0, as: UTF8.self) }
  }

  /// The process that is watched.
  var owner: Int32 { words[Self.ownerWord] }

  /// True if the run has ended normally: guardians end, too, and do nothing.
  var isOver: Bool {
    get { words[Self.overWord] != 0 }
    nonmutating set { words[Self.overWord] = newValue ? 1 : 0 }
  }

  /// True if a guardian's program was loaded.
  var isWatched: Bool {
    get { words[Self.watchWord] != 0 }
    nonmutating set { words[Self.watchWord] = newValue ? 1 : 0 }
  }

  /// The terminal of oprun while its keys go to a command.
  var terminal: GuardedTerminal? {
    get {
      guard words[Self.terminalWord] != 0 else { return nil }
      let path = UnsafeRawPointer(words + Self.pathWords.lowerBound)
        .assumingMemoryBound(to: CChar.self)
      let before = UnsafeRawPointer(words + Self.modeWords.lowerBound).load(as: termios.self)
      return GuardedTerminal(path: String(cString: path), before: before)
    }
    nonmutating set {
      words[Self.terminalWord] = 0
      guard let terminal = newValue, terminal.path.utf8.count < Self.pathWords.count * 4 else {
        return
      }
      let path = UnsafeMutableRawPointer(words + Self.pathWords.lowerBound)
      for (index, byte) in (Array(terminal.path.utf8) + [0]).enumerated() {
        path.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
      }
      UnsafeMutableRawPointer(words + Self.modeWords.lowerBound)
        .storeBytes(of: terminal.before, as: termios.self)
      words[Self.terminalWord] = 1
    }
  }

  /// Records a guardian in one of two seats, 0 and 1.
  func take(seat: Int, by processID: Int32) {
    words[Self.seats.lowerBound + seat] = processID
  }

  func guardian(at seat: Int) -> Int32 { words[Self.seats.lowerBound + seat] }

  /// The guardians that have been seated, at most two; some may have ended.
  var guardians: [Int32] { Self.seats.map { words[$0] }.filter { $0 > 0 } }

  /// Records the group that runs in a slot; 0 when it has ended.
  func note(group: Int32, slot: Int) {
    if slot < Self.groupCapacity { words[Self.firstGroup + slot] = group }
  }

  /// The groups of running commands; 0 in free slots. A number stays in use while the group has
  /// members, even after its leader was reaped.
  var slots: UnsafeBufferPointer<Int32> {
    UnsafeBufferPointer(start: words + Self.firstGroup, count: Self.groupCapacity)
  }

  var groups: Set<Int32> { Set(slots.lazy.filter { $0 > 0 }) }
}

/// A terminal whose modes oprun has changed.
struct GuardedTerminal {
  let path: String
  let before: termios

  func restore() {
    let terminal = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
    guard terminal >= 0 else { return }
    var before = before
    tcsetattr(terminal, TCSANOW, &before)
    close(terminal)
  }
}

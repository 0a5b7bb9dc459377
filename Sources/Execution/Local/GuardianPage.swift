// What oprun and its guardians know of each other: memory that they share.

import Diagnostics
import Glibc

/// Written by one side and read by the others, a word at a time.
struct GuardianPage {
  private let words: UnsafeMutablePointer<Int32>

  /// Commands beyond this number are known by their marks alone.
  static let groupCapacity = 4096
  private static let seats = 1...2
  private static let firstGroup = 3
  private static let wordCount = firstGroup + groupCapacity

  init() throws(SystemError) {
    let size = GuardianPage.wordCount * MemoryLayout<Int32>.stride
    let page = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)
    guard let page, page != MAP_FAILED else { throw .last("cannot start the guardian") }
    words = page.bindMemory(to: Int32.self, capacity: GuardianPage.wordCount)
  }

  /// To be called once; the others keep theirs.
  func unmap() { munmap(words, GuardianPage.wordCount * MemoryLayout<Int32>.stride) }

  /// The run has ended properly: guardians end, too, and do nothing.
  var isOver: Bool {
    get { words[0] != 0 }
    nonmutating set { words[0] = newValue ? 1 : 0 }
  }

  /// There are two seats for guardians, 0 and 1.
  func take(seat: Int, by processID: Int32) { words[1 + seat] = processID }

  func guardian(at seat: Int) -> Int32 { words[1 + seat] }

  /// Guardians that were there, at most two; some may have ended.
  var guardians: [Int32] { GuardianPage.seats.map { words[$0] }.filter { $0 > 0 } }

  /// Says which group runs in a slot; 0 when it ended.
  func note(group: Int32, slot: Int) {
    if slot < GuardianPage.groupCapacity { words[GuardianPage.firstGroup + slot] = group }
  }

  /// Of running commands. A number stays taken while the group has members, also after its leader
  /// was reaped.
  var groups: Set<Int32> {
    let all = UnsafeBufferPointer(
      start: words + GuardianPage.firstGroup, count: GuardianPage.groupCapacity)
    return Set(all.lazy.filter { $0 > 0 })
  }
}

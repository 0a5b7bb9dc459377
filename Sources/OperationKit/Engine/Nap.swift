// The wait of a thread that runs operations until more accumulate, and how it is called back. It
// does not know operations.

internal import CLinux
import Synchronization

/// The sleep of a thread that has run out of work in a burst of small operations. At most one
/// thread is in it, since at most one looks for work.
package struct Nap: ~Copyable, @unchecked Sendable {  // the word is atomic
  private static let awake: UInt32 = 0
  private static let asleep: UInt32 = 1
  /// Somebody has called, and no thread has looked for work since.
  private static let disturbed: UInt32 = 2
  /// The time, in nanoseconds, that the thread sleeps before it checks whether the burst continues.
  /// The kernel adds some 50 µs.
  private static let slice = 20_000

  /// The word has a cache line of its own: others write what lies beside it.
  private let word = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 64)
    .bindMemory(to: Atomic<UInt32>.self, capacity: 1)

  package init() { word.initialize(to: Atomic(Nap.awake)) }

  deinit {
    word.deinitialize(count: 1)
    word.deallocate()
  }

  package var isTaken: Bool { word.pointee.load(ordering: .relaxed) == Nap.asleep }

  /// Ends the nap, or the next one before it begins, so that a call is never missed: call it after
  /// the work can be found.
  package func disturb() {
    if word.pointee.load(ordering: .sequentiallyConsistent) == Nap.disturbed { return }
    if word.pointee.exchange(Nap.disturbed, ordering: .sequentiallyConsistent) == Nap.asleep {
      clinux_wake_one(word)
    }
  }

  /// Must be called by a thread that is about to look for work.
  package func end() {
    if word.pointee.load(ordering: .relaxed) != Nap.disturbed { return }
    _ = word.pointee.compareExchange(
      expected: Nap.disturbed, desired: Nap.awake, ordering: .sequentiallyConsistent)
  }

  /// Sleeps while the mark changes from one slice to the next, at most about as long as the limit,
  /// in nanoseconds. False if it was disturbed.
  package func take(limit: Int, whileChanging mark: () -> UInt) -> Bool {
    let (isFree, _) = word.pointee.compareExchange(
      expected: Nap.awake, desired: Nap.asleep, ordering: .sequentiallyConsistent)
    if !isFree { return false }
    let end = monotonicTime() + limit
    var old = mark()
    repeat {
      clinux_sleep_while_for(word, Nap.asleep, Nap.slice)
      let new = mark()
      if new == old { break }
      old = new
    } while isTaken && monotonicTime() < end
    return word.pointee.compareExchange(
      expected: Nap.asleep, desired: Nap.awake, ordering: .sequentiallyConsistent
    ).exchanged
  }
}

/// The time for which small operations have been coming without a pause, which determines the length of naps.
package struct Burst {
  /// After this many operations without a pause, more can be expected from the same adder: a thread
  /// that has run out of work lets some accumulate, instead of contending for each.
  private static let length = 32
  /// A nap takes at most this part of the time that the burst has lasted, and at most this long, in
  /// nanoseconds.
  private static let share = 16
  private static let longestNap = 1_000_000

  /// When the burst paused first; nil before.
  private var start: Int?
  /// The number of operations that were run since the last pause.
  package var streak = 0

  package init() {}

  /// Called at a pause. Returns how long a nap may take; nil if this is no burst.
  package mutating func pause() -> Int? {
    defer { streak = 0 }
    if streak < Burst.length {
      start = nil
      return nil
    }
    let now = monotonicTime()
    let start = start ?? now
    self.start = start
    return min((now - start) / Burst.share, Burst.longestNap)
  }

  package mutating func end() { start = nil }
}

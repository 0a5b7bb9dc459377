// Numbers that identify operations, queues and pools: indices into dense arrays, never references.
//
// They are public, although no product exposes this module, because Swift 6.3 inlines nothing of
// another module that is less than that: each conversion was a call.

/// An operation's index in the arrays of its `Graph`: dense, from 0, in file order.
public struct OperationID: Hashable, Comparable, Sendable {
  /// The index, as it is stored.
  public let rawValue: Int32

  /// The id with this index.
  @inlinable public init(_ index: Int) { rawValue = Int32(truncatingIfNeeded: index) }

  /// The index, to look things up with.
  @inlinable public var index: Int { Int(rawValue) }

  /// Hashes for speed, not against attacks: nobody chooses these numbers. A multiplication spreads
  /// them, and the seed is that of the table.
  @inlinable public func _rawHashValue(seed: Int) -> Int {
    let product = UInt(bitPattern: Int(rawValue) ^ seed) &* 0x9E37_79B9_7F4A_7C15
    return Int(bitPattern: product ^ product >> 32)
  }

  /// True if an operation comes before another in file order.
  public static func < (left: OperationID, right: OperationID) -> Bool {
    left.rawValue < right.rawValue
  }
}

/// A queue's index in the list of queues; 0 is the default queue.
public struct QueueID: Hashable, Sendable {
  /// The index, as it is stored.
  public let rawValue: Int32

  /// The id with this index.
  @inlinable public init(_ index: Int) { rawValue = Int32(truncatingIfNeeded: index) }

  /// The index, to look things up with.
  @inlinable public var index: Int { Int(rawValue) }

  package static let `default` = QueueID(0)
}

/// A pool's index in the list of pools: a named resource with a capacity; a mutex is a pool of 1.
public struct PoolID: Hashable, Sendable {
  /// The index, as it is stored.
  public let rawValue: Int32

  /// The id with this index.
  @inlinable public init(_ index: Int) { rawValue = Int32(truncatingIfNeeded: index) }

  /// The index, to look things up with.
  @inlinable public var index: Int { Int(rawValue) }
}

/// A length of time, or a moment counted from the start of the run, in nanoseconds.
///
/// It is a plain integer because Swift's `Duration` is 128 bits wide, and the ready order compares
/// millions.
package typealias Nanoseconds = Int64

/// The last moment of virtual time. A moment and a length of time, or two sums of lengths, can be
/// added without exceeding 64 bits.
package let lastMoment: Nanoseconds = 1 << 62

/// The earlier of two moments; nil if there is neither. Each turn of a run asks for some, so no list is made of them.
package func earlier(_ a: Nanoseconds?, _ b: Nanoseconds?) -> Nanoseconds? {
  guard let a, let b else { return a ?? b }
  return min(a, b)
}

/// The sum of a moment and a length of time, or of two lengths; `lastMoment` if it is later. Neither
/// is negative.
package func sum(_ time: Nanoseconds, _ length: Nanoseconds) -> Nanoseconds {
  let (sum, isTooLarge) = time.addingReportingOverflow(length)
  return isTooLarge ? lastMoment : min(sum, lastMoment)
}

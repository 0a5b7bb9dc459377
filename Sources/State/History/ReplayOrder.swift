// The order of what a run did: by time, and at the same time what ended before what began.

import Scheduling

/// An entry of the order: an event, or the start of the only attempt of a step, its end, or the step's
/// outcome, by index.
enum ReplayContent {
  case event(Int)
  case start(Int)
  case end(Int)
  case outcome(Int)
}

/// Where an event belongs: at the same time those with a lower rank come first, then those with a lower place.
struct ReplayOrder: Comparable {
  enum Rank: UInt64 {
    case end, outcome, start
  }

  let time: Nanoseconds
  /// The rank, the place and the index, 31 bits each of the latter.
  private let rest: UInt64

  init(_ time: Nanoseconds, _ rank: Rank, _ place: Int, _ index: Int) {
    self.time = time
    rest = rank.rawValue << 62 | UInt64(place) << 31 | UInt64(index)
  }

  var index: Int { Int(rest & (1 << 31 - 1)) }

  static func < (one: ReplayOrder, other: ReplayOrder) -> Bool {
    one.time != other.time ? one.time < other.time : one.rest < other.rest
  }
}

/// A recorded time, in microseconds, as an event has it.
func nanoseconds(_ microseconds: Int) -> Nanoseconds {
  let (product, overflows) = Nanoseconds(microseconds).multipliedReportingOverflow(by: 1000)
  return overflows ? 0 : max(0, product)
}

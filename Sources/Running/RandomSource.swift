// Random numbers for the delays of retries.

import Scheduling

/// SplitMix64 (Steele, Lea, Flood 2014), for repeatable jitter.
struct RandomSource {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next(upTo limit: Nanoseconds) -> Nanoseconds {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    mixed ^= mixed >> 31
    return Nanoseconds(mixed % (UInt64(max(0, limit)) + 1))
  }
}

// Counts the slots that a run shares with tools in its steps. It decides; reading and writing tokens
// is done elsewhere.

/// The tokens that oprun holds.
///
/// One slot needs no token, so a run is never without one. A pool of our own has as many tokens as
/// the default queue has other slots. A pool of somebody else has any number; its tokens are given
/// back byte for byte, because different bytes may mean different things there.
struct JobTokens {
  /// The tokens, the newest last.
  private(set) var held: [UInt8] = []
  /// The number of slots of our own pool; nil if it belongs to somebody else.
  private(set) var size: Int?
  /// The number of tokens that are too many when they come back, because the pool became smaller.
  private(set) var debt = 0
  /// The number of running commands that can see the pool.
  private(set) var users = 0

  /// A token of a pool of our own.
  static let token = UInt8(ascii: "+")
  /// The largest number of slots that are shared: a pipe has room for a limited number of tokens.
  static let largestSize = 4096

  /// Makes the tokens of a pool of our own, or none.
  init(size: Int?) {
    guard let size else { return }
    self.size = JobTokens.bounded(size)
    held = JobTokens.tokens(JobTokens.bounded(size) - 1)
  }

  /// The number of slots that oprun may use.
  var slots: Int { held.count + 1 }

  /// Adapts our own pool to the width of the queue. True if the number of slots has changed.
  mutating func resize(to width: Int) -> Bool {
    let new = JobTokens.bounded(width)
    guard let old = size, new != old else { return false }
    size = new
    if new > old {
      let paid = min(debt, new - old)
      debt -= paid
      held += JobTokens.tokens(new - old - paid)
    } else {
      let dropped = min(held.count, old - new)
      held.removeLast(dropped)
      debt += old - new - dropped
    }
    return true
  }

  /// Takes a token from the pool. False if the pool has one slot less by now, so that this token is one too many.
  mutating func took(_ token: UInt8) -> Bool {
    if debt > 0 {
      debt -= 1
      return false
    }
    held.append(token)
    return true
  }

  /// Gives up the tokens that are not needed, and returns them: they belong to the pool. Our own
  /// tokens stay here while nobody else could take them.
  mutating func takeSurplus(inUse: Int) -> [UInt8] {
    if size != nil, users == 0 { return [] }
    let count = slots - max(1, inUse)
    guard count > 0 else { return [] }
    defer { held.removeLast(count) }
    return Array(held.suffix(count))
  }

  /// Keeps the tokens that could not be put into the pool.
  mutating func keep(_ tokens: ArraySlice<UInt8>) { held += tokens }

  /// Called when a command has started that can see the pool.
  mutating func began() { users += 1 }

  /// Called when a command has ended that could see the pool. Returns the largest number of tokens
  /// that may be in our own pool; nil if it belongs to somebody else.
  mutating func ended() -> Int? {
    users -= 1
    precondition(users >= 0, "a command that sees the jobserver ends once")
    guard let size else { return nil }
    guard users == 0 else { return max(0, size + debt - slots) }
    // Nobody alive has a token now. All of them are made anew.
    held = JobTokens.tokens(size - 1)
    debt = 0
    return 0
  }

  private static func bounded(_ size: Int) -> Int { min(max(1, size), largestSize) }

  private static func tokens(_ count: Int) -> [UInt8] {
    [UInt8](repeating: token, count: max(0, count))
  }
}

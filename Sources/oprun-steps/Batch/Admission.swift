// Decides which source is begun next, so that no host has too many at once and the others need not
// wait for it. Pure: it is told what has ended.

struct Admission: Sendable {
  private struct Host: Sendable {
    var waiting: [Int] = []
    var next = 0
    var active = 0
    /// Sources that paused, and need a slot again. There are some only while no slot is free.
    var returning: [Int] = []
    var nextReturning = 0
    var hasTurn = false

    var hasMore: Bool { next < waiting.count }
  }

  private let hostOf: [Int]
  private var hosts: [Host]
  /// Hosts with waiting sources and free slots, in turn.
  private var turns: [Int] = []
  private var nextTurn = 0
  private var unfinished = 0
  private var pausedCount = 0
  private let perHost: Int
  private let window: Int

  /// `hosts` names the host of each source. At most `window` sources are begun and not finished,
  /// except those that pause.
  init(_ names: [String], perHost: Int, window: Int) {
    var numbers: [String: Int] = [:]
    var hosts: [Host] = []
    hostOf = names.map { name in
      if let number = numbers[name] { return number }
      numbers[name] = hosts.count
      hosts.append(Host())
      return hosts.count - 1
    }
    for (source, host) in hostOf.enumerated() { hosts[host].waiting.append(source) }
    self.hosts = hosts
    self.perHost = perHost
    self.window = window
    for host in hosts.indices { giveTurn(host) }
  }

  /// The next source to begin; nil if one must end first, or there is none.
  mutating func next() -> Int? {
    guard unfinished < window else { return nil }
    while nextTurn < turns.count {
      let number = turns[nextTurn]
      nextTurn += 1
      hosts[number].hasTurn = false
      guard mayBegin(number) else { continue }
      let source = hosts[number].waiting[hosts[number].next]
      hosts[number].next += 1
      hosts[number].active += 1
      unfinished += 1
      giveTurn(number)
      if nextTurn > 1024, nextTurn * 2 > turns.count {
        turns.removeFirst(nextTurn)
        nextTurn = 0
      }
      return source
    }
    return nil
  }

  private mutating func giveTurn(_ number: Int) {
    guard !hosts[number].hasTurn, mayBegin(number) else { return }
    hosts[number].hasTurn = true
    turns.append(number)
  }

  private func mayBegin(_ number: Int) -> Bool {
    hosts[number].hasMore && hosts[number].active < perHost
  }

  /// Called when the source no longer needs its host. A source that comes back goes before those
  /// that were not begun: its number is returned, and it has the slot.
  @discardableResult
  mutating func downloaded(_ source: Int) -> Int? {
    let number = hostOf[source]
    hosts[number].active -= 1
    guard hosts[number].nextReturning < hosts[number].returning.count else {
      hosts[number].returning = []
      hosts[number].nextReturning = 0
      giveTurn(number)
      return nil
    }
    let next = hosts[number].returning[hosts[number].nextReturning]
    hosts[number].nextReturning += 1
    goOn(next)
    return next
  }

  /// Called when everything that follows from the source is done.
  mutating func finished(_ source: Int) { unfinished -= 1 }

  /// Called when the source will try again later, and needs nothing until then.
  @discardableResult
  mutating func paused(_ source: Int) -> Int? {
    unfinished -= 1
    pausedCount += 1
    return downloaded(source)
  }

  /// True if a source that has paused may continue now; if not, it gets a slot as soon as one is free.
  mutating func resume(_ source: Int) -> Bool {
    let number = hostOf[source]
    guard hosts[number].active < perHost else {
      hosts[number].returning.append(source)
      return false
    }
    goOn(source)
    return true
  }

  private mutating func goOn(_ source: Int) {
    hosts[hostOf[source]].active += 1
    pausedCount -= 1
    unfinished += 1
  }

  /// True if everything was begun and has finished.
  var isOver: Bool { unfinished == 0 && pausedCount == 0 && hosts.allSatisfy { !$0.hasMore } }
}

// Which source is begun next, so that no host has too many at once and the others need not wait for it.
// Pure: it is told what has ended.

struct Admission: Sendable {
  private struct Host: Sendable {
    var waiting: [Int] = []
    var next = 0
    var active = 0

    var hasMore: Bool { next < waiting.count }
  }

  private let hostOf: [Int]
  private var hosts: [Host]
  /// Hosts with something waiting and room for it, in turn.
  private var turns: [Int] = []
  private var nextTurn = 0
  private var unfinished = 0
  private let perHost: Int
  private let window: Int

  /// `hosts` names the host of each source. At most `window` sources are begun and not finished.
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
    turns = Array(hosts.indices)
  }

  /// The next source to begin; nil if one must end first, or there is none.
  mutating func next() -> Int? {
    guard unfinished < window, nextTurn < turns.count else { return nil }
    let number = turns[nextTurn]
    nextTurn += 1
    let source = hosts[number].waiting[hosts[number].next]
    hosts[number].next += 1
    hosts[number].active += 1
    unfinished += 1
    if hosts[number].active < perHost, hosts[number].hasMore { turns.append(number) }
    if nextTurn > 1024, nextTurn * 2 > turns.count {
      turns.removeFirst(nextTurn)
      nextTurn = 0
    }
    return source
  }

  /// The source needs its host no more.
  mutating func downloaded(_ source: Int) {
    let number = hostOf[source]
    let wasFull = hosts[number].active == perHost
    hosts[number].active -= 1
    if wasFull, hosts[number].hasMore { turns.append(number) }
  }

  /// All that follows from the source is done.
  mutating func finished(_ source: Int) { unfinished -= 1 }

  /// Whether everything was begun and has finished.
  var isOver: Bool { unfinished == 0 && hosts.allSatisfy { !$0.hasMore } }
}

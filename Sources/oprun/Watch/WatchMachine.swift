// Decides when a watched pipeline runs, and which part of it. It knows no clock, file or process:
// it is told what happened and when.

import Scheduling

/// The part that runs.
enum WatchedPart: Hashable {
  /// Everything that runs when no step is named.
  case everything
  /// Steps by their ids, with what they need.
  case steps(Set<String>)

  func union(_ other: WatchedPart?) -> WatchedPart {
    switch (self, other) {
    case (_, nil): self
    case (.steps(let own), .steps(let others)): .steps(own.union(others))
    case (.everything, _), (_, .everything): .everything
    }
  }

  func overlaps(_ other: WatchedPart) -> Bool {
    switch (self, other) {
    case (.steps(let own), .steps(let others)):
      !Self.withGroups(own).isDisjoint(with: others)
        || !Self.withGroups(others).isDisjoint(with: own)
    case (.everything, _), (_, .everything): true
    }
  }

  /// The steps, and the groups that they are in or are instances of: `deploy[to=a]` and `deploy` of `deploy[to=a]/push`.
  private static func withGroups(_ ids: Set<String>) -> Set<String> {
    var all = ids
    for id in ids {
      for index in id.utf8.indices
      where [UInt8(ascii: "/"), UInt8(ascii: "[")].contains(id.utf8[index]) {
        all.insert(String(id[..<index]))
      }
    }
    return all
  }
}

struct WatchMachine {
  /// The treatment of a run in progress when something changes that it depends on.
  enum BusyPolicy: String, CaseIterable { case cancel, wait }

  enum Action: Hashable {
    case start(WatchedPart)
    /// Ends the run in progress; its end will be reported.
    case cancel
  }

  private enum State {
    case idle
    case running(WatchedPart)
    case cancelling(WatchedPart)
  }

  private let policy: BusyPolicy
  private var state = State.idle
  /// The part that has been affected since the run in progress started.
  private var pending: WatchedPart?
  /// The part of the last run, if that did not succeed.
  private var unfinished: WatchedPart?
  private var firstNoted: Nanoseconds?
  private var lastNoted: Nanoseconds = 0

  /// The time without another change after which changes are looked at: tools write several files.
  static let quiet: Nanoseconds = 100_000_000
  /// The time after which changes are looked at, however much goes on.
  static let longest: Nanoseconds = 1_000_000_000

  init(_ policy: BusyPolicy) { self.policy = policy }

  var isRunning: Bool { if case .idle = state { false } else { true } }

  var isCancelling: Bool { if case .cancelling = state { true } else { false } }

  /// When the noted changes are to be looked at; nil if there are none.
  var deadline: Nanoseconds? {
    firstNoted.map { min(lastNoted + Self.quiet, $0 + Self.longest) }
  }

  /// Notes a change.
  mutating func note(at now: Nanoseconds) {
    firstNoted = firstNoted ?? now
    lastNoted = now
  }

  /// True if noted changes are to be looked at now; true once.
  mutating func isDue(at now: Nanoseconds) -> Bool {
    guard let deadline, now >= deadline else { return false }
    firstNoted = nil
    return true
  }

  /// Forgets the noted changes, which are looked at now.
  mutating func forgetNoted() { firstNoted = nil }

  /// Called when changes have been looked at that affect these steps. `mayCancel` is false if the
  /// run itself may have made them.
  mutating func affected(_ part: WatchedPart, mayCancel: Bool = true) -> Action? {
    pending = part.union(pending)
    switch state {
    case .idle: return startPending()
    case .running(let running):
      guard policy == .cancel, mayCancel, running.overlaps(part) else { return nil }
      state = .cancelling(running)
      return .cancel
    case .cancelling: return nil
    }
  }

  /// Called when the run in progress has ended. A part that has not succeeded runs again with the next change.
  mutating func ended(isOK: Bool) -> Action? {
    switch state {
    case .idle: preconditionFailure("a run has ended that was not started")
    case .running(let running): if !isOK { unfinished = running }
    case .cancelling(let running): unfinished = running
    }
    state = .idle
    return pending == nil ? nil : startPending()
  }

  private mutating func startPending() -> Action? {
    guard let pending else { return nil }
    let part = pending.union(unfinished)
    self.pending = nil
    unfinished = nil
    state = .running(part)
    return .start(part)
  }
}

// Several decisions are taken at one moment. What they make ready is compared before the first of it starts: else it
// would be the first decision that counts, and not the priority.

package import Scheduling

struct StartHold {
  private var isOn = false
  private var isDue = false

  mutating func begin() { isOn = true }

  /// Whether nothing starts now, but when it ends.
  mutating func postpones() -> Bool {
    if isOn { isDue = true }
    return isOn
  }

  /// Whether something was postponed.
  mutating func end() -> Bool {
    defer { self = StartHold() }
    return isDue
  }
}

extension RunMachine {
  /// Starts nothing until `startHeld`.
  package mutating func holdStarts() { startHold.begin() }

  package mutating func startHeld(at now: Nanoseconds) {
    if startHold.end() { startReady(at: now) }
  }
}

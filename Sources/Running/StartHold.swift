// Several decisions are taken at one moment. The operations that they make ready are compared
// before the first of them starts, so that the priority counts and not the order of the decisions.
// For the same reason nothing starts while a question waits to be handed out that can be answered
// at once: the answer may make something more urgent ready.

package import Scheduling

struct StartHold {
  private var isOn = false
  private var isDue = false
  private var hasQuestions = false

  mutating func begin() { isOn = true }

  /// Called when a question was asked.
  mutating func asked() { hasQuestions = true }

  /// Called when all questions are handed out.
  mutating func heard() { hasQuestions = false }

  /// Whether starts are postponed until the hold ends.
  mutating func postpones() -> Bool {
    guard isOn || hasQuestions else { return false }
    isDue = true
    return true
  }

  /// Ends the hold; true if a start was postponed.
  mutating func end() -> Bool {
    defer { (isOn, isDue) = (false, false) }
    return isDue
  }
}

extension RunMachine {
  /// Starts nothing until `startHeld`. Whoever takes actions calls this before performing them, and `startHeld`
  /// after that, when all questions are answered that can be answered at once.
  package mutating func holdStarts() { startHold.begin() }

  package mutating func startHeld(at now: Nanoseconds) {
    if startHold.end() { startReady(at: now) }
  }
}

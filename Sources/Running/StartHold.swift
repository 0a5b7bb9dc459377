// Several decisions are taken at one moment. What they make ready is compared before the first of it starts: else it
// would be the first decision that counts, and not the priority. For the same reason nothing starts while somebody
// has yet to hear a question that can be answered at once: the answer may make something more urgent ready.

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

  /// Whether something was postponed.
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

// Limits how much expressions may produce and read.

/// The cost that the remaining expressions of a file may have, or during the run those of one step.
package final class ValueBudget {
  /// The cost of an item of a list or a map, in addition to its text.
  private static let itemByteCount = 64

  private var made = 64 << 20
  private var read = 512 << 20
  /// The steps that matching patterns may still take.
  var matchSteps = ValueBudget.maxMatchSteps

  static let maxMatchSteps = 10_000_000

  /// The patterns that were used last, with all their states.
  private var patterns: [ExactText: TextPattern] = [:]
  private var keptStates = 0

  private static let maxKeptStates = 100_000

  package init() {}

  /// The pattern with this text. Making one takes a step for each of its states; nil once there are no
  /// steps left.
  func pattern(_ text: String) throws(TextPatternFailure) -> TextPattern? {
    if let known = patterns[ExactText(text: text)] { return known }
    guard matchSteps > 0 else { return nil }
    let pattern: TextPattern
    do throws(TextPatternFailure) {
      pattern = try TextPattern(text)
    } catch {
      matchSteps -= TextPattern.maxStateCount
      throw error
    }
    matchSteps -= pattern.stateCount
    keptStates += pattern.stateCount
    if keptStates > Self.maxKeptStates {
      patterns = [:]
      keptStates = pattern.stateCount
    }
    patterns[ExactText(text: text)] = pattern
    return pattern
  }

  /// True if nothing more may be produced.
  var isSpent: Bool { made < 0 }

  /// Counts a value that a function has produced; returns false once the limit is exceeded.
  package func allows(making value: Value) -> Bool {
    made -= Self.byteCount(of: value)
    return made >= 0
  }

  /// Counts a value that others may use repeatedly, and returns false once the limit is exceeded;
  /// then the value is not even measured.
  package func allows(keeping value: Value) -> Bool { !isSpent && allows(making: value) }

  /// Counts a value that is read completely; returns false once the limit is exceeded.
  package func allows(reading value: Value) -> Bool {
    read -= Self.byteCount(of: value)
    return read >= 0
  }

  private static func byteCount(of value: Value) -> Int {
    switch value {
    case .null, .bool, .number: 0
    case .string(let text): text.utf8.count
    case .list(let items): items.reduce(0) { $0 + itemByteCount + byteCount(of: $1) }
    case .map(let map):
      zip(map.names, map.values).reduce(0) {
        $0 + itemByteCount + $1.0.utf8.count + byteCount(of: $1.1)
      }
    }
  }
}

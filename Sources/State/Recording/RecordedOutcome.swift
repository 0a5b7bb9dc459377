// Outcomes as they are in the database: a number for each, and conditions for statements that look for some of them.

import Scheduling

/// The number of an outcome, with what else is known about it. docs/design-state.md, "The database".
struct RecordedOutcome: Hashable {
  /// The bits 0 to 2: the number of the `Outcome`.
  private static let outcome = 7
  /// Bit 3: the failure was allowed.
  private static let allowed = 8
  /// Bit 4: it is the outcome of a group.
  private static let group = 16
  /// Bit 5: the rest of it was left for a later run.
  private static let leftOut = 32

  private(set) var ending: Ending
  let isOfGroup: Bool
  /// Only because the run was to be resumed in part, it was skipped, or kept although it had changed, or it is a used
  /// pipeline that did not come to its end.
  let isLeftOut: Bool

  init(_ ending: Ending, isOfGroup: Bool, isLeftOut: Bool = false) {
    self.ending = ending
    self.isOfGroup = isOfGroup
    self.isLeftOut = isLeftOut
  }

  init?(number: Int) {
    let bits = number & Self.outcome
    guard let outcome = UInt8(exactly: bits).flatMap(Outcome.init(rawValue:)) else { return nil }
    ending = Ending(outcome, isAllowed: number & Self.allowed != 0)
    isOfGroup = number & Self.group != 0
    isLeftOut = number & Self.leftOut != 0
  }

  /// Takes back that the failure was allowed.
  mutating func forbid() { ending = Ending(ending.outcome) }

  var number: Int {
    Int(ending.outcome.rawValue) | (ending.isAllowed ? Self.allowed : 0) | marks
  }

  /// The bits that are not about the ending.
  var marks: Int { (isOfGroup ? Self.group : 0) | (isLeftOut ? Self.leftOut : 0) }
}

// Parts of statements, about the column `outcome`. A condition is in parentheses, and NULL where there is no outcome.
extension RecordedOutcome {
  /// The number of the ending: of the outcome, and whether the failure was allowed.
  static let endingNumber = "(outcome & \(outcome | allowed))"

  static let isOfGroup = "(outcome & \(group) != 0)"
  static let isLeftOut = "(outcome & \(leftOut) != 0)"
  /// A step, not a group, succeeded, and did not need the cache for that.
  static let isPlainSuccess = "(outcome = \(Outcome.succeeded.rawValue))"
  static let isFailure = isOne { $0.isFailure }
  /// The operation was skipped or blocked.
  static let isOfNothing = isOne { $0.isOfNothing }
  /// The outcome tells whether the step fails: it was neither blocked nor cancelled.
  static let isDecisive = isOne { $0 != .blocked && $0 != .cancelled }
  /// A step succeeded, or failed, which says something about its command.
  static let isOfCommand = isOne { $0 == .succeeded || $0.isFailure }
  /// Only the selection of a part of a run skipped it.
  static let isSkippedForNow =
    "(outcome & \(outcome | leftOut) = \(Int(Outcome.skipped.rawValue) | leftOut))"
  /// A step was cancelled.
  static let isCancelled =
    "(outcome & \(outcome | allowed | group) = \(Outcome.cancelled.rawValue))"
  /// A step succeeded, or had a failure that was allowed.
  static let isOK = {
    let endings = [
      Ending(.succeeded), Ending(.cached), Ending(.failed, isAllowed: true),
      Ending(.timedOut, isAllowed: true),
    ]
    let numbers = endings.map { "\(RecordedOutcome($0, isOfGroup: false).number)" }
    return "(outcome & \(outcome | allowed | group) IN (\(ResultRow.list(of: numbers))))"
  }()

  /// An expression for the number with these marks. If it is that of a group and is to be that of a step, it becomes
  /// another number. All are expressions.
  static func keeping(marks: String, orBecoming other: String) -> String {
    "iif(outcome & \(group) & ~\(marks), \(other), \(endingNumber) | \(marks))"
  }

  /// The condition for outcomes of which this is true.
  private static func isOne(_ isWanted: (Outcome) -> Bool) -> String {
    let numbers = Outcome.allCases.filter(isWanted).map { "\($0.rawValue)" }
    return "(outcome & \(outcome) IN (\(ResultRow.list(of: numbers))))"
  }
}

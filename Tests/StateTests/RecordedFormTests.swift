// Outcomes and causes as they are in the database. Other programs have written the same texts and numbers, so these never
// change: whatever people read of them.

import Plans
import Scheduling
import Testing

@testable import State

private let a = OperationID(0)
private let names = ["it's a"]

private func find(_ name: String) -> OperationID? {
  names.firstIndex(of: name).map { OperationID($0) }
}

private func name(of operation: OperationID) -> String { names[operation.index] }

/// What evaluates conditions.
private func holds(_ condition: String, outcome: Int? = 0, cause: String? = nil) throws -> Bool? {
  let statement = try Database(":memory:", .writing).prepare(
    "SELECT \(condition) FROM (SELECT ?1 AS outcome, ?2 AS cause)")
  statement.bind(1, outcome).bind(2, cause)
  return try statement.next() ? try statement.number(0).map { $0 != 0 } : nil
}

struct `The recorded form of a cause` {
  static let causes: [(Cause, String)] = [
    (.dependency(a), "dependency it's a"),
    (.condition("--skip unit"), "condition --skip unit"),
    (.condition("if: false"), "condition if: false"),
    (.timeLimit("after 3s"), "time_limit after 3s"),
    (.wait("tcp :80"), "wait tcp :80"),
    (.service("exit 0"), "service exit 0"),
    (.notReady("after 3s"), "not_ready after 3s"),
    (.hook(.onSuccess), "hook on_success"), (.hook(.onFailure), "hook on_failure"),
    (.hook(.onCancel), "hook on_cancel"), (.hook(.onComplete), "hook on_complete"),
    (.stopped(.signal(2)), "stopped SIGINT"),
    (.stopped(.failure(a)), "stopped 'it's a' failed"),
    (.stopped(.runTimeout), "stopped the run's time limit"),
    (.stopped(.groupTimeout(a)), "stopped the time limit of 'it's a'"),
    (.stopped(.noWidth), "stopped max_parallel is 0"),
    (.stopped(.suspended), "stopped its queue is suspended and nothing resumes it"),
    (.stopped(.left), "stopped jobs continue in Slurm"),
    (.stopped(.noOutputs), "stopped its outputs cannot be made"),
    (.stopped(.request("anna")), "stopped cancelled by anna"),
    (.stopped(.stateFailure("cannot write 'x'")), "stopped cannot write 'x'"),
  ]

  @Test(arguments: causes) func `is this, and is read again`(cause: Cause, text: String) throws {
    let recorded = try #require(cause.recorded(name(of:)))
    #expect(recorded.text == text)
    #expect(Cause(RecordedCause(text), find) == cause)
    // People read the same of what is recorded as of what was not.
    if case .stopped(let reason) = cause {
      #expect(RecordedCause(text).stop?.words == reason.words(name(of:)))
    }
  }

  @Test func `is none for the step's own command, and that of a stop for what was kept`() {
    #expect(Cause.itself.recorded(name(of:)) == nil)
    #expect(
      Cause.stoppedEarlier(.failure(a)).recorded(name(of:))?.text == "stopped 'it's a' failed")
  }

  @Test(arguments: causes) func `is found by statements as by the program`(
    cause: Cause, text: String
  ) throws {
    let recorded = RecordedCause(text)
    #expect(try holds(RecordedCause.hasCulprit, cause: text) == (recorded.culprit != nil))
    #expect(try holds(RecordedCause.isOfGroupItself, cause: text) == cause.isOfGroupItself)
    #expect(recorded.kind?.isOfGroupItself == cause.isOfGroupItself)
    #expect(
      try holds(RecordedCause.isSkipOption, cause: text) == (text == "condition --skip unit"))
  }

  @Test(arguments: [
    "stopped 'gone' failed", "stopped the time limit of 'gone'", "stopped ' failed", "stopped ",
    "stopped the time limit of '",
  ])
  func `is a message if it names what is not there`(text: String) throws {
    let message = String(text.dropFirst("stopped ".count))
    #expect(Cause(RecordedCause(text), find) == .stopped(.stateFailure(message)))
    #expect(RecordedCause(text).stop?.text == message)
    #expect(RecordedCause(text).stop?.words == message)
    #expect(
      try holds(RecordedCause.hasCulprit, cause: text) == (RecordedCause(text).culprit != nil))
  }

  @Test(arguments: ["dependency gone", "hook on_nothing", "unheard of", "condition", ""])
  func `is of no cause if it is of a kind that is not known`(text: String) {
    #expect(Cause(RecordedCause(text), find) == nil)
    #expect(RecordedCause(text).text == text)
  }

  @Test func `names each signal`() {
    let signals = [
      1: "SIGHUP", 9: "SIGKILL", 15: "SIGTERM", 32: "signal 32", 34: "SIGRTMIN", 40: "SIGRTMIN+6",
      60: "SIGRTMAX-4", 64: "SIGRTMAX",
    ]
    for (number, text) in signals { #expect(RecordedStop.signal(Int32(number)).text == text) }
    for number in Int32(1)...64 {
      #expect(RecordedStop(RecordedStop.signal(number).text) == .signal(number))
    }
    #expect(RecordedStop("SIGNAL") == .other("SIGNAL"))
  }

  @Test func `has the words of the end of a command`() {
    let ends = [
      ("timed out", CommandEnd(.signalled(15), timedOut: true)),
      ("stopped", CommandEnd(.signalled(15), isStopped: true)),
      ("not ready after 5 µs", CommandEnd(.signalled(15), notReadyAfter: 5000)),
      ("not started: x", CommandEnd(.notStarted("x", exitCode: 127))),
      (
        "stopped before it started",
        CommandEnd(.notStarted(CommandEnd.stoppedEarly, exitCode: 126), isStopped: true)
      ),
      ("no such type", CommandEnd(.outputsRefused("no such type"))),
      ("could not be ended, given up", CommandEnd(.abandoned)),
      ("lost: x", CommandEnd(.lost("x"))),
    ]
    for (text, end) in ends {
      #expect(RecordedEnd(end).detail == text)
      #expect(CommandEnd(RecordedEnd(end)) == end)
    }
  }
}

struct `The recorded form of an outcome` {
  @Test func `is this number`() {
    let numbers: [(Outcome, Int)] = [
      (.succeeded, 0), (.cached, 1), (.failed, 2), (.timedOut, 3), (.cancelled, 4), (.skipped, 5),
      (.blocked, 6),
    ]
    #expect(numbers.map(\.0) == Outcome.allCases)
    for (outcome, number) in numbers {
      #expect(RecordedOutcome(Ending(outcome), isOfGroup: false).number == number)
    }
    let failure = Ending(.failed, isAllowed: true)
    #expect(RecordedOutcome(failure, isOfGroup: false).number == 10)
    #expect(RecordedOutcome(failure, isOfGroup: true).number == 26)
    #expect(RecordedOutcome(failure, isOfGroup: true, isLeftOut: true).number == 58)
  }

  @Test(arguments: 0..<64) func `is found by statements as by the program`(number: Int) throws {
    // No outcome has the number 7, and only failures are allowed.
    guard let outcome = RecordedOutcome(number: number), outcome.number == number else { return }
    let ending = outcome.ending
    let plain = number & 32 == 0 ? outcome : RecordedOutcome(ending, isOfGroup: outcome.isOfGroup)
    let conditions: [(String, Bool)] = [
      (RecordedOutcome.isOfGroup, outcome.isOfGroup),
      (RecordedOutcome.isLeftOut, outcome.isLeftOut),
      (RecordedOutcome.isPlainSuccess, number == 0),
      (RecordedOutcome.isFailure, ending.outcome.isFailure),
      (RecordedOutcome.isOfNothing, ending.outcome.isOfNothing),
      (RecordedOutcome.isDecisive, ![.blocked, .cancelled].contains(ending.outcome)),
      (RecordedOutcome.isOfCommand, [.succeeded, .failed, .timedOut].contains(ending.outcome)),
      (RecordedOutcome.isSkippedForNow, ending.outcome == .skipped && outcome.isLeftOut),
      (RecordedOutcome.isCancelled, plain.number == 4),
      (RecordedOutcome.isOK, [0, 1, 10, 11].contains(plain.number)),
    ]
    for (condition, isTrue) in conditions {
      #expect(try holds(condition, outcome: number) == isTrue, "\(condition)")
      #expect(try holds(condition, outcome: nil) == nil, "\(condition)")
    }
    let database = try Database(":memory:", .writing)
    for marks in [0, 16, 32, 48] {
      let kept = RecordedOutcome.keeping(marks: "\(marks)", orBecoming: "5")
      let found = try database.number("SELECT \(kept) FROM (SELECT \(number) AS outcome)")
      #expect(found == (outcome.isOfGroup && marks & 16 == 0 ? 5 : number & 15 | marks))
    }
  }
}

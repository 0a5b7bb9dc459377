// Which steps are kept when a run is resumed, and what is foreseen about it.

import Diagnostics
import Plans
import Scheduling
import Testing

@testable import State

struct ResumptionTests {
  /// Steps with what they depend on: "a; b: a".
  private func plan(
    _ text: String, edited: String? = nil, allowing: AllowFailure = .always
  ) -> Plan {
    var graph = Graph()
    var steps: [PlannedStep] = []
    let words = text.split(separator: ";").map {
      $0.split(separator: ":").map { $0.filter { $0 != " " } }
    }
    for word in words {
      graph.append(OperationSpec())
      let action = Action.script("run \(word[0])\(word[0] == edited ?? "" ? " better" : "")")
      steps.append(
        PlannedStep(
          id: word[0], span: Span(start: 0, end: 0), work: .known(action),
          settings: StepSettings(allowFailure: allowing)))
    }
    for (index, word) in words.enumerated() where word.count > 1 {
      for name in word[1].split(separator: ",") {
        let from = steps.firstIndex { $0.id == name } ?? -1
        graph.addEdge(from: OperationID(from), to: OperationID(index), when: .ok)
      }
    }
    return Plan(
      name: "test", sources: SourceMap(), steps: steps, graph: graph,
      queues: [QueueSpec(name: "default", width: 1)], pools: [], failurePolicy: .continue,
      timeout: nil, settings: StepSettings())
  }

  /// A record of the plan's steps: how they ended, and in which run.
  private func earlier(
    _ plan: Plan, _ endings: [String: (Ending, origin: Int)], leftOut: String? = nil
  ) -> EarlierRun {
    var fingerprints = Fingerprints(nil)
    var steps: [String: EarlierStep] = [:]
    for step in plan.steps {
      guard let (ending, origin) = endings[step.id] else { continue }
      steps[step.id] = EarlierStep(
        outcome: RecordedOutcome(ending, isOfGroup: false, isLeftOut: step.id == leftOut),
        written: fingerprints.written(step), resolved: 0, origin: origin, end: nil,
        isFailedHook: false)
    }
    return EarlierRun(
      name: "20260402-101502-k3", number: 7,
      request: RunRequest(file: "test.yml", parameters: [], steps: []), marks: RunMarks(),
      process: 0, exitStatus: 1, steps: steps)
  }

  /// Plays a run in file order: each step is kept, or runs and succeeds. Returns what ran.
  private func ran(_ resumption: Resumption, skipping skipped: Set<String> = []) -> [String] {
    var fingerprints = Fingerprints(nil)
    var ran: [String] = []
    for (index, step) in resumption.plan.steps.enumerated() {
      let operation = OperationID(index)
      if skipped.contains(step.id) {
        _ = resumption.settled(operation, Ending(.skipped))
        continue
      }
      let now = RememberedStep(
        id: step.id, written: fingerprints.written(step), resolved: 0, allowance: .always)
      if resumption.kept(operation, of: operation, as: now) == nil {
        ran.append(step.id)
        _ = resumption.settled(operation, Ending(.succeeded))
      } else {
        _ = resumption.settled(operation, Ending(.cached))
      }
    }
    return ran
  }

  private let ok = Ending(.succeeded)

  @Test func `what succeeded is kept, what failed or did not run is run`() {
    let plan = plan("a; b: a; c: b; d")
    let record = earlier(plan, ["a": (ok, 7), "b": (Ending(.failed), 7), "d": (ok, 7)])
    let resumption = Resumption(record, plan, ResumeSelection())
    #expect(resumption.foreseen.keptCount == 2 && resumption.foreseen.runCount == 2)
    #expect(ran(resumption) == ["b", "c"])
  }

  @Test func `an edited step runs, with everything downstream`() {
    let old = plan("a; b: a; c: b; d: a")
    let record = earlier(old, ["a": (ok, 7), "b": (ok, 7), "c": (ok, 7), "d": (ok, 7)])
    let resumption = Resumption(record, plan("a; b: a; c: b; d: a", edited: "b"), ResumeSelection())
    #expect(resumption.names(of: resumption.foreseen.operations(toRun: .edited)) == "b")
    #expect(resumption.names(of: resumption.foreseen.operations(toRun: .downstream)) == "c")
    #expect(ran(resumption) == ["b", "c"])
  }

  @Test func `a step is not kept if what it depends on ran again after it`() {
    // In run 7, 'a' was run again, and oprun died before 'b' was.
    let plan = plan("a; b: a; c: b")
    let record = earlier(plan, ["a": (ok, 7), "b": (ok, 5), "c": (ok, 5)])
    #expect(ran(Resumption(record, plan, ResumeSelection())) == ["b", "c"])
    let whole = earlier(plan, ["a": (ok, 5), "b": (ok, 6), "c": (ok, 7)])
    #expect(ran(Resumption(whole, plan, ResumeSelection())) == [])
  }

  @Test func `a dependency that is skipped now and was not then is a change`() {
    let plan = plan("a; b: a")
    let ranThen = earlier(plan, ["a": (ok, 7), "b": (ok, 7)])
    #expect(ran(Resumption(ranThen, plan, ResumeSelection()), skipping: ["a"]) == ["b"])
    let skippedThen = earlier(plan, ["a": (Ending(.skipped), 7), "b": (ok, 7)])
    #expect(ran(Resumption(skippedThen, plan, ResumeSelection()), skipping: ["a"]) == [])
  }

  @Test func `what a selection leaves out again is no change, and what it left out runs`() {
    let plan = plan("a; b: a; c: b")
    let record = earlier(
      plan, ["a": (ok, 7), "b": (Ending(.skipped), 7), "c": (ok, 7)], leftOut: "b")
    var selection = ResumeSelection()
    selection.skipped = ["b"]
    let again = Resumption(record, plan, selection)
    #expect(again.foreseen.operations(toRun: .downstream) == [] && again.foreseen.runCount == 0)
    #expect(ran(again, skipping: ["b"]) == [])
    let whole = Resumption(record, plan, ResumeSelection())
    #expect(whole.names(of: whole.foreseen.operations(toRun: .omitted)) == "b")
    #expect(whole.foreseen.downstreamByChange.first { $0.change == .runs }?.operations.count == 1)
    #expect(ran(whole) == ["b", "c"])
  }

  @Test func `the steps that another version of a file does not have are edited ones, too`() {
    let edited = EditedSteps(of: plan("a; b: a; c", edited: "b"), since: plan("a; b: a; d"), nil)
    #expect(edited.all == ["b", "c"] && edited.new == ["c"])
  }

  @Test func `an allowed failure is kept, and a new dependency is a change`() {
    let old = plan("a; b: a; c")
    let allowed = Ending(.failed, isAllowed: true)
    let record = earlier(old, ["a": (allowed, 7), "b": (ok, 7)])
    #expect(ran(Resumption(record, old, ResumeSelection())) == ["c"])
    #expect(ran(Resumption(record, plan("a; c; b: a, c"), ResumeSelection())) == ["c", "b"])
  }

  @Test
  func `a failure that is no longer allowed runs again, and so does one that was not allowed`() {
    let strict = plan("a; b: a; c", allowing: .never)
    let endings: [String: (Ending, origin: Int)] = [
      "a": (Ending(.failed, isAllowed: true), 7), "b": (ok, 7), "c": (ok, 7),
    ]
    let resumption = Resumption(earlier(strict, endings), strict, ResumeSelection())
    #expect(resumption.foreseen.keptCount == 1 && resumption.foreseen.runCount == 2)
    #expect(ran(resumption) == ["a", "b"])
    let lenient = plan("a; b: a; c")
    let failed = earlier(lenient, ["a": (Ending(.failed), 7), "b": (Ending(.blocked), 7)])
    #expect(ran(Resumption(failed, lenient, ResumeSelection())) == ["a", "b", "c"])
  }

  @Test func `what ended before its turn came is for the next run, unless a step has seen it`() {
    let plan = plan("a; b: a; c; d: c; e: b")
    let record = earlier(
      plan, ["a": (ok, 5), "b": (ok, 5), "c": (Ending(.failed), 5), "d": (ok, 5), "e": (ok, 5)])
    let resumption = Resumption(record, plan, ResumeSelection())
    let ids = plan.steps.indices.map { OperationID($0) }
    func settled(_ number: Int, _ outcome: Outcome, _ cause: Cause) -> TakenOver {
      resumption.settled(ids[number], Ending(outcome), cause)
    }
    let stop = Cause.stopped(.failure(ids[2]))
    #expect(settled(0, .cancelled, stop) == .awaiting)
    #expect(settled(1, .blocked, .dependency(ids[0])) == .awaiting)
    #expect(resumption.began(ids[2]) == [])
    #expect(settled(2, .cancelled, stop) == .forgotten)
    #expect(settled(3, .blocked, .dependency(ids[2])) == .forgotten)
    #expect(resumption.began(ids[4]) == [ids[1]])
  }

  @Test func `a step runs again if what it depends on now had not ended when it began`() {
    let plan = plan("a; b: a; c: b")
    let stories: [(end: Int, ran: [String])] = [(20, []), (21, ["b", "c"])]
    for (end, expected) in stories {
      var record = earlier(plan, ["a": (ok, 7), "b": (ok, 7), "c": (ok, 7)])
      record.steps["a"]?.ended = end
      record.steps["b"]?.started = 20
      record.steps["b"]?.ended = 30
      record.steps["c"]?.started = 30
      let resumption = Resumption(record, plan, ResumeSelection())
      #expect(ran(resumption) == expected)
      let changes = resumption.foreseen.downstreamByChange.filter { !$0.operations.isEmpty }
      #expect(changes.map(\.change) == (expected.isEmpty ? [] : [.runsAgain, .hadNotEnded]))
    }
  }

  @Test func `what depends on a step that is skipped now loses its result with that`() {
    let plan = plan("a; b: a; c: b; d")
    let ran = earlier(plan, ["a": (ok, 7), "b": (ok, 7), "c": (ok, 7), "d": (ok, 7)])
    let now = Resumption(ran, plan, ResumeSelection())
    #expect(now.outdated(by: OperationID(0), of: OperationID(0), named: "a") == ["b"])
    let skipped = earlier(plan, ["a": (Ending(.skipped), 7), "b": (ok, 7)])
    let again = Resumption(skipped, plan, ResumeSelection())
    #expect(again.outdated(by: OperationID(0), of: OperationID(0), named: "a") == [])
  }

  @Test func `what is run again by somebody is not kept any more`() {
    let plan = plan("a; b: a")
    let record = earlier(plan, ["a": (Ending(.failed, isAllowed: true), 7), "b": (ok, 7)])
    let resumption = Resumption(record, plan, ResumeSelection())
    #expect(ran(resumption) == [])
    for step in [OperationID(0), OperationID(1)] { resumption.forget(step) }
    #expect(ran(resumption) == ["a", "b"])
  }

  @Test func `what is foreseen to run because of a later run does`() {
    // In run 7, 'a' was run again, and oprun died before 'b' was.
    let plan = plan("a; b: a; c: b")
    let record = earlier(plan, ["a": (ok, 7), "b": (ok, 5), "c": (ok, 5)])
    let foreseen = Resumption(record, plan, ResumeSelection()).foreseen
    #expect(foreseen.keptCount == 1 && foreseen.runCount == 2)
    #expect(foreseen.downstreamByChange.map(\.operations.count) == [1, 1, 0, 0, 0, 0, 0])
  }

  @Test func `what is named and what failed runs, and nothing else`() {
    let plan = plan("a; b: a; c; d", allowing: .never)
    let record = earlier(
      plan, ["a": (ok, 7), "b": (ok, 7), "c": (Ending(.failed), 7), "d": (Ending(.blocked), 7)])
    var selection = ResumeSelection()
    selection.only = ["b"]
    selection.isOfFailed = true
    let resumption = Resumption(record, plan, selection)
    let left = plan.steps.indices.filter {
      resumption.reasonToLeaveOut(OperationID($0), named: plan.steps[$0].id) != nil
    }
    #expect(left == [3])
    #expect(ran(resumption, skipping: ["d"]) == ["b", "c"])
  }

  @Test func `a step that gave a secret runs again`() {
    let plan = plan("a; b: a")
    var record = earlier(plan, ["a": (ok, 7), "b": (ok, 7)])
    var steps = record.steps
    steps["a"]?.hasSecretOutput = true
    record = EarlierRun(
      name: record.name, number: 7, request: record.request, marks: record.marks, process: 0,
      exitStatus: nil, steps: steps)
    let resumption = Resumption(record, plan, ResumeSelection())
    #expect(resumption.names(of: resumption.foreseen.operations(toRun: .givesSecret)) == "a")
    #expect(ran(resumption) == ["a", "b"])
  }

  @Test func `outcomes are numbers and back`() {
    for outcome in Outcome.allCases {
      for (isOfGroup, isLeftOut) in [(false, false), (true, false), (false, true), (true, true)] {
        for isAllowed in [false, outcome.isFailure] {
          let recorded = RecordedOutcome(
            Ending(outcome, isAllowed: isAllowed), isOfGroup: isOfGroup, isLeftOut: isLeftOut)
          #expect(RecordedOutcome(number: recorded.number) == recorded)
        }
      }
    }
  }
}

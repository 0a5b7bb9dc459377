// `oprun show`: how a run went, step by step, and its failures as the run showed them at its end.

import Diagnostics
import Execution
import Expressions
import Glibc
import Plans
import Reporting
import RunFiles
import Scheduling
import State

extension Tool {
  func show(_ invocation: Invocation) throws(UsageFailure) -> Int32 {
    var invocation = invocation
    guard let store = try openStore(&invocation) else { return ExitStatus.usage }
    let (run, words) = try runAndSteps(invocation.operands, in: store, .show)
    guard let shown = shownRun(run, store) else { return ExitStatus.cannotWrite }
    let chosen = try steps(words, of: shown, .show)
    if invocation.isOn(Options.json) {
      write(json: run, store) {
        writeResumer(of: shown)
        writeFields(of: (try? store.changes(of: run)) ?? [])
        writeFields(of: chosen, shown)
        if words.isEmpty { writeHooks(of: shown) }
      }
      output.writeNewline()
    } else {
      write(words.isEmpty ? nil : chosen, of: shown, store, invocation)
    }
    return ExitStatus.success
  }

  func shownRun(_ run: RecordedRunSummary, _ store: StateStore) -> ShownRun? {
    do throws(StoreFailure) {
      return try ShownRun(run, in: store)
    } catch {
      say(error.message, help: error.help)
      return nil
    }
  }

  /// Writes the run and all its steps, or all facts about some steps.
  private func write(
    _ chosen: [RecordedStep]?, of shown: ShownRun, _ store: StateStore, _ invocation: Invocation
  ) {
    let current = presentPlan(of: shown.run, store, invocation)
    let screen = listingScreen
    let (review, isEdited) = review(of: shown, current, store, on: screen)
    var shown = shown
    if let review { shown.limits = review.limit }
    if chosen == nil { writeHead(shown, store, screen) }
    let steps = chosen ?? shown.steps.filter { !$0.standsForOthers }
    let unbegun = chosen == nil ? review?.unbegunSteps ?? [] : []
    let width = review?.width(ofNames: steps.map(\.name) + unbegun) ?? 0
    for step in steps {
      review?.writeStep(step.shownEnding, step.name, width: width, shown.words(of: step))
      if chosen != nil { writeDetails(of: step, shown, screen) }
    }
    for name in unbegun {
      review?.writeStep(nil, name, width: width, "had not started when oprun died")
    }
    let names = chosen.map { Set($0.map(\.name)) }
    var advice: [Advice] = []
    if let step = review?.failureWithOutput(among: names),
      store.folder.run(named: shown.run.name) != nil
    {
      advice.append(
        Advice(
          "oprun logs \(shown.run.name) \(shellQuoted(step))" + stateOption(invocation),
          to: "everything that it printed"))
    }
    if shown.isWorthResuming, hasFile(shown.run, store),
      chosen?.contains(where: \.isUnsuccessful) ?? true
    {
      advice +=
        resumeCommand(invocation, of: shown.run.name).map {
          [.resume($0, afterLeaving: shown.run.wasLeft)]
        } ?? []
    }
    review?.writeFailures(among: names, advice, isEdited: isEdited)
  }

  /// The run as its own end showed it: with the plan of its file, or with the names of its steps if
  /// the file no longer has all of them.
  private func review(
    of shown: ShownRun, _ current: PresentPlan?, _ store: StateStore, on screen: Screen
  ) -> (RunReview?, (String, PlannedStep) -> Bool) {
    guard let directory = directory(of: shown.run, in: store) else {
      return (nil, { _, _ in false })
    }
    let trace = recordedTrace(of: shown.run, store)
    if let current,
      let replay = try? store.replay(
        shown.run, current.plan, trace, current.secrets.masker),
      replay.missing.isEmpty
    {
      let review = RunReview(plan: current.plan, directory: directory, screen: screen)
      keepUntilExit((shown, current, replay, review))
      review.replay(replay.forEachEvent)
      return (review, { current.earlier.isEdited($0, $1, current.secrets.masker) })
    }
    let names = shown.steps.filter { !$0.standsForOthers }.map(\.name)
    let plan = Plan(name: shown.run.pipeline, stepsNamed: names)
    let review = RunReview(plan: plan, directory: directory, screen: screen)
    if let replay = try? store.replay(shown.run, plan, trace) { review.replay(replay.forEachEvent) }
    return (review, { _, _ in false })
  }

  private func writeHead(_ shown: ShownRun, _ store: StateStore, _ screen: Screen) {
    let run = shown.run
    var state = run.state(isInUse: shown.isInUse)
    // The line is `stopped: SIGINT, exit 130`, but `failed, exit 1, stopped: 'unit' failed`.
    var remarks = run.remarks
    if ["stopped", "left"].contains(state), let remark = remarks.popLast() { state = remark }
    if let status = run.exitStatus, status != 0, run.passedOn == nil { state += ", exit \(status)" }
    for remark in remarks { state += ", \(remark)" }
    screen.writeLine([run.name], [state])
    screen.writeField("pipeline", oneLine(run.pipeline))
    if let file = run.file {
      let remark = hasFile(run, store) ? "" : ", which does not exist any more"
      screen.writeField("file", oneLine(file) + remark)
    }
    if let workspace = run.workspace {
      screen.writeField("workspace", oneLine(store.folder.directory(of: workspace) ?? workspace))
    }
    let start = UTCTime(secondsSince1970: run.started / 1_000_000)
    screen.writeField("started", start.text + "Z on \(oneLine(run.host))")
    if let duration = run.duration {
      screen.writeField("took", elapsedText(Int64(duration) * 1000))
    }
    screen.writeField("steps", run.counts)
    if let resumed = run.resumed { screen.writeField("resumes", resumed) }
    if let resumer = shown.resumer { screen.writeField("resumed by", resumer) }
    for change in (try? store.changes(of: run)) ?? [] {
      let moment = UTCTime(secondsSince1970: (run.started + change.time) / 1_000_000)
      screen.writeField("changed", oneLine("\(change.words) \(moment.text)Z"))
    }
    output.writeNewline()
  }

  private func writeDetails(of step: RecordedStep, _ shown: ShownRun, _ screen: Screen) {
    let commands = shown.commands[step.name] ?? []
    for command in commands where Int(command.role) != nil {
      write(command, of: step, shown, screen)
    }
    if let attempts = step.attempts, let end = step.end {
      let log =
        shown.placeWords(of: step, "\(attempts)")
        + shown.logWords(of: step, "\(attempts)", step.last.output)
      let limit = shown.limits(step.name)
      screen.writeField("attempt \(attempts)", oneLine(end.words(limit: limit)) + log)
    }
    for command in commands where Int(command.role) == nil {
      write(command, of: step, shown, screen)
    }
    if let processor = step.last.processor {
      // The memory of a command that needed little is not known.
      let memory = step.last.memory.map { ", \($0 >> 10) MiB of memory" } ?? ""
      screen.writeField(
        "used", "\(elapsedText(Int64(processor) * 1000)) of processor time\(memory)")
    }
    for output in shown.outputs[step.name] ?? [] {
      let value = output.json.map { oneLine($0) } ?? "*** (not kept)"
      screen.writeField("output", "\(oneLine(output.name)) = \(value)")
    }
  }

  private func write(
    _ command: RecordedStepCommand, of step: RecordedStep, _ shown: ShownRun, _ screen: Screen
  ) {
    let log =
      shown.placeWords(of: step, command.role)
      + shown.logWords(of: step, command.role, command.last.output)
    let limit = Int(command.role) == nil ? nil : shown.limits(step.name)
    let words = command.end.map { oneLine($0.words(limit: limit)) } ?? shown.runningWords
    screen.writeField(command.title, words + log)
  }
}

extension RecordedStepCommand {
  /// The title of a command: `attempt 1`, `on_failure`.
  fileprivate var title: String {
    Int(role).map { "attempt \($0)" } ?? CommandRole(named: role)?.words ?? role
  }
}

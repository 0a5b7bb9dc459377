// A run as it would be, one line per operation in the order in which they would start. Nothing is
// changed.

import CLinux
import Diagnostics
package import Plans
import Scheduling

/// How listings of graphs are written.
package struct DrawingOptions: Sendable {
  package var usesASCII = false
  package var isColored = false
  /// True to show whole commands and all settings, on separate lines.
  package var isVerbose = false
  /// The number of columns of a line; anything longer is clipped, except names. Files have no such limit.
  package var columns = Int.max

  package init() {}
}

package struct DryRun {
  package let forecast: Forecast
  private let plan: Plan
  private let options: DrawingOptions
  private let reasons: Reasons
  private let arrays: SlurmArrays
  private let folds: FoldedInstances
  /// Steps without lines: those that others stand for, and those that are only named.
  private let hidden: Set<OperationID>
  private let named: [OperationID]
  private let remark: String?
  /// True if steps that are counted as running may turn out to be up to date.
  private let isUpperBound: Bool

  /// The number of lines that are measured to align the columns of all.
  private static let measuredLines = 1000
  private static let widestReason = 40
  private static let narrowestCommand = 24
  private static let longestList = 8
  /// Names get half of a line, but not more than would be seen at once.
  private var widestName: Int { min(80, max(40, options.columns / 2)) }

  package init(_ plan: Plan, options: DrawingOptions, _ known: StepForecast = StepForecast()) {
    self.plan = plan
    self.options = options
    forecast = Forecast(
      plan, upToDate: known.endings, leftOut: known.leftOut)
    reasons = Reasons(plan, known)
    arrays = SlurmArrays(plan)
    remark = known.remark
    isUpperBound = forecast.entries.contains {
      $0.wave > 0 && known.undecided.contains($0.operation)
    }
    folds =
      options.isVerbose
      ? FoldedInstances() : FoldedInstances(forecast.entries, of: plan, reasons)
    var (hidden, named) = (folds.hidden, [OperationID]())
    if known.foldsUpToDate, !options.isVerbose, forecast.runCount > 0 {
      for entry in forecast.entries {
        if entry.verdict == .upToDate {
          named.append(entry.operation)
          hidden.insert(entry.operation)
        } else if entry.verdict == .standsForOthers,
          plan.groups[entry.operation]?.members.allSatisfy(hidden.contains) == true
        {
          hidden.insert(entry.operation)
        }
      }
    }
    self.hidden = hidden
    self.named = named
  }

  package func write(to sink: ByteSink) {
    var rails = Rails(
      plan.graph, order: forecast.entries.lazy.map(\.operation), hidden: hidden,
      columns: options.columns)
    let layout = measure(rails, sink)
    if let description = plan.description {
      sink.write("description: ")
      sink.write(joinedLines(description))
      sink.writeNewline()
    }
    if plan.isExclusive { sink.write("mutex: pipeline, so one run of it at a time\n") }
    for (place, entry) in forecast.entries.enumerated() {
      if hidden.contains(entry.operation) {
        rails.pass(entry.operation)
        continue
      }
      let line = rails.advance(to: entry.operation)
      prefetch(rails.dependencies, place)
      write(entry, line, layout, to: sink)
      if options.isVerbose { writeDetails(of: entry.operation, rails.below, layout, to: sink) }
    }
    writeVerdict(to: sink)
    if !named.isEmpty {
      sink.write("up to date: ")
      let names = named.map { oneLine(plan.steps[$0.index].id) }
      sink.write(firstNames(of: names, most: Self.longestList))
      sink.writeNewline()
    }
    if let remark {
      sink.write(oneLine(remark))
      sink.writeNewline()
    }
    writeLeftOut(to: sink)
  }

  private func writeLeftOut(to sink: ByteSink) {
    guard !plan.leftOut.isEmpty else { return }
    sink.write("not run unless named: ")
    sink.write(oneLine(firstNames(of: plan.leftOut, most: Self.longestList)))
    sink.writeNewline()
  }
}

// The steps of a large plan are in no cache of the processor when a line shows them.
extension DryRun {
  /// Makes the processor fetch the steps that the line of an entry names, and the step of a later
  /// line, while it does something else: saves 2 % of a dry run of 100,000 steps.
  private func prefetch(_ dependencies: [OperationID], _ place: Int) {
    plan.steps.withUnsafeBufferPointer { steps in
      guard let start = steps.baseAddress else { return }
      for operation in dependencies.prefix(Reasons.namedDependencies) {
        clinux_prefetch(start + operation.index)
      }
      let later = place + 8
      if later < forecast.entries.count {
        clinux_prefetch(start + forecast.entries[later].operation.index)
      }
    }
  }
}

// One line: `2  ├─● lint    run   needs fetch    $ swift format lint`.
extension DryRun {
  private struct Layout {
    var wave = 1
    var name = 0
    var reason = 0
  }

  private func measure(_ rails: Rails, _ sink: ByteSink) -> Layout {
    var layout = Layout()
    var rails = rails
    let nowhere = ByteSink.nowhere()
    for entry in forecast.entries.prefix(Self.measuredLines) {
      if hidden.contains(entry.operation) {
        rails.pass(entry.operation)
        continue
      }
      let width = rails.advance(to: entry.operation).textWidth
      let fold = folds.line(of: entry.operation)
      let name = width + 1 + displayWidth(of: sink.shortened(label(of: entry, fold)))
      layout.name = max(layout.name, min(widestName, name))
      let start = nowhere.position
      writeReason(of: entry, fold, to: nowhere)
      layout.reason = max(layout.reason, min(Self.widestReason, nowhere.position - start))
    }
    let last = digitCount(UInt(forecast.entries.lazy.map(\.wave).max() ?? 0))
    layout.wave = max(last, folds.lines.values.lazy.map(\.wave.utf8.count).max() ?? 0)
    return layout
  }

  private func write(
    _ entry: Forecast.Entry, _ line: RailLine, _ layout: Layout, to sink: ByteSink
  ) {
    let fold = folds.line(of: entry.operation)
    writeWave(of: entry, fold, width: layout.wave, to: sink)
    line.write(to: sink, usesASCII: options.usesASCII)
    sink.write(" ")
    let id = sink.shortened(label(of: entry, fold))
    sink.write(id)
    var column = line.textWidth + 1 + displayWidth(of: id)
    sink.write(spaces: layout.name - column)
    column = max(column, layout.name)
    writeAction(entry, to: sink)
    let start = sink.position
    writeReason(of: entry, fold, to: sink)
    let reason = sink.position - start
    if let command = command(of: entry, fold) {
      sink.write(spaces: layout.reason - reason)
      column += layout.wave + 2 + 8 + max(reason, layout.reason)
      if plan.steps[entry.operation.index].settings.isJob {
        sink.write("  slurm")
        column += 7
      }
      sink.write("  $ ")
      sink.write(
        firstLineOf: command,
        columns: max(Self.narrowestCommand, options.columns - column - 4))
    }
    sink.writeNewline()
  }

  private func label(of entry: Forecast.Entry, _ fold: FoldedInstances.Line?) -> String {
    fold?.label ?? plan.steps[entry.operation.index].id
  }

  private func writeReason(
    of entry: Forecast.Entry, _ fold: FoldedInstances.Line?, to sink: ByteSink
  ) {
    if let fold {
      sink.write(fold.reason)
    } else {
      reasons.write(for: entry, to: sink)
    }
  }

  /// The command in the line; nil if it has lines of its own, or if several instances would not run.
  private func command(
    of entry: Forecast.Entry, _ fold: FoldedInstances.Line?
  ) -> ShownCommand? {
    if options.isVerbose || fold != nil && entry.verdict != .runs {
      return nil
    }
    return plan.steps[entry.operation.index].work.shown
  }

  private func writeWave(
    of entry: Forecast.Entry, _ fold: FoldedInstances.Line?, width: Int, to sink: ByteSink
  ) {
    if let wave = fold?.wave {
      sink.write(spaces: width - wave.utf8.count)
      sink.write(wave)
    } else if entry.wave > 0 {
      sink.write(spaces: width - digitCount(UInt(entry.wave)))
      sink.write(decimal: Int(entry.wave))
    } else {
      sink.write(spaces: width)
    }
    sink.write("  ")
  }

  private func writeAction(_ entry: Forecast.Entry, to sink: ByteSink) {
    let word: StaticString =
      switch entry.verdict {
      case .runs: "run"
      case .runsEach: "each"
      case .standsForOthers: "all"
      case .skipped, .upToDate, .doesNotStart: "skip"
      }
    sink.write("  ")
    sink.write(word, in: entry.wave > 0 ? .good : .faint, isColored: options.isColored)
    sink.write(spaces: 6 - word.utf8CodeUnitCount)
  }
}

// The last line: `6 of 8 would run, 3 at once in this forecast; estimate 41s`; with `up to` if only a run can tell of some.
extension DryRun {
  private func writeVerdict(to sink: ByteSink) {
    if isUpperBound { sink.write("up to ") }
    sink.write(grouped: forecast.runCount)
    sink.write(" of ")
    sink.write(grouped: plan.stepCount)
    sink.write(" would run")
    guard forecast.runCount > 0 else { return sink.writeNewline() }
    writeConcurrency(to: sink)
    sink.write("; ")
    if forecast.unknownCount == forecast.timedCount {
      sink.write(
        plan.knowsEarlierRuns
          ? "no estimate: none of these steps has ever succeeded, or has 'expected'"
          : "no estimate: no step has 'expected'")
    } else {
      sink.write("estimate ")
      sink.write(elapsed: forecast.makespan)
      if plan.knowsEarlierRuns { sink.write(" from history") }
      if forecast.unknownCount > 0 {
        sink.write(", guessing ")
        sink.write(forecast.unknownCount, "step")
        sink.write(plan.knowsEarlierRuns ? " that never succeeded" : " without 'expected'")
      }
    }
    sink.writeNewline()
  }
}

// The concurrency of the run. A header shows the limit (`4 at once`); this is the number if every
// step takes its expected time.
extension DryRun {
  /// Writes `, 3 at once in this forecast`, but `, 4 at once (1 in this forecast; instances of 'test' are not known yet)`.
  private func writeConcurrency(to sink: ByteSink) {
    let late = lateGroups
    sink.write(", ")
    if !late.isEmpty {
      sink.write(grouped: plan.queues.first?.width ?? 0)
      sink.write(" at once (")
    }
    sink.write(grouped: forecast.widest)
    sink.write(late.isEmpty ? " at once in this forecast" : " in this forecast; instances of ")
    guard !late.isEmpty else { return }
    let names = late.map { quoted(plan.steps[$0.index].id) }
    sink.write(firstNames(of: names, most: Self.longestList))
    sink.write(" are not known yet)")
  }

  /// The steps and groups that would run, and whose instances become known only then.
  private var lateGroups: [OperationID] {
    let groups = plan.groups.filter(\.value.isExpanding)
    if groups.isEmpty { return [] }
    let running = Set(forecast.entries.lazy.filter { $0.wave > 0 }.map(\.operation))
    return groups.filter { group, about in
      running.contains(group) || about.pattern?.operations.contains(where: running.contains) == true
    }
    .keys.sorted()
  }
}

// `--verbose`: everything about an operation, under its line.
extension DryRun {
  private func writeDetails(
    of operation: OperationID, _ rails: RailLine, _ layout: Layout, to sink: ByteSink
  ) {
    let indent = max(layout.name, rails.textWidth) + 4
    func beginLine() {
      sink.write(spaces: layout.wave + 2)
      rails.write(to: sink, usesASCII: options.usesASCII)
      sink.write(spaces: indent - rails.textWidth)
    }
    if let command = plan.steps[operation.index].work.shown {
      write(command, after: beginLine, to: sink)
    }
    for detail in StepSettingLines(plan: plan, operation: operation, arrays: arrays).lines {
      beginLine()
      sink.write(oneLine(detail))
      sink.writeNewline()
    }
  }

  private func write(
    _ command: ShownCommand, after beginLine: () -> Void, to sink: ByteSink
  ) {
    let lines = command.text.split(separator: "\n", omittingEmptySubsequences: false)
    let isClosed = lines.count > 1 && lines.last == ""
    for (index, line) in lines.dropLast(isClosed ? 1 : 0).enumerated() {
      beginLine()
      sink.write(index == 0 ? "$ " : "> ")
      sink.write(oneLine(String(line)))
      sink.writeNewline()
    }
  }
}

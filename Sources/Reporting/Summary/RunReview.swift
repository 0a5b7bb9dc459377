// A recorded run as a person looks at it afterwards: a line for each step, and failures as the run
// itself showed them at its end.

import Diagnostics
import Masking
package import Plans
package import RunFiles
package import Scheduling

package final class RunReview {
  private let screen: Screen
  private var record: RunRecord
  /// The steps of the plan, by id.
  private var operations: [String: OperationID] = [:]

  /// The plan, the directory of the run, and a screen whose messages go to the target of the listing.
  package init(plan: Plan, directory: RunDirectory, screen: Screen) {
    self.screen = screen
    let operations = RunOperations(
      plan: plan, directory: directory, masker: screen.messages.masker, screen: screen)
    record = RunRecord(operations)
    for index in plan.steps.indices { self.operations[plan.steps[index].id] = OperationID(index) }
  }

  /// The time limit of a step.
  package func limit(ofStep name: String) -> Nanoseconds? {
    operations[name].flatMap { record.operations.plan.steps[$0.index].settings.timeout }
  }

  /// The names of the steps that had not begun when oprun died.
  package var unbegunSteps: [String] {
    record.steps.filter { $0.settled.isUnended && $0.settled.record == nil }
      .map { record.operations.name($0.operation) }
  }

  /// Observes the events of the run.
  package func replay(_ forEachEvent: ((RunEvent) -> Void) -> Void) {
    record.operations.beginReplay()
    forEachEvent { record.observe($0) }
  }

  /// The first step that failed and has printed something, among those with these names; nil means all.
  package func failureWithOutput(among names: Set<String>?) -> String? {
    failures(among: names).first { ($0.decisive?.end.outputByteCount ?? 0) > 0 }
      .map { record.operations.name($0.operation) }
  }

  private func failures(among names: Set<String>?) -> [SettledOperation] {
    (record.ledger.failures + record.ledger.interrupted).filter { settled in
      names.map { $0.contains(record.operations.name(settled.operation)) } ?? true
    }
  }

  /// Writes the failures of the steps with these names, nil means of all, and the advice, each
  /// after a blank line. `isEdited` is true for a step that now runs something else.
  package func writeFailures(
    among names: Set<String>?, _ advice: [Advice],
    isEdited: @escaping (_ name: String, _ step: PlannedStep) -> Bool
  ) {
    let operations = record.operations
    var summary = Summary(operations: operations, ledger: record.ledger, screen: screen)
    summary.isEdited = { operation in
      let step = operations.plan.steps[operations.planned(operation).index]
      return isEdited(operations.name(operation), step)
    }
    if let names { summary.isShown = { names.contains(operations.name($0.operation)) } }
    _ = summary.writeFailures(advice, after: .lines)
  }
}

// Lines of listings.
extension RunReview {
  /// Writes a step: a mark, its name in this many columns, its ending, and its name for people.
  package func writeStep(_ ending: Ending?, _ name: String, width: Int, _ words: String) {
    if let ending { screen.write(Mark(ending)) } else { screen.write(.waiting) }
    screen.messages.write(" ")
    let label = (operations[name].map(record.operations.label) ?? []).map {
      Piece($0.text, $0.style, cut: $0.cut)
    }
    screen.write(
      [Piece(padded(name, to: width), cut: .middle)] + screen.words(ofPart: words) + label, at: 2,
      indent: 4)
  }

  private func padded(_ name: String, to width: Int) -> String {
    let name = screen.short(oneLine(name))
    return name + String(repeating: " ", count: max(0, width - displayWidth(of: name)))
  }

  /// The columns of the names, up to a limit.
  package func width(ofNames names: some Sequence<String>) -> Int {
    min(40, names.map { displayWidth(of: screen.short(oneLine($0))) }.max() ?? 0)
  }
}

extension Screen {
  /// A text that begins after a gap, and goes on in further lines where there is no room.
  func words(ofPart text: String) -> [Piece] {
    let words = words(of: text)
    guard let first = words.first else { return [] }
    return [Piece(first.text, first.style, cut: first.cut)] + words.dropFirst()
  }

  /// A name that leaves room for something beside it.
  func short(_ name: String) -> String {
    guard clipsMessages else { return name }
    return cutInMiddle(messages.masker?.mask(name) ?? name, columns: nameColumns)
  }

  /// Writes one line of a listing: columns, then texts. On a narrow terminal it goes on in further lines.
  package func writeLine(
    _ columns: [String], _ texts: [String] = [], padding: Int = 0, _ others: [String] = []
  ) {
    var rest = others.flatMap(words(ofPart:))
    if !rest.isEmpty { rest[0].gap += padding }
    write(columns.map { Piece($0, cut: .middle) } + texts.flatMap(words(ofPart:)) + rest)
  }

  /// Writes `label  text`, in whose further lines the text goes on.
  package func writeField(_ label: String, _ text: String) {
    let labelWidth = 11
    let gap = max(2, labelWidth - label.utf8.count)
    messages.write("  \(label)")
    messages.write(spaces: gap)
    write(words(of: text), at: 2 + label.utf8.count + gap, indent: 4)
  }
}

extension CommandEnd {
  /// The end of the command, in the words of a run: `exit 1 after 3.4s`, `timed out after 30s` for that limit.
  package func words(limit: Nanoseconds? = nil) -> String {
    let sink = ByteSink.intoMemory()
    sink.write(self, limit: limit, columns: .max)
    return sink.text
  }
}

extension Plan {
  /// Makes a plan of steps of which only the ids are known, and the names for people, if there are any.
  package init(
    name: String, stepsNamed ids: [String], labels: [String?] = [], width: Int = 1
  ) {
    let empty = Plan(
      name: name, sources: SourceMap(), steps: [], graph: Graph(),
      queues: [QueueSpec(name: "default", width: width)], pools: [], failurePolicy: .continue,
      timeout: nil, settings: StepSettings())
    self = empty.adding(stepsNamed: ids, labels: labels)
  }

  /// The same plan with steps of these names and labels after its own.
  package func adding(stepsNamed ids: [String], labels: [String?]) -> Plan {
    let settings = StepSettings()
    return adding(
      ids.enumerated().map { index, id in
        PlannedStep(
          id: id, span: Span(start: 0, end: 0), work: .none,
          settings: labels.isEmpty
            ? settings : labels[index].map { StepSettings(name: $0) } ?? settings)
      })
  }
}

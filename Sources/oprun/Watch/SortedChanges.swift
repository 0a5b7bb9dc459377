// Changes by what they may affect, and the steps that they do affect.

import Caching
import Diagnostics
import Plans
import Scheduling

/// Changed paths, all absolute, and edited steps.
struct SortedChanges {
  var inputs: [String] = []
  var folders: [String] = []
  /// The paths that affect steps which declare nothing.
  var others: [String] = []
  /// Steps whose definitions have changed.
  var edited: Set<String> = []

  mutating func add(_ path: String, _ kind: NotedChange.Kind, isForOthers: Bool) {
    if kind == .folder { return folders.append(path) }
    inputs.append(path)
    if isForOthers { others.append(path) }
  }

  mutating func add(_ other: SortedChanges) {
    inputs += other.inputs
    folders += other.folders
    others += other.others
    edited.formUnion(other.edited)
  }

  func adding(_ other: SortedChanges) -> SortedChanges {
    var sum = self
    sum.add(other)
    return sum
  }
}

/// Changes by the time when they count.
struct ChangesByTime {
  var now = SortedChanges()
  /// Changes that the run in progress may have made, so that they do not end it.
  var later = SortedChanges()
  /// Changes that start no run, and count with the next one.
  var waiting = SortedChanges()

  mutating func add(_ verdict: OwnChanges.Verdict, _ body: (inout SortedChanges) -> Void) {
    switch verdict {
    case .counts: body(&now)
    case .countsLater: body(&later)
    case .waits: body(&waiting)
    case .isOwn: break
    }
  }

  mutating func add(_ other: ChangesByTime) {
    now.add(other.now)
    later.add(other.later)
    waiting.add(other.waiting)
  }
}

/// The part of a pipeline that changes affect, and the words for it.
struct AffectedRun {
  let part: WatchedPart
  let words: String
  private let reason: AffectedSteps.Reason?
  private static let longestList = 8

  /// Nil if nothing is affected.
  init?(_ steps: AffectedSteps, _ plan: Plan) {
    let affected = steps.steps
    if affected.isEmpty { return nil }
    reason = affected.lazy.compactMap { steps.reasons[$0] }.first {
      if case .upstream = $0 { false } else { true }
    }
    let isEverything = affected.count == steps.leaves.count
    part =
      isEverything ? .everything : .steps(Set(steps.selection.map { plan.steps[$0.index].id }))
    let names = affected.lazy.map { printable(plan.steps[$0.index].id) }
    words =
      isEverything ? "everything" : firstNames(of: names, most: Self.longestList)
  }

  /// The first file that something depends on; nil if the pipeline itself has changed.
  var path: String? {
    switch reason {
    case .input(let files), .output(let files), .undeclared(let files): files.path
    case .edited, .new, .outside, .upstream, nil: nil
    }
  }

  /// The cause, in words.
  func cause(_ shown: (String) -> String) -> String {
    switch reason {
    case .input(let files), .output(let files), .undeclared(let files):
      let more = files.count > 1 ? " and \(files.count - 1) more" : ""
      return "\(quoted(shown(files.path)))\(more) changed"
    case .edited, .new, .outside, .upstream, nil: return "the pipeline changed"
    }
  }
}

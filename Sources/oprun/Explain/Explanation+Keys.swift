// Keys of pipeline files, and of files with tests.

import Diagnostics
import Pipelines

extension Explanation {
  /// The meanings of a key, which may have its owner before it: `retry.delay`.
  static func keys(_ word: String) -> [Explanation] {
    let parts = word.split(separator: ".", maxSplits: 1).map(String.init)
    let kinds = ObjectKind.allCases + ObjectKind.ofTests
    let found = kinds.flatMap { kind in
      kind.rows.filter { $0.key == word || ([kind.owner, $0.key] == parts) }.map { (kind, $0) }
    }
    return merged(found) { _ in "" }
  }

  /// The keys that correspond to a key of another tool.
  static func keysElsewhere(_ word: String) -> [Explanation] {
    let found = ObjectKind.allCases.flatMap { kind in
      kind.rows.filter { $0.key == kind.elsewhere[word] }.map { (kind, $0) }
    }
    return merged(found) { "'\($0)' in oprun, " }
  }

  /// Explanations of keys, with those that mean the same in several places merged.
  private static func merged(
    _ found: [(kind: ObjectKind, row: KeyRow)], heading: (_ key: String) -> String
  ) -> [Explanation] {
    var rows: [(row: KeyRow, places: [String])] = []
    for (kind, row) in found {
      if let same = rows.firstIndex(where: { $0.row.means(row) }) {
        rows[same].places.append(kind.place)
      } else {
        rows.append((row, [kind.place]))
      }
    }
    return rows.map { row, places in
      Explanation(
        kind: heading(row.key) + "a key \(inWords(places, last: "and"))",
        sentence: row.doc.replacingText("`", with: "'"), facts: row.facts)
    }
  }
}

extension KeyRow {
  fileprivate func means(_ other: KeyRow) -> Bool {
    key == other.key && doc == other.doc && type == other.type
      && defaultValue == other.defaultValue && example == other.example
  }

  fileprivate var facts: [(String, String)] {
    var facts = [("value", type.words)]
    if isRequired { facts.append(("required", "yes")) }
    if let defaultValue { facts.append(("default", defaultValue)) }
    if let example { facts.append(("example", "\(key): \(example)")) }
    for kind in type.objectKinds {
      let keys = kind.rows.map(\.key)
      facts.append(("keys", keys.joined(separator: ", ")))
      facts.append(("more", "oprun explain \(kind.owner).\(keys[0])"))
    }
    return facts
  }
}

extension ObjectKind {
  /// The place of its keys, in words.
  fileprivate var place: String {
    switch self {
    case .pipeline: "at top level"
    case .step: "of a step"
    case .hook: "of a hook"
    case .slurm: "of 'slurm' at top level"
    case .stepSlurm: "of 'slurm' in a step"
    case .testFile: "of a file with tests"
    case .param, .secret, .queue, .dependency, .wait, .section, .testCase, .testStub:
      "of an entry of '\(owner)'"
    case .defaults, .retry, .stop, .allowFailure, .background, .mutex, .cache, .testExpectation:
      "of '\(owner)'"
    }
  }

  /// The word before the dot in `retry.delay`.
  fileprivate var owner: String {
    switch self {
    case .pipeline: "pipeline"
    case .step: "step"
    case .param: "params"
    case .secret: "secrets"
    case .queue: "queues"
    case .dependency: "depends_on"
    case .hook: "hook"
    case .section: "pipelines"
    case .slurm, .stepSlurm: "slurm"
    case .testCase: "cases"
    case .testStub: "commands"
    case .testExpectation: "expect"
    case .defaults, .retry, .stop, .allowFailure, .wait, .background, .mutex, .cache, .testFile:
      rawValue
    }
  }
}

// The names of the commands of a step, as files, records and other programs have them.

import Diagnostics
import Scheduling

extension CommandRole {
  package var isAttempt: Bool { if case .attempt = self { true } else { false } }

  /// The name: `1` for an attempt, `on_failure.2` for a command of a hook, `wait_for.1` for a
  /// probe. A hook of a step that somebody ran again has its round after that: `on_failure.2@3`.
  package var name: String {
    switch self {
    case .attempt(let number): String(number)
    case .hook(let kind, let index, let round):
      "\(kind.key).\(index)" + (round > 1 ? "@\(round)" : "")
    case .probe(let index): "wait_for.\(index)"
    }
  }

  /// The attempt or hook with this name; nil if no command can have it.
  package init?(named name: String) {
    if let number = Int(name) {
      self = .attempt(number)
      return
    }
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, let kind = HookKind(key: parts[0]) else { return nil }
    let numbers = parts[1].split(separator: "@", omittingEmptySubsequences: false).map { Int($0) }
    guard numbers.count <= 2, let index = numbers[0], let round = numbers.count > 1 ? numbers[1] : 1
    else { return nil }
    self = .hook(kind, index: index, round: round)
  }

  /// The words for a command other than a first attempt: `attempt 2`, `on_failure`, and
  /// `on_failure after retry 1` for a hook of a step that somebody ran again.
  package var words: String? {
    switch self {
    case .attempt(let number): number == 1 ? nil : "attempt \(number)"
    case .hook(let kind, _, let round): kind.key + (round > 1 ? " after retry \(round - 1)" : "")
    case .probe: "wait_for"
    }
  }
}

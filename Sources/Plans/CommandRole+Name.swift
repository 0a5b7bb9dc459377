// The names of the commands of a step, as files, records and other programs have them.

import Scheduling

extension CommandRole {
  package var isAttempt: Bool { if case .attempt = self { true } else { false } }

  /// `1` for an attempt, `on_failure.2` for a command of a hook, `wait_for.1` for a probe.
  package var name: String {
    switch self {
    case .attempt(let number): String(number)
    case .hook(let kind, let index): "\(kind.key).\(index)"
    case .probe(let index): "wait_for.\(index)"
    }
  }

  /// The attempt or hook with this name; nil if there can be none.
  package init?(named name: String) {
    if let number = Int(name) {
      self = .attempt(number)
      return
    }
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, let index = Int(parts[1]),
      let kind = HookKind(key: parts[0])
    else { return nil }
    self = .hook(kind, index: index)
  }
}

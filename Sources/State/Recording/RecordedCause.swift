// Why a step has its outcome, and why a run was stopped, as texts of the database. They are a file format: older
// programs have written them, and statements look for them. What people read is made from them, and may be reworded.

import Diagnostics
import Plans
import Scheduling

/// The recorded cause of an outcome: a word that says what kind it is, a blank, and what it is about.
package struct RecordedCause: Hashable, Sendable {
  package enum Kind: String, Sendable {
    case dependency
    case condition
    case timeLimit = "time_limit"
    case wait
    case service
    case notReady = "not_ready"
    case hook
    case stopped

    /// As `Cause.isOfGroupItself`.
    var isOfGroupItself: Bool {
      switch self {
      case .condition, .timeLimit, .hook: true
      case .dependency, .wait, .service, .notReady, .stopped: false
      }
    }

    fileprivate var start: String { "\(rawValue) " }
  }

  /// The text of the column `cause`.
  package let text: String

  init(_ text: String) { self.text = text }

  init(_ kind: Kind, _ about: String) { text = kind.start + about }

  /// Nil for a kind that this program does not know.
  package var kind: Kind? { blank.flatMap { Kind(rawValue: String(text[..<$0])) } }

  /// The text behind the word: the name of a step for `dependency`, the key of a hook for `hook`, a `RecordedStop` for
  /// `stopped`, and a message for all others.
  package var about: String {
    blank.map { String(text[text.utf8.index(after: $0)...]) } ?? ""
  }

  private var blank: String.Index? { text.utf8.firstIndex(of: UInt8(ascii: " ")) }

  /// Why a step was stopped; nil if it was not.
  package var stop: RecordedStop? { kind == .stopped ? RecordedStop(about) : nil }

  /// The step because of which a step was cancelled; nil if there is none.
  var culprit: String? { stop?.step }

  /// The cause of a step that its run left before its end.
  static let left = RecordedCause(.stopped, RecordedStop.left.text)

  /// The beginning of a condition that stands for the option `--skip`; the step follows.
  static let skipOption = "--skip "
}

// Conditions for statements, about the column `cause`.
extension RecordedCause {
  static let isSkipOption = isLike(.condition, skipOption)
  /// The cause names a step because of which this one was cancelled.
  static let hasCulprit =
    "(\(isLike(.stopped, RecordedStop.limitStart, RecordedStop.limitEnd)) OR "
    + "\(isLike(.stopped, RecordedStop.failureStart, RecordedStop.failureEnd)))"
  /// A group failed by itself, not because of a member.
  static let isOfGroupItself =
    "(\(isLike(.condition)) OR \(isLike(.timeLimit)) OR \(isLike(.hook)))"

  /// The condition for causes of this kind that are about a text with this beginning and end. No character in these has
  /// a meaning for GLOB.
  private static func isLike(_ kind: Kind, _ start: String = "", _ end: String = "") -> String {
    "cause GLOB \(Database.literal(kind.start + start + "*" + end))"
  }
}

extension Cause {
  /// The cause as it is recorded, nil for the operation's own command; `name` gives the names of operations.
  func recorded(_ name: (OperationID) -> String) -> RecordedCause? {
    switch self {
    case .itself: nil
    case .dependency(let root): RecordedCause(.dependency, name(root))
    case .condition(let text): RecordedCause(.condition, text)
    case .timeLimit(let text): RecordedCause(.timeLimit, text)
    case .wait(let text): RecordedCause(.wait, text)
    case .service(let text): RecordedCause(.service, text)
    case .notReady(let text): RecordedCause(.notReady, text)
    case .hook(let kind): RecordedCause(.hook, kind.key)
    case .stopped(let reason), .stoppedEarlier(let reason):
      RecordedCause(.stopped, reason.recorded(name).text)
    }
  }

  /// The cause that is recorded like this; nil if it is about an operation that is not found, or of an unknown kind.
  init?(_ recorded: RecordedCause, _ operation: (String) -> OperationID?) {
    let about = recorded.about
    switch recorded.kind {
    case .dependency:
      guard let root = operation(about) else { return nil }
      self = .dependency(root)
    case .condition: self = .condition(about)
    case .timeLimit: self = .timeLimit(about)
    case .wait: self = .wait(about)
    case .service: self = .service(about)
    case .notReady: self = .notReady(about)
    case .hook:
      guard let kind = HookKind(key: about) else { return nil }
      self = .hook(kind)
    case .stopped: self = .stopped(StopReason(RecordedStop(about), operation))
    case nil: return nil
    }
  }
}

/// The recorded reason why a run, or a step, was stopped.
package enum RecordedStop: Hashable, Sendable {
  case signal(Int32)
  /// The name of the step that failed.
  case failure(String)
  case runTimeout
  /// The name of the group whose time limit was over.
  case groupTimeout(String)
  case noWidth
  case suspended
  case left
  case noOutputs
  /// The user who asked for it.
  case request(String)
  /// A message, whatever it is about.
  case other(String)

  fileprivate static let (failureStart, failureEnd) = ("'", "' failed")
  fileprivate static let (limitStart, limitEnd) = ("the time limit of '", "'")
  private static let requestStart = "cancelled by "

  /// The reasons that are always the same, and their texts.
  private static let fixed: [(RecordedStop, text: String)] = [
    (.runTimeout, "the run's time limit"), (.noWidth, "max_parallel is 0"),
    (.suspended, "its queue is suspended and nothing resumes it"),
    (.left, "jobs continue in Slurm"), (.noOutputs, "its outputs cannot be made"),
  ]

  init(_ text: String) {
    if let (reason, _) = Self.fixed.first(where: { $0.text == text }) {
      self = reason
    } else if let group = Self.middle(of: text, Self.limitStart, Self.limitEnd) {
      self = .groupTimeout(group)
    } else if let step = Self.middle(of: text, Self.failureStart, Self.failureEnd) {
      self = .failure(step)
    } else if let user = Self.middle(of: text, Self.requestStart, "") {
      self = .request(user)
    } else if let number = Self.signal(named: text) {
      self = .signal(number)
    } else {
      self = .other(text)
    }
  }

  /// The text of the column `stop`, and what follows the word in a cause.
  package var text: String {
    switch self {
    case .signal(let number): signalName(number)
    case .failure(let step): Self.failureStart + step + Self.failureEnd
    case .groupTimeout(let group): Self.limitStart + group + Self.limitEnd
    case .request(let user): Self.requestStart + user
    case .other(let message): message
    case .runTimeout, .noWidth, .suspended, .left, .noOutputs:
      Self.fixed.first { $0.0 == self }?.text ?? ""
    }
  }

  /// The step or the group that it names.
  var step: String? {
    switch self {
    case .failure(let step), .groupTimeout(let step): step
    case .signal, .runTimeout, .noWidth, .suspended, .left, .noOutputs, .request, .other: nil
    }
  }

  /// The reason in a few words, for people.
  package var words: String {
    let name = step ?? ""
    return StopReason(self) { _ in .run }.words { _ in name }
  }

  private static func middle(of text: String, _ start: String, _ end: String) -> String? {
    let bytes = text.utf8
    guard bytes.count >= start.utf8.count + end.utf8.count, bytes.starts(with: start.utf8),
      bytes.suffix(end.utf8.count).elementsEqual(end.utf8)
    else { return nil }
    return String(Substring(bytes.dropFirst(start.utf8.count).dropLast(end.utf8.count)))
  }

  private static func signal(named text: String) -> Int32? {
    guard text.hasPrefix("SIG") || text.hasPrefix("signal ") else { return nil }
    return (1...64).first { signalName($0) == text }
  }
}

extension StopReason {
  /// The reason as it is recorded; `name` gives the names of operations.
  func recorded(_ name: (OperationID) -> String) -> RecordedStop {
    switch self {
    case .signal(let number): .signal(number)
    case .failure(let operation): .failure(name(operation))
    case .runTimeout: .runTimeout
    case .groupTimeout(let group): .groupTimeout(name(group))
    case .noWidth: .noWidth
    case .suspended: .suspended
    case .left: .left
    case .noOutputs: .noOutputs
    case .request(let user): .request(user)
    case .stateFailure(let message), .overtaken(let message): .other(message)
    // No run records that its oprun was killed.
    case .died: .other("oprun died")
    }
  }

  /// The reason that is recorded like this. One that names an operation that is not found is only a message.
  init(_ recorded: RecordedStop, _ operation: (String) -> OperationID?) {
    switch recorded {
    case .signal(let number): self = .signal(number)
    case .failure(let step):
      self = operation(step).map { .failure($0) } ?? .stateFailure(recorded.text)
    case .runTimeout: self = .runTimeout
    case .groupTimeout(let group):
      self = operation(group).map { .groupTimeout($0) } ?? .stateFailure(recorded.text)
    case .noWidth: self = .noWidth
    case .suspended: self = .suspended
    case .left: self = .left
    case .noOutputs: self = .noOutputs
    case .request(let user): self = .request(user)
    case .other(let message): self = .stateFailure(message)
    }
  }
}

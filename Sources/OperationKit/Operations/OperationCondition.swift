// Conditions for an operation to start, in addition to its dependencies.

/// A condition for an operation to start.
///
/// An operation that waits for a condition holds no slot of its queue. Conditions apply to
/// operations in queues: ``Operation/start()`` by hand checks none.
public struct OperationCondition: Sendable {
  enum Kind: Sendable {
    case exclusive(String)
    case when(every: Duration, @Sendable () -> Bool)
    case require(@Sendable () throws -> Void)
  }

  let kind: Kind

  /// No two operations with this name execute at the same time, in any queues.
  public static func exclusive(_ name: String) -> OperationCondition {
    OperationCondition(kind: .exclusive(name))
  }

  /// The operation starts once the predicate is true: it is evaluated when the dependencies have
  /// finished, and then repeatedly.
  public static func when(
    every interval: Duration = .milliseconds(20), _ predicate: @escaping @Sendable () -> Bool
  ) -> OperationCondition {
    OperationCondition(kind: .when(every: interval, predicate))
  }

  /// The operation is cancelled, with the error, if this throws when it is about to start.
  public static func require(
    _ check: @escaping @Sendable () throws -> Void
  ) -> OperationCondition {
    OperationCondition(kind: .require(check))
  }
}

extension Operation {
  /// Nil if the predicates are true, otherwise the time until they are evaluated again.
  var timeUntilNextQuestion: Duration? {
    for condition in readAttachments({ $0.conditions }) ?? [] {
      if case .when(let interval, let predicate) = condition.kind, !predicate() { return interval }
    }
    return nil
  }

  /// Checks the requirements of the operation; if one fails, it is cancelled.
  func checkRequirements() {
    for condition in readAttachments({ $0.conditions }) ?? [] {
      guard case .require(let check) = condition.kind else { continue }
      do { try check() } catch {
        fail(error)
        return cancel()
      }
    }
  }
}

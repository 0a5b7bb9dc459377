// The names that an expression may use at its location, provided by the caller: types for checking,
// values for folding and evaluation.

package import Diagnostics

/// The names that exist, and their types.
package protocol ExpressionScope {
  /// Why a context may not be used at the expression's location; nil if it may.
  func objection(to root: ContextRoot) -> UnlocatedFailure?

  /// The member `root.name` or `root['name']`.
  func member(_ name: String, of root: ContextRoot) -> ScopeMember

  /// The suggester of all expressions of a file.
  var suggester: Suggester { get }

  /// The name that was probably meant by one that does not exist; `suggester` finds it.
  func suggestion(for name: String, of root: ContextRoot) -> String?

  /// The names that a context has, as far as they are known.
  func names(of root: ContextRoot) -> [String]

  /// The type of the whole context, or of a member whose name only the run knows; nil if only
  /// single members may be named.
  func type(of root: ContextRoot) -> ExpressionType?

  /// True if the member is an optional secret, which is null if it is missing.
  func mayBeMissing(_ name: String, of root: ContextRoot) -> Bool

  /// True if `success()` and the other status functions may be called.
  var allowsStatusFunctions: Bool { get }

  /// The budget for the patterns in the expressions of a plan; nil means no limit.
  var valueBudget: ValueBudget? { get }
}

/// The answer of a scope about a member.
package enum ScopeMember {
  case known(ExpressionType)
  /// There is no such name: the checker reports it, with a suggestion.
  case unknown
  /// The member exists but may not be used; the words say why.
  case refused(UnlocatedFailure)
}

extension ExpressionScope {
  package var valueBudget: ValueBudget? { nil }

  package var suggester: Suggester { Suggester() }

  package func names(of root: ContextRoot) -> [String] { [] }

  package func mayBeMissing(_ name: String, of root: ContextRoot) -> Bool { false }

  /// The message for a context that cannot be used here.
  package func unavailable(_ root: ContextRoot) -> UnlocatedFailure {
    ExpressionMessage.unavailable(root)
  }
}

/// The values of the names. A value that is not provided is not known yet.
package protocol ExpressionBindings {
  /// The value of `root.name` or `root['name']`.
  func member(_ name: String, of root: ContextRoot) -> Resolution

  /// The value of the whole context.
  func value(of root: ContextRoot) -> Resolution

  /// True if the member is written as a literal in the file, so that its value is the author's own text.
  func isAuthors(_ name: String, of root: ContextRoot) -> Bool

  /// True if the parameter holds arguments for the commands of the pipeline, which may be options.
  func areArguments(_ param: String) -> Bool

  /// How the direct dependencies ended; nil while that is not known.
  var dependencyStatus: DependencyStatus? { get }

  /// The SHA-256 of the matching files in hexadecimal, '' if there are none; nil while files must
  /// not be accessed.
  func hashFiles(_ patterns: [String]) throws(UnlocatedFailure) -> String?

  /// True if a path exists; nil while files must not be accessed.
  func exists(_ path: String) throws(UnlocatedFailure) -> Bool?

  /// The budget for what functions may still produce and read; nil means no limit.
  var valueBudget: ValueBudget? { get }

  /// The name of a secret that the text contains.
  func secret(heldBy text: String) -> String?

  /// The variable that was probably meant by one that is not set.
  func variable(closestTo name: String) -> String?
}

/// The answers of the status functions `success()`, `failure()` and `cancelled()`.
package struct DependencyStatus {
  /// True if every direct dependency ended as `when: ok` requires.
  package let isSuccess: Bool
  /// True if a direct dependency was blocked, or failed without being allowed to.
  package let isFailure: Bool
  package let isCancelled: Bool

  package init(isSuccess: Bool, isFailure: Bool, isCancelled: Bool) {
    self.isSuccess = isSuccess
    self.isFailure = isFailure
    self.isCancelled = isCancelled
  }
}

/// The meaning of a name.
package enum Resolution {
  case known(Value)
  /// The value becomes known later: folding leaves the name, evaluation fails.
  case later
  case missing
}

extension ExpressionBindings {
  package func value(of root: ContextRoot) -> Resolution { .later }
  package var valueBudget: ValueBudget? { nil }
  package func isAuthors(_ name: String, of root: ContextRoot) -> Bool { false }
  package func areArguments(_ param: String) -> Bool { false }
  package var dependencyStatus: DependencyStatus? { nil }
  package func hashFiles(_ patterns: [String]) throws(UnlocatedFailure) -> String? { nil }
  package func exists(_ path: String) throws(UnlocatedFailure) -> Bool? { nil }
  package func secret(heldBy text: String) -> String? { nil }
  package func variable(closestTo name: String) -> String? { nil }

  /// The objection to a value with a secret in a script or an argument, which all users see who may
  /// list processes. The author is responsible for literal text.
  package func objection(toSecretIn piece: TextPiece) -> UnlocatedFailure? {
    guard let expression = piece.expression, let text = piece.text, let name = secret(heldBy: text)
    else { return nil }
    return ExpressionMessage.holdsSecret(
      expression.text(expression.range(of: expression.root)), name)
  }
}

extension UnlocatedFailure: Error {}

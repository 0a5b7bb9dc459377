// What an expression may name where it stands, given by the caller: types for checking, values for
// folding and evaluation.

package import Diagnostics

/// The names that are there, and their types.
package protocol ExpressionScope {
  /// Whether a context may be used where the expression stands; words that say why not, or nil.
  func objection(to root: ContextRoot) -> UnlocatedFailure?

  /// `root.name`, and `root['name']`.
  func member(_ name: String, of root: ContextRoot) -> ScopeMember

  /// Of all expressions of a file.
  var suggester: Suggester { get }

  /// The name that was meant by one that is not there; `suggester` finds it.
  func suggestion(for name: String, of root: ContextRoot) -> String?

  /// Of the whole context, or of a member whose name only the run knows; nil if single members alone
  /// may be named.
  func type(of root: ContextRoot) -> ExpressionType?

  /// Whether the member is a secret that need not be there: it is null then.
  func mayBeMissing(_ name: String, of root: ContextRoot) -> Bool

  /// Whether `success()` and its like may be called.
  var allowsStatusFunctions: Bool { get }
}

/// What a scope says of a member.
package enum ScopeMember {
  case known(ExpressionType)
  /// No such name: the checker says so, with a suggestion.
  case unknown
  /// There, but not to be used: the words say why.
  case refused(UnlocatedFailure)
}

extension ExpressionScope {
  package var suggester: Suggester { Suggester() }

  package func mayBeMissing(_ name: String, of root: ContextRoot) -> Bool { false }

  /// The words for a context that cannot be used here.
  package func unavailable(_ root: ContextRoot) -> UnlocatedFailure {
    ExpressionMessage.unavailable(root)
  }
}

/// The values behind the names. Whatever is not given is not known yet.
package protocol ExpressionBindings {
  /// `root.name`, and `root['name']`.
  func member(_ name: String, of root: ContextRoot) -> Resolution

  /// The whole context.
  func value(of root: ContextRoot) -> Resolution

  /// Whether the member stands in the file as a literal, so that its value is the author's own text.
  func isAuthors(_ name: String, of root: ContextRoot) -> Bool

  /// How the direct dependencies ended; nil while that is not known.
  var dependencyStatus: DependencyStatus? { get }

  /// The SHA-256 of the matching files in hexadecimal, '' if there are none; nil while files must
  /// not be looked at.
  func hashFiles(_ patterns: [String]) throws(UnlocatedFailure) -> String?

  /// Nil while files must not be looked at.
  func exists(_ path: String) throws(UnlocatedFailure) -> Bool?

  /// What functions may still make and read; nil: as much as they like.
  var valueBudget: ValueBudget? { get }
  /// The name of a secret that the text holds.
  func secret(heldBy text: String) -> String?
}

/// The answers of the status functions `success()`, `failure()` and `cancelled()`.
package struct DependencyStatus {
  /// Every direct dependency ended as `when: ok` asks.
  package let isSuccess: Bool
  /// One of them failed, and was not allowed to, or was blocked.
  package let isFailure: Bool
  package let isCancelled: Bool

  package init(isSuccess: Bool, isFailure: Bool, isCancelled: Bool) {
    self.isSuccess = isSuccess
    self.isFailure = isFailure
    self.isCancelled = isCancelled
  }
}

/// What stands behind a name.
package enum Resolution {
  case known(Value)
  /// Not known before a later moment: folding leaves it, evaluation fails.
  case later
  case missing
}

extension ExpressionBindings {
  package func value(of root: ContextRoot) -> Resolution { .later }
  package var valueBudget: ValueBudget? { nil }
  package func isAuthors(_ name: String, of root: ContextRoot) -> Bool { false }
  package var dependencyStatus: DependencyStatus? { nil }
  package func hashFiles(_ patterns: [String]) throws(UnlocatedFailure) -> String? { nil }
  package func exists(_ path: String) throws(UnlocatedFailure) -> Bool? { nil }
  package func secret(heldBy text: String) -> String? { nil }

  /// To a value in a script or an argument, which everybody can see who may list processes. Literal
  /// text is the author's to answer for.
  package func objection(toSecretIn piece: TextPiece) -> UnlocatedFailure? {
    guard let expression = piece.expression, let text = piece.text, let name = secret(heldBy: text)
    else { return nil }
    return ExpressionMessage.holdsSecret(
      expression.text(expression.range(of: expression.root)), name)
  }
}

extension UnlocatedFailure: Error {}

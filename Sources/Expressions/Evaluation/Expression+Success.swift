// The meaning of a condition for a step after a failure, whatever its words are.

extension Expression {
  /// True if the value is, or may be, different after a failure of a dependency than after a
  /// success. `success() || failure()` asks for neither: others write it for `!cancelled()`.
  package var asksForSuccess: Bool {
    let (asksSuccess, asksFailure) = (calls { $0 == .success }, calls { $0 == .failure })
    guard asksSuccess || asksFailure else { return false }
    guard let afterSuccess = value(afterFailure: false),
      let afterFailure = value(afterFailure: true)
    else { return !(asksSuccess && asksFailure) }
    return afterSuccess != afterFailure
  }

  /// The value of the condition; nil if it depends on more than success and failure.
  private func value(afterFailure hasFailed: Bool) -> Value? {
    let status = DependencyStatus(isSuccess: !hasFailed, isFailure: hasFailed, isCancelled: false)
    return (try? valueIfKnown(with: OnlyStatus(dependencyStatus: status))) ?? nil
  }
}

/// Bindings that know nothing but how the dependencies ended.
private struct OnlyStatus: ExpressionBindings {
  let dependencyStatus: DependencyStatus?

  func member(_ name: String, of root: ContextRoot) -> Resolution { .later }
}

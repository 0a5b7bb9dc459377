// What a condition means for a step after a failure, whatever its words are.

extension Expression {
  /// Whether its value is, or may be, another one after a failure of what the step waits for than after a success.
  /// `success() || failure()` asks for neither: it is how others write `!cancelled()`.
  package var asksForSuccess: Bool {
    let (asksSuccess, asksFailure) = (calls { $0 == .success }, calls { $0 == .failure })
    guard asksSuccess || asksFailure else { return false }
    guard let afterSuccess = value(afterFailure: false),
      let afterFailure = value(afterFailure: true)
    else { return !(asksSuccess && asksFailure) }
    return afterSuccess != afterFailure
  }

  /// Nil if it depends on more than that.
  private func value(afterFailure hasFailed: Bool) -> Value? {
    let status = DependencyStatus(isSuccess: !hasFailed, isFailure: hasFailed, isCancelled: false)
    return (try? valueIfKnown(with: OnlyStatus(dependencyStatus: status))) ?? nil
  }
}

/// Nothing is known but how the dependencies ended.
private struct OnlyStatus: ExpressionBindings {
  let dependencyStatus: DependencyStatus?

  func member(_ name: String, of root: ContextRoot) -> Resolution { .later }
}

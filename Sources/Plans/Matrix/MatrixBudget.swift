// The limit on the work and memory of matrices. It knows no matrix.

/// The budget for all matrices of a plan.
package struct MatrixBudget {
  package init() {}
  /// The comparisons that are left: each combination counts once for each axis of each set of axes
  /// that `exclude` or `include` name.
  private var comparisons = 16_000_000
  /// The values of instances that are left: one for each axis, and for each name that `include` adds.
  private var values = 1_500_000

  package mutating func spend(comparisons count: Int) throws(MatrixFailure) {
    try Self.spend(
      count, of: &comparisons,
      "needs more than 16,000,000 comparisons for 'exclude' and 'include'")
  }

  package mutating func spend(values count: Int) throws(MatrixFailure) {
    try Self.spend(count, of: &values, "leads to more than 1,500,000 instance values")
  }

  private static func spend(
    _ count: Int, of rest: inout Int, _ words: String
  ) throws(MatrixFailure) {
    guard count <= rest else {
      rest = 0
      throw MatrixFailure(message: "\(words), which is the limit")
    }
    rest -= count
  }
}

// "Did you mean": which of the known names a mistyped one was meant to be.

/// Finds the close ones among candidates. A budget bounds the work over a whole file, so that
/// thousands of mistyped names among thousands of others stay cheap. A class: whoever reports faults
/// of a file draws on the same budget.
package final class Suggester {
  private var budget: Int

  /// `budget` counts compared candidates over the life of the suggester.
  package init(budget: Int = 500_000) { self.budget = budget }

  /// The closest candidate within reach, the first of equals; nil when none is close, or the budget
  /// is spent. One that differs in upper and lower case alone is closest, however many letters that
  /// are. Candidates are not asked for once the budget is spent.
  package func closest(
    to name: String, among candidates: @autoclosure () -> some Sequence<String>
  ) -> String? {
    let typed = Array(name.utf8)
    guard typed.count <= 128, budget > 0 else { return nil }
    var best: String?
    var reach = typed.count < 4 ? 1 : 2
    for candidate in candidates() {
      guard budget > 0 else { break }
      budget -= 1
      guard abs(candidate.utf8.count - typed.count) <= reach else { continue }
      let known = Array(candidate.utf8)
      if known != typed, known.map(inLowerCase) == typed.map(inLowerCase) { return candidate }
      let distance = editDistance(typed, known)
      if distance <= reach {
        guard distance > 0 else { continue }
        best = candidate
        reach = distance - 1
        if reach == 0 { break }
      }
    }
    return best
  }
}

private func inLowerCase(_ byte: UInt8) -> UInt8 {
  (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
}

/// The closest candidate, for a single question or among few names. Where both a file's faults and
/// the names may be many, `DiagnosticLog.suggester` is asked.
package func suggestion(for name: String, among candidates: some Sequence<String>) -> String? {
  Suggester().closest(to: name, among: candidates)
}

/// Edits between two short texts; two neighbours in the wrong order are one edit.
func editDistance(_ left: [UInt8], _ right: [UInt8]) -> Int {
  var beforeLast = [Int](repeating: 0, count: right.count + 1)
  var last = Array(0...right.count)
  for i in left.indices {
    var current = [i + 1]
    for j in right.indices {
      var cost = min(last[j] + (left[i] == right[j] ? 0 : 1), last[j + 1] + 1, current[j] + 1)
      if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
        cost = min(cost, beforeLast[j - 1] + 1)
      }
      current.append(cost)
    }
    beforeLast = last
    last = current
  }
  return last[right.count]
}

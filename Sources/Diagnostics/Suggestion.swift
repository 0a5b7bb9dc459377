// "Did you mean": finds the known name that a mistyped one was meant to be.

/// Finds close candidates. A budget bounds the work over a whole file, so that thousands of
/// mistyped names among thousands of others stay cheap. It is a class because everything that
/// reports faults of a file draws on the same budget.
package final class Suggester {
  private var budget: Int

  /// `budget` is the number of candidates compared over the life of the suggester.
  package init(budget: Int = 500_000) { self.budget = budget }

  /// The closest candidate within reach, the first of equals; nil if none is close, or the budget
  /// is spent. Names of one or two letters have one in common. One that differs only in upper and lower case is closest, however many letters
  /// differ. Once the budget is spent, the candidates are not evaluated.
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
      // With one letter changed, any name of one letter is any other.
      if max(typed.count, known.count) < 3, Set(typed).isDisjoint(with: known) { continue }
      let distance = editDistance(typed, known)
      if distance <= reach {
        guard distance > 0 else { continue }
        // Two wrong letters of four are another word: `tcsh`, `bash`.
        if distance > 1, typed.count < 5, !Set(typed).isSubset(of: known) { continue }
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

/// The closest candidate, for a single question or among few names. If a file may have both many
/// faults and many names, use `DiagnosticLog.suggester`.
package func suggestion(for name: String, among candidates: some Sequence<String>) -> String? {
  Suggester().closest(to: name, among: candidates)
}

/// The number of edits between two short strings; two neighbours in the wrong order are one edit.
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

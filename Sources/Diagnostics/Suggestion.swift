// "Did you mean": finds the known name that a mistyped one was probably meant to be.

/// Finds close candidates. A budget bounds the work over a whole file, so that thousands of
/// mistyped names among thousands of others stay cheap. It is a class because everything that
/// reports faults of a file draws on the same budget.
package final class Suggester {
  private var budget: Int

  /// `budget` is the number of candidates over the life of the suggester; a long candidate of about
  /// the name's length counts as several.
  package init(budget: Int = 500_000) { self.budget = budget }

  /// The closest candidate within reach; nil if none is close, or the budget is spent. Of equally
  /// close ones, one with the same letters comes first, then the first. Names of one or two letters,
  /// not counting what follows the last dot, must have one in common. A candidate that differs only
  /// in case is closest, however many letters differ. Once the budget is spent, the candidates are
  /// not evaluated.
  package func closest(
    to name: String, among candidates: @autoclosure () -> some Sequence<String>
  ) -> String? {
    let typed = Array(name.utf8)
    guard typed.count <= 128, budget > 0 else { return nil }
    var best: String?
    var reach = typed.count < 4 ? 1 : 2
    var hasSwap = false
    for candidate in candidates() {
      guard budget > 0 else { break }
      budget -= 1
      guard abs(candidate.utf8.count - typed.count) <= reach else { continue }
      budget -= typed.count / 8
      let known = Array(candidate.utf8)
      if known != typed, isSameInLowerCase(known, typed) { return candidate }
      if reach == 0, hasSwap { continue }
      // With one letter changed, a name of one letter becomes any other.
      let stems = (stem(typed), stem(known))
      if max(stems.0.count, stems.1.count) < 3, Set(stems.0).isDisjoint(with: stems.1) { continue }
      if let distance = editDistance(typed, known, atMost: max(reach, 1)) {
        guard distance > 0 else { continue }
        // Swapped letters are the most frequent mistake: `tset` is `test` rather than `set`.
        let isSwap = distance == 1 && known.count == typed.count && known.sorted() == typed.sorted()
        if reach == 0, !isSwap { continue }
        // With two of four letters wrong, it is another word: `tcsh`, `bash`.
        if distance > 1, typed.count < 5, !Set(typed).isSubset(of: known) { continue }
        best = candidate
        reach = distance - 1
        hasSwap = isSwap
      }
    }
    return best
  }
}

/// The name of a file without what follows its last dot, and without dots before it.
private func stem(_ name: [UInt8]) -> ArraySlice<UInt8> {
  let name = name.drop { $0 == UInt8(ascii: ".") }
  return name[..<(name.lastIndex(of: UInt8(ascii: ".")) ?? name.endIndex)]
}

private func isSameInLowerCase(_ left: [UInt8], _ right: [UInt8]) -> Bool {
  left.count == right.count && zip(left, right).allSatisfy { inLowerCase($0) == inLowerCase($1) }
}

private func inLowerCase(_ byte: UInt8) -> UInt8 {
  (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
}

/// The closest candidate, for a single question or among few names. If a file may have both many
/// faults and many names, use `DiagnosticLog.suggester`.
package func suggestion(for name: String, among candidates: some Sequence<String>) -> String? {
  Suggester().closest(to: name, among: candidates)
}

/// The help for a name that does not exist: the one that was probably meant.
package func didYouMean(_ name: String) -> String { "did you mean \(quoted(name))?" }

package func didYouMean(_ name: String?) -> String? { name.map { didYouMean($0) } }

/// The same question as the end of a sentence, for a message without a help line; empty if no name is close.
package func didYouMeanClause(_ name: String?) -> String {
  name.map { ", \(didYouMean($0))" } ?? ""
}

/// The number of edits between two strings, where a swap of neighbours is one edit; nil if there
/// are more than `limit`. Only the cells of the table around its diagonal are computed: the others
/// need more edits.
package func editDistance(_ left: [UInt8], _ right: [UInt8], atMost limit: Int) -> Int? {
  guard abs(left.count - right.count) <= limit else { return nil }
  let width = 2 * limit + 1
  let tooFar = limit + 1
  // Cell `k` of row `i` is column `i + k - limit`.
  var beforeLast = [Int](repeating: tooFar, count: width)
  var last = (0..<width).map { $0 < limit ? tooFar : $0 - limit }
  var current = beforeLast
  for i in left.indices {
    for k in 0..<width {
      // The column before this one, as an index of `right`.
      let j = i + k - limit
      guard j >= -1, j < right.count else {
        current[k] = tooFar
        continue
      }
      var cost = min(k + 1 < width ? last[k + 1] + 1 : tooFar, k > 0 ? current[k - 1] + 1 : tooFar)
      if j >= 0 {
        cost = min(cost, last[k] + (left[i] == right[j] ? 0 : 1))
        if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
          cost = min(cost, beforeLast[k] + 1)
        }
      }
      current[k] = min(cost, tooFar)
    }
    guard current.contains(where: { $0 <= limit }) else { return nil }
    (beforeLast, last, current) = (last, current, beforeLast)
  }
  let distance = last[right.count - left.count + limit]
  return distance <= limit ? distance : nil
}

// Which paths a declared output covers, compared with the plain recursive definition.

import Expressions
import Glibc
import TestSupport
import Testing

@testable import Pipelines

@Suite("A declared output")
struct DeclaredSpaceTests {
  @Test(arguments: [
    ("dist", "dist/a/b", true), ("dist", "dist2/a", false), ("dist/*", "dist/a/b", true),
    ("dist/*", "dist/.a", false), ("**", "a", true), ("**", ".a", false), ("a/**", "a", false),
    ("**/z", "z", true), ("**/z", "a/b/z/c", true), ("**/z", ".a/z", false),
    ("**/b/**/c", "b/x/b/c", true), ("**/a/b/z", "a/b/a/b/z", true), ("a/b/c", "a/b", false),
    ("o/?", "o/é", true), ("o/??", "o/é", false),
  ])
  func covers(pattern: String, path: String, isCovered: Bool) {
    var budget = 1_000
    #expect(
      DeclaredSpace(ExactText(text: pattern)).covers(ExactText(text: path), budget: &budget)
        == isCovered)
  }

  @Test func `covers what the definition says`() {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<5_000 {
      let pattern = (0..<Int.random(in: 1...6, using: &random)).map { _ in
        ["a", "b", ".h", "*", "**", "**"].randomElement(using: &random)!
      }
      let path = (0..<Int.random(in: 1...7, using: &random)).map { _ in
        ["a", "b", ".h"].randomElement(using: &random)!
      }
      var budget = 1_000
      let space = DeclaredSpace(ExactText(text: pattern.joined(separator: "/")))
      let covered = space.covers(
        ExactText(text: path.joined(separator: "/")), budget: &budget)
      #expect(covered == isCovered(path[...], by: pattern[...]), "\(pattern) \(path)")
    }
  }

  @Test func `covers nothing when the budget is used up`() {
    var budget = 2
    #expect(
      !DeclaredSpace(ExactText(text: "**/z")).covers(ExactText(text: "a/b/z"), budget: &budget))
    #expect(budget <= 0)
  }

  /// The definition: `**` stands for any number of directories that are not hidden, and at the end for at least one name.
  private func isCovered(_ path: ArraySlice<String>, by pattern: ArraySlice<String>) -> Bool {
    guard let name = pattern.first else { return true }
    guard let first = path.first else { return false }
    let (rest, inner) = (pattern.dropFirst(), path.dropFirst())
    if name != "**" { return fnmatch(name, first, FNM_PERIOD) == 0 && isCovered(inner, by: rest) }
    if !rest.isEmpty, isCovered(path, by: rest) { return true }
    return !first.hasPrefix(".") && (rest.isEmpty || isCovered(inner, by: pattern))
  }
}

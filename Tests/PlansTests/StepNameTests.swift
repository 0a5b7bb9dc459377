// Which steps a name on the command line covers.

import Plans
import Testing

struct StepNameTests {
  @Test(arguments: [
    ("a", "a", true), ("a", "ab", false), ("ab", "a", false), ("a", "a/b", true),
    ("a", "a[x]", true),
    ("a/b", "a/b", true), ("a/b", "a[x]/b", true), ("a/b", "a[x]/c", false),
    ("a/b", "a[x]/c[y]/b", true), ("a/b", "a[x]/b[y]", true), ("a/b/c", "a[x]/b[y]/c", true),
    ("a/b/c", "a[x]/c/b[y]/c", false), ("a/b/c", "a[]/b[]/d]/b[z]/c", true),
    ("a/b/c", "a[]/b/d]/b/c", true), ("a[x]/b", "a[x]/b", true), ("a[x]/b", "a[y]/b", false),
    ("a/b", "a[x", false), ("a/b", "a[x]b", false), ("a/", "a[x]/", true),
  ])
  func `a name covers steps, their instances and members`(
    _ word: String, _ id: String, _ isCovered: Bool
  ) {
    #expect(StepName(word).covers(id) == isCovered)
  }

  @Test func `many brackets take little time`() {
    let id = String(repeating: "a[x]/", count: 2000)
    #expect(!StepName(String(repeating: "a/", count: 1000) + "b").covers(id + "c"))
    #expect(StepName(String(repeating: "a/", count: 1000) + "c").covers(id + "c"))
  }
}

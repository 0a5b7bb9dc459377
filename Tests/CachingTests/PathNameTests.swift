// Names that people read as the same, and that are those of different files.

import RunFiles
import Testing

@testable import Caching

struct PathNameTests {
  private static let composed = "\u{e9}"
  private static let decomposed = "e\u{301}"

  @Test func `paths are compared by their bytes`() {
    #expect(Self.composed == Self.decomposed)
    #expect(PathName(Self.composed) != PathName(Self.decomposed))
    #expect(Set([Self.composed, Self.decomposed].map { PathName($0) }).count == 2)
    #expect(FilePattern(Self.composed) != FilePattern(Self.decomposed))
    #expect(FileEntry(Self.composed, .file) != FileEntry(Self.decomposed, .file))
    #expect(ChangedPaths(["/" + Self.composed, "/" + Self.decomposed]).files.count == 2)
  }

  @Test func `a slash is one before a combining mark, too`() {
    #expect(
      FilePattern("a/\u{301}b").names.map { Array($0.text.utf8) } == [[0x61], [0xcc, 0x81, 0x62]])
    #expect(FilePattern("/\u{301}b").isAbsolute)
    #expect(FilePattern("a").covers("a/\u{301}b"))
  }

  @Test func `what is below a directory is told by bytes`() {
    #expect("/a/\u{301}b".path(below: "/a").map { Array($0.utf8) } == [0xcc, 0x81, 0x62])
    #expect("/a".path(below: "/") == "a")
    #expect("/\(Self.composed)/b".path(below: "/\(Self.decomposed)") == nil)
    #expect("/ab".path(below: "/a") == nil && "/a/".path(below: "/a") == nil)
  }

  @Test func `a name that is no text is shown with its bytes`() {
    let name = FileName(joining: [0x62, -1])
    #expect(name.text == nil && name.quoted == #"'b\xff'"#)
    #expect(name.fault(in: "in").message == #"the name of 'in/b\xff' is not UTF-8"#)
    #expect(PatternName("*").matches(name) && PatternName("**").matches(name))
    #expect(!PatternName("*.c").matches(name))
  }
}

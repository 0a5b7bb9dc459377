import Diagnostics
import Testing

/// A mark that makes one character of itself and what is before it.
private let mark = "\u{301}"

struct ByteSearchTests {
  @Test func aMarkBehindASeparatorHidesNothing() {
    let path = "a/\(mark)b=\(mark)c"
    #expect(path.contains("/") && path[...].contains("="))
    #expect(path.firstIndex(of: "/") != nil && path[...].lastIndex(of: "=") != nil)
    #expect(path.split(separator: "/").map { Array($0.utf8).count } == [1, 7])
    #expect(path[...].split(separator: "=", maxSplits: 1).map(\.utf8.count) == [5, 3])
    #expect("/\(mark)".hasPrefix("/") && "/\(mark)"[...].hasPrefix("/"))
    #expect("\u{600}/".hasSuffix("/") && "\u{600}/"[...].hasSuffix("/"))
  }

  @Test func equalCharactersOfOtherBytesAreNoBeginningsAndNoEnds() {
    #expect(!"é".hasPrefix("e\(mark)") && !"é".hasSuffix("e\(mark)"))
  }

  @Test func otherCharactersAreFound() {
    let text = "a…b…c"
    #expect(text.contains("…") && !text.contains("é") && !"…".contains("é"))
    #expect(text.firstIndex(of: "…") == text.firstIndex { $0 == "…" })
    #expect(text.lastIndex(of: "…") == text.lastIndex { $0 == "…" })
    #expect(text.split(separator: "…") == ["a", "b", "c"])
  }

  @Test func whatFollowsASeparatorKeepsItsMark() throws {
    let path = "!\(mark)b"
    #expect(path.first == "!" && path[...].first == "!")
    #expect(path.dropFirst().utf8.elementsEqual("\(mark)b".utf8))
    #expect(path.dropFirst("!").utf8.elementsEqual("\(mark)b".utf8))
    let sign = try #require(path.firstIndex(of: "!"))
    #expect(path[path.index(after: sign)...].utf8.count == 3)
    #expect(path[...sign] == "!")
    #expect("\u{600}/".last == "/" && "\u{600}/".dropLast().utf8.count == 2)
  }
}

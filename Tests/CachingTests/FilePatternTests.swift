// Patterns of `cache`, and the files that they find.

import Foundation
import Testing

@testable import Caching

struct FilePatternTests {
  @Test(arguments: [
    ("src", "src", true), ("src", "src/a/b.c", true), ("src", "srcs", false),
    ("./src/", "src/a", true), ("src/*.c", "src/a.c", true), ("src/*.c", "src/a.h", false),
    ("src/*.c", "src/d/a.c", false), ("**/*.c", "a.c", true), ("**/*.c", "x/y/a.c", true),
    ("*.c", ".a.c", false), (".*", ".a.c", true), ("src/**", "src/a/b", true),
    ("src/**", "src", false), ("a?[0-9]", "ab7", true), ("/etc/*", "/etc/hosts", true),
    ("etc/*", "/etc/hosts", false), ("old*", "older/deep/file", true),
  ])
  func `a pattern covers paths`(_ pattern: String, _ path: String, _ isCovered: Bool) {
    #expect(FilePattern(pattern).covers(path) == isCovered)
  }

  @Test(arguments: [
    ("src/a.c", "src/a.c", true), ("src/*.c", "src", false), ("**", ".", false),
    ("/usr/include/*.h", "/usr/include", false), (".", ".", true), ("../x/*", "../x", false),
  ])
  func `all matches are below its fixed path`(
    _ pattern: String, _ path: String, _ isPlain: Bool
  ) {
    #expect(FilePattern(pattern).fixedPath == path)
    #expect(FilePattern(pattern).isPlain == isPlain)
  }
}

/// Patterns without looking at files.
struct FilePatternPathTests {
  @Test(arguments: [
    ("in", "/w[1]/[s]", "/w[1]/[s]/in", true), ("*.c", "/w[1]", "/w[1]/a.c", true),
    ("*.c", "/w[1]", "/w1/a.c", false), ("../x", "/w/*", "/w/x", true),
    ("/w[1]/in", "/w", "/w1/in", true), ("a/[[]b", "/w", "/w/a/[b", true),
  ])
  func `the name of a directory is no pattern`(
    _ pattern: String, _ directory: String, _ path: String, _ isFound: Bool
  ) {
    #expect(FilePattern(pattern, below: directory).finds(path) == isFound)
    #expect(FilePattern(pattern, below: directory).covers(path) == isFound)
  }

  @Test func `signs in brackets stand for themselves`() {
    for path in ["a/[slug]/x*?.c", "/w[1]/{a}", "plain"] {
      let pattern = FilePattern(FilePattern.escaped(path))
      #expect(pattern.isPlain && pattern.path == path)
    }
    #expect(!FilePattern("config.[h]").isPlain)
    #expect(FilePattern("[[]a]/*.c").fixedPath == "[a]")
  }

  @Test(.timeLimit(.minutes(10)))
  func `many directories of any depth take no longer than few`() {
    let deep = Array(repeating: "d", count: 60).joined(separator: "/")
    for gap in ["**/", "**/x*/", "**/d/"] {
      let pattern = FilePattern(String(repeating: gap, count: 20) + "zzz")
      #expect(!pattern.finds(deep) && !pattern.covers(deep))
      #expect(pattern.reaches(into: deep))
    }
    #expect(FilePattern("a/**/**/b").finds("a/b"))
    #expect(FilePattern("a/**/../**/b", below: "/").finds("/a/x/b"))
  }

  @Test(arguments: [
    ("src", "src/a/b.c", true), ("src/*", "src/a", true), ("src/*", "src/a/b", false),
    ("src/**", "src/a/b", true), ("src/**", "src", false), ("**/*.c", "a.c", true),
    ("**/*.c", "x/y/a.c", true), ("**/*.c", ".x/a.c", false), ("**/*.c", "x/.y/a.c", false),
    ("**/.y/*.c", "x/.y/a.c", true), ("**", "a/b", true), ("**", ".a", false),
    ("*/b", "a/b", true), ("*/b", "a/b/c", false), ("/a/*", "/a/b", true), ("a/*", "/a/b", false),
  ])
  func `a pattern finds what looking for files would`(
    _ pattern: String, _ path: String, _ isFound: Bool
  ) {
    #expect(FilePattern(pattern).finds(path) == isFound)
  }

  @Test(arguments: [
    ("src/*.c", "src", 0, true), ("src", "src", 0, true), ("src", "src/a", 1, false),
    ("src/x/*.c", "src/x", 1, true), ("*/a.c", "src", 0, false), ("*/x/a.c", "src/x", 1, true),
    ("**/x/a.c", "src/x", 1, true), ("**/a.c", "src", 0, false), ("**/a.c", "src/x", 0, false),
    ("src/**/a.c", "src/x", 0, true), ("src/**/a.c", "src/x", 1, false),
  ])
  func `only names without wildcards lead through links`(
    _ pattern: String, _ folder: String, _ link: Int, _ isReached: Bool
  ) {
    #expect(FilePattern(pattern).reaches(into: folder, through: [link]) == isReached)
  }

  @Test(arguments: [
    ("src/*.c", "src", true), ("src/*.c", "src/a", false), ("src", "src/a/b", true),
    ("src/a.c", "src", true), ("src/a.c", "lib", false), ("**/*.c", "a/b", true),
    ("**/*.c", ".git", false), ("a/**/b/*.c", "a/x/y", true), ("a/*/b", "a/x", true),
    ("a/*/b", "b", false),
  ])
  func `a pattern reaches into directories`(
    _ pattern: String, _ folder: String, _ isReached: Bool
  ) {
    #expect(FilePattern(pattern).reaches(into: folder) == isReached)
  }

  @Test(arguments: [
    ("a.c", "/w/a.c"), ("./src/../a.c", "/w/a.c"), ("../x/*.c", "/x/*.c"), ("/etc/./h", "/etc/h"),
    ("../../../x", "/x"), (".", "/w"),
  ])
  func `a pattern starts at a directory`(_ pattern: String, _ whole: String) {
    #expect(FilePattern(pattern, below: "/w").path == whole)
  }
}

struct FileStampTests {
  @Test func `a stamp is trusted only when a later change would give another one`() {
    var stamp = FileStamp()
    stamp.changed = 1_000_000_000_123
    stamp.modified = 5
    #expect(!stamp.isSettled(at: 1_000_000_000_123))
    #expect(!stamp.isSettled(at: 1_000_010_000_000))
    #expect(stamp.isSettled(at: 1_000_030_000_000))
    // It may be rounded to seconds.
    stamp.changed = 1_000_000_000_000
    #expect(!stamp.isSettled(at: 1_002_000_000_000))
    #expect(stamp.isSettled(at: 1_003_000_000_000))
    // In the future it says nothing, but the time of the last modification may be anything.
    #expect(!stamp.isSettled(at: 999_000_000_000))
    stamp.modified = 2_000_000_000_000
    #expect(stamp.isSettled(at: 1_003_000_000_000))
  }

  @Test func `a file that was just written is read again, an old one is not`() throws {
    let folder = try TemporaryFolder()
    folder.write("one", to: "file")
    let fresh = try folder.inspect(["file"])
    folder.wait(for: "file")
    let settled = try folder.inspect(["file"])
    #expect(fresh[0].digest == settled[0].digest)
    #expect(settled[0].digest == CacheDigest(ofContent: "one"))
    // A lie in what is known is believed only for a settled stamp.
    var lie = settled[0]
    lie.digest = CacheDigest(of: "lie")
    #expect(try folder.inspect(["file"], known: [lie])[0].digest == lie.digest)
    var early = lie
    early.stamp.distrust()
    #expect(try folder.inspect(["file"], known: [early])[0].digest == settled[0].digest)
    // Nor do two looks at a file that was written after the first of them began show that it is the same.
    let look = folder.inspector()
    folder.write("new", to: "file")
    var first = look
    early = try first.inspect(["file"])[0]
    early.digest = lie.digest
    var second = look
    second.learn([early])
    #expect(try second.inspect(["file"])[0].digest == CacheDigest(ofContent: "new"))
    folder.write("two", to: "file")
    #expect(try folder.inspect(["file"], known: [lie])[0].digest == CacheDigest(ofContent: "two"))
  }
}

struct FileInspectorTests {
  @Test func `what is read is found in order, with what is behind links`() throws {
    let folder = try TemporaryFolder()
    for path in ["b/2", "b/1", "a.c", "b/.hidden", "c/x.c"] { folder.write(path, to: path) }
    symlink("a.c", folder.path + "/link.c")
    symlink("nowhere", folder.path + "/gone.c")
    let found = try folder.inspect(["b", "*.c", "none", "!b/2"]).filter { !$0.isOnlyListed }
    #expect(
      found.map { "\($0.path) \($0.kind)\($0.isBehindLink ? " behind" : "")" } == [
        "a.c file", "b directory", "b/.hidden file", "b/1 file", "gone.c link",
        "gone.c absent behind", "link.c link", "link.c file behind", "none absent",
      ])
  }

  @Test func `a circle of links has an end`() throws {
    let folder = try TemporaryFolder()
    mkdir(folder.path + "/d", 0o755)
    symlink("..", folder.path + "/d/up")
    symlink("d", folder.path + "/top")
    #expect(try folder.inspect(["top", "d", "**"]).count > 3)
  }

  @Test(arguments: [["d"], ["d/*"], ["**"]])
  func `a tree of too many files is not read to its end`(_ patterns: [String]) throws {
    let folder = try TemporaryFolder()
    for number in 1...9 { folder.write("x", to: "d/\(number)") }
    var inspector = folder.inspector()
    inspector.most = 5
    let failure = #expect(throws: CacheFailure.self) { try inspector.inspect(patterns) }
    #expect(failure?.message == "its inputs are more than 500,000 files")
    #expect(try folder.inspect(patterns).count { $0.kind == .file } == 9)
  }

  @Test func `the state directory is never looked into`() throws {
    let folder = try TemporaryFolder()
    folder.write("x", to: "state/x")
    folder.write("y", to: "y")
    let hidden = open(folder.path + "/state", O_RDONLY)
    defer { close(hidden) }
    let found = try folder.inspect([".", "**"], hidden: HiddenFolder(hidden))
    #expect(!found.contains { $0.path.contains("state/") })
    #expect(found.contains { $0.path == "y" })
  }
}

/// A directory that is removed with the object.
final class TemporaryFolder {
  let path: String

  init() throws {
    var name = Array((NSTemporaryDirectory() + "/oprun-caching-XXXXXX").utf8CString)
    path = try #require(mkdtemp(&name).map { String(cString: $0) })
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func write(_ text: String, to name: String) {
    let place = path + "/" + name
    let parent = (place as NSString).deletingLastPathComponent
    try? FileManager.default.createDirectory(
      atPath: parent, withIntermediateDirectories: true)
    _ = FileManager.default.createFile(atPath: place, contents: Data(text.utf8))
  }

  /// Waits until a change of the file would give it another stamp.
  func wait(for name: String) {
    var status = stat()
    stat(path + "/" + name, &status)
    while !FileStamp(status).isSettled(at: FileStamp.now) { usleep(5000) }
  }

  /// An inspector that has begun to look.
  func inspector() -> FileInspector {
    FileInspector(
      open(path, O_RDONLY | O_DIRECTORY), knowing: nil, hidden: nil, followsLinks: true)
  }

  func inspect(
    _ patterns: [String], known: [FileEntry] = [], hidden: HiddenFolder? = nil
  ) throws -> [FileEntry] {
    let root = open(path, O_RDONLY | O_DIRECTORY)
    defer { close(root) }
    var inspector = FileInspector(root, knowing: nil, hidden: hidden, followsLinks: true)
    inspector.learn(known)
    return try inspector.inspect(patterns)
  }
}

extension CacheDigest {
  /// The digest of a file with this content.
  init(ofContent text: String) {
    var builder = DigestBuilder()
    Array(text.utf8).withUnsafeBytes { builder.addRaw($0) }
    self = builder.finish()
  }
}

struct PatternIndexTests {
  private static let texts = [
    "/w/src/a.c", "/w/in", "/w/src/*.c", "/w/lib/**/x/*.h", "/w/**/*.md", "/data/*/set",
    "/etc/*.d/x",
    "/w/src/[ab]/c",
  ]
  private static let paths = [
    "/", "/w", "/w/src", "/w/src/a.c", "/w/src/b.c", "/w/src/b.h", "/w/src/a/c", "/w/src/a/c/d",
    "/w/in", "/w/in/deep/file", "/w/inside", "/w/lib", "/w/lib/q/x/y.h", "/w/lib/q/x", "/w/a.md",
    "/w/.git", "/data", "/data/1", "/data/1/set/file", "/other", "/etc", "/etc/a.d", "/etc/a.d/x",
  ]

  @Test(arguments: paths)
  func `an index answers as its patterns do`(_ path: String) {
    let patterns = Self.texts.map { FilePattern($0) }
    let plain = patterns.filter(\.isPlain)
    let index = PatternIndex(patterns)
    let answers = [
      index.covers(path), index.coversPlainly(path), index.reaches(into: path, onlyPlainly: false),
      index.reaches(into: path, onlyPlainly: true),
    ]
    let expected = [
      patterns.contains { $0.covers(path) }, plain.contains { $0.covers(path) },
      patterns.contains { $0.reaches(into: path) }, plain.contains { $0.reaches(into: path) },
    ]
    #expect(answers == expected)
    #expect(!PatternIndex([]).covers(path))
    #expect(!PatternIndex([]).reaches(into: path, onlyPlainly: false))
  }
}

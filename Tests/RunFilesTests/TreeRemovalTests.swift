// Directories that commands have filled, in whatever way, are removed whole.

import Foundation
import Testing

@testable import RunFiles

struct TreeRemovalTests {
  private let folder = FileManager.default.temporaryDirectory.appending(
    path: "tree-\(UUID().uuidString)")
  private let parent: Int32

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    parent = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
  }

  private func exists(_ name: String) -> Bool { faccessat(parent, name, F_OK, 0) == 0 }

  private func touch(_ name: String) {
    close(openat(parent, name, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600))
  }

  @Test func `a directory is removed with what is in it, however deep it is`() {
    defer { close(parent) }
    mkdirat(parent, "tree", 0o700)
    touch("tree/file")
    touch("kept")
    mkdirat(parent, "outside", 0o700)
    touch("outside/file")
    symlinkat("../outside", parent, "tree/link")
    var here = openat(parent, "tree", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    for _ in 0..<20_000 {
      mkdirat(here, "d", 0o700)
      let inner = openat(here, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      close(here)
      here = inner
    }
    close(here)
    #expect(removeTree("tree", in: parent))
    #expect(!exists("tree") && exists("kept") && exists("outside/file"))
    #expect(removeTree("outside", in: parent) && removeTree("never", in: parent))
    unlinkat(parent, "kept", 0)
    #expect(rmdir(folder.path) == 0)
  }

  @Test func `not more than so many files are removed at once`() {
    defer { close(parent) }
    mkdirat(parent, "tree", 0o700)
    for name in ["a", "b", "c"] {
      mkdirat(parent, "tree/\(name)", 0o700)
      for number in 0..<10 { touch("tree/\(name)/\(number)") }
    }
    #expect(!removeTree("tree", in: parent, atMost: 20) && errno == EAGAIN)
    #expect(!removeTree("tree", in: parent, atMost: 10) && errno == EAGAIN)
    #expect(removeTree("tree", in: parent, atMost: 10))
    #expect(!exists("tree"))
    #expect(rmdir(folder.path) == 0)
  }
}

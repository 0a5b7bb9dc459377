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

  @Test func `what is mounted keeps what is in it`() {
    defer { close(parent) }
    for name in ["kept", "tree", "tree/mnt", "tree/other"] { mkdirat(parent, name, 0o700) }
    touch("kept/file")
    touch("tree/other/file")
    let place = folder.path + "/tree/mnt"
    // Not everybody may mount.
    if mount(folder.path + "/kept", place, nil, UInt(MS_BIND), nil) == 0 {
      #expect(!removeTree("tree", in: parent) && errno == EBUSY)
      #expect(!removeTree("tree/mnt", in: parent) && errno == EBUSY)
      #expect(exists("kept/file") && exists("tree/mnt") && !exists("tree/other"))
      umount2(place, Int32(MNT_DETACH))
    }
    #expect(removeTree("tree", in: parent) && exists("kept/file"))
    #expect(removeTree("kept", in: parent) && rmdir(folder.path) == 0)
  }

  @Test func `the size of a directory counts what is in it, however deep it is`() {
    defer { close(parent) }
    for name in ["tree", "outside"] { mkdirat(parent, name, 0o700) }
    func write(_ name: String, in folder: Int32, _ count: off_t) {
      let file = openat(folder, name, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
      ftruncate(file, count)
      close(file)
    }
    write("outside/file", in: parent, 1000)
    symlinkat("../outside", parent, "tree/l")
    write("tree/a", in: parent, 10)
    var here = openat(parent, "tree", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    let tree = dup(here)
    for _ in 0..<20_000 {
      for name in ["d", "e"] { mkdirat(here, name, 0o700) }
      let inner = openat(here, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      close(here)
      here = inner
    }
    write("b", in: here, 300)
    close(here)
    // The link itself has the length of its target.
    #expect(sizeOfFiles(in: tree) == 310 + 10)
    close(tree)
    #expect(removeTree("tree", in: parent) && removeTree("outside", in: parent))
    #expect(rmdir(folder.path) == 0)
  }
}

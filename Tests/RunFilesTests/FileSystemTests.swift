// Which file systems several machines may use, and whether their locks reach these.

import Foundation
import Testing

@testable import RunFiles

struct FileSystemTests {
  @Test func `those of several machines are known by their numbers`() {
    #expect(FileSystem.network(0x6969) == "NFS")
    #expect(FileSystem.network(0x0BD0_0BD0) == "Lustre")
    #expect(FileSystem.network(0xEF53) == nil)
    let folder = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { close(folder) }
    #expect(FileSystem(of: folder) == FileSystem(network: nil))
  }

  private static let mounts = """
    22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/root rw
    71 22 0:52 / /home rw,nosuid shared:30 master:4 - nfs4 server:/home rw,vers=4.2,local_lock=none
    7 22 0:53 / /old\\040place ro - nfs server:/old rw,vers=3,nolock,local_lock=all

    """

  @Test func `options are those of the mount and of its file system`() {
    #expect(
      FileSystem.mountOptions(of: "71", in: Self.mounts)
        == ["rw", "nosuid", "rw", "vers=4.2", "local_lock=none"])
    #expect(FileSystem.mountOptions(of: "7", in: Self.mounts).contains("nolock"))
    #expect(FileSystem.mountOptions(of: "8", in: Self.mounts).isEmpty)
  }

  @Test(arguments: [
    ("NFS", "rw,local_lock=none", nil), ("NFS", "rw,local_lock=flock", nil),
    ("NFS", "rw,nolock", "mounted with 'nolock'"),
    ("NFS", "local_lock=posix", "mounted with 'local_lock=posix'"),
    ("Lustre", "rw,flock", nil), ("Lustre", "rw,localflock", "mounted with 'localflock'"),
    ("SMB", "rw,nobrl", "mounted with 'nobrl'"), ("AFS", "rw", "mounted without 'flock=strict'"),
    ("AFS", "rw,flock=strict", nil), ("BeeGFS", "rw", "without 'tuneUseGlobalFileLocks'"),
    ("GPFS", "rw", nil), ("FUSE", "rw", nil),
  ])
  func `locks that stay on this machine are told from options`(
    kind: String, options: String, expected: String?
  ) {
    let limit = FileSystem.lockLimit(of: kind, mountedWith: options.split(separator: ","), "")
    #expect(limit == expected)
  }

  @Test(arguments: ["1", "true"])
  func `BeeGFS says itself that its locks reach all`(value: String) {
    let settings = "tuneNumWorkers = 0\ntuneUseGlobalFileLocks = \(value)\n"
    #expect(FileSystem.lockLimit(of: "BeeGFS", mountedWith: [], settings) == nil)
    let others = "tuneUseGlobalFileLocks = 0\n"
    #expect(FileSystem.lockLimit(of: "BeeGFS", mountedWith: [], others) != nil)
  }
}

struct ByteLockTests {
  private let path = FileManager.default.temporaryDirectory.path + "/lock-\(UUID().uuidString)"

  private func openFile() -> Int32 { open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600) }

  @Test func `exclude other open files of the same process, too, until all copies are closed`() {
    defer { unlink(path) }
    let (first, other) = (openFile(), openFile())
    defer { close(other) }
    let copy = dup(first)
    #expect(ByteLock.take(1, of: first) == .taken)
    #expect(ByteLock.take(1, of: first) == .taken)
    #expect(!ByteLock.isHeld(1, of: first))
    #expect(ByteLock.isHeld(1, of: other))
    #expect(!ByteLock.isHeld(0, of: other))
    #expect(ByteLock.take(1, of: other) == .heldByOther)
    // Any other file of the same inode may be closed.
    close(openFile())
    close(first)
    #expect(ByteLock.take(1, of: other) == .heldByOther)
    close(copy)
    // A process that another test has just started has a copy, too, until it runs its program.
    while ByteLock.take(1, of: other) == .heldByOther { usleep(1000) }
    #expect(ByteLock.take(1, of: other) == .taken)
    ByteLock.giveBack(1, of: other)
    #expect(ByteLock.fault(of: other) == nil)
  }

  @Test func `are shared by those who only want that nobody has it alone`() {
    defer { unlink(path) }
    let files = [openFile(), openFile()]
    defer { files.forEach { close($0) } }
    for file in files { #expect(ByteLock.take(0, of: file, isShared: true) == .taken) }
    #expect(ByteLock.take(0, of: files[0]) == .heldByOther)
    ByteLock.giveBack(0, of: files[1])
    #expect(ByteLock.take(0, of: files[0]) == .taken)
  }
}

// Locks that runs on one machine share, with real files.

import Foundation
import Scheduling
import TestSupport
import Testing

@testable import Execution

@Suite(.blocking) struct `A lock of the host` {
  private func withFolder(_ body: (Int32, String) throws -> Void) throws {
    var name = Array((NSTemporaryDirectory() + "/oprun-locks-XXXXXX").utf8CString)
    let path = try #require(mkdtemp(&name).map { String(cString: $0) })
    defer { try? FileManager.default.removeItem(atPath: path) }
    let folder = open(path, O_RDONLY | O_DIRECTORY)
    defer { close(folder) }
    try body(folder, path)
  }

  private func takes(_ lock: HostLock, _ holder: String, at time: Nanoseconds = 0) -> Bool {
    (try? lock.take(for: holder, at: time)) == true
  }

  @Test func `has one holder, who is known`() throws {
    try withFolder { folder, _ in
      let one = HostLock("db", in: folder)
      let two = HostLock("db", in: folder)
      #expect(takes(HostLock("other", in: folder), "x"))
      #expect(takes(one, "run 1"))
      #expect(!takes(two, "run 2"))
      #expect(two.holder == "run 1")
      one.release()
      #expect(takes(two, "run 2"))
      #expect(one.holder == "run 2")
    }
  }

  @Test func `goes to who has waited, not to who has just had it`() throws {
    try withFolder { folder, _ in
      let one = HostLock("db", in: folder)
      let two = HostLock("db", in: folder)
      let three = HostLock("db", in: folder)
      #expect(takes(one, "1"))
      #expect(!takes(two, "2"))
      one.release()
      #expect(!takes(one, "1"))
      #expect(!takes(three, "3"))
      #expect(takes(two, "2"))
      // Who was next gives up.
      #expect(!takes(three, "3"))
      three.release()
      #expect(!takes(one, "1"))
      two.release()
      #expect(takes(one, "1"))
    }
  }

  @Test func `leaves no file behind`() throws {
    try withFolder { folder, path in
      let one = HostLock("db", in: folder)
      let two = HostLock("db", in: folder)
      #expect(takes(one, "1"))
      #expect(!takes(two, "2"))
      let used = try FileManager.default.contentsOfDirectory(atPath: path)
      #expect(used.count == 2)
      two.release()
      one.release()
      let left = try FileManager.default.contentsOfDirectory(atPath: path)
      #expect(left == [])
    }
  }

  @Test func `of a killed holder is free when what it has started has ended`() throws {
    try withFolder { folder, path in
      let one = HostLock("db", in: folder)
      #expect(takes(one, "1"))
      let name = try #require(try FileManager.default.contentsOfDirectory(atPath: path).first)
      one.release()
      try Data("run 1\ndb\n".utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
      let two = HostLock("db", in: folder)
      let three = HostLock("db", in: folder)
      #expect(!takes(two, "2", at: 5))
      #expect(!takes(three, "3", at: 1_000_000_006))
      #expect(!takes(two, "2", at: 1_000_000_004))
      #expect(takes(two, "2", at: 1_000_000_005))
    }
  }

  @Test func `is not divided by who removes its file`() throws {
    try withFolder { folder, path in
      let one = HostLock("db", in: folder)
      #expect(takes(one, "1"))
      one.release()
      for name in try FileManager.default.contentsOfDirectory(atPath: path) {
        unlink("\(path)/\(name)")
      }
      #expect(takes(one, "1"))
      #expect(!takes(HostLock("db", in: folder), "2"))
    }
  }

  @Test func `lies where nobody else can write`() throws {
    try withFolder { _, path in
      chmod(path, 0o1777)
      let folder = try HostLockFolder.open(in: [path])
      close(folder)
      let own = "\(path)/oprun-\(geteuid())"
      chmod(own, 0o777)
      #expect((try? HostLockFolder.open(in: [path])) == nil)
      rmdir(own)
      symlink("/tmp", own)
      #expect((try? HostLockFolder.open(in: [path])) == nil)
    }
  }
}

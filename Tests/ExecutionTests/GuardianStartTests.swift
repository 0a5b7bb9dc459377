// A guardian whose program cannot be loaded: it still ends what it knows of.

import CLinux
import Foundation
import Glibc
import TestSupport
import Testing

@Suite(.blocking) struct `A guardian without a program` {
  /// A control group is not always to be had, so a plain file stands in for the one that kills its
  /// members.
  @Test func `ends the groups of commands and the control group`() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: file) }
    try Data().write(to: file)
    let command = try Child(script: "exec sleep 1000")

    end(group: command.processID, by: file.path)

    #expect(command.wait() == 128 + SIGKILL)
    #expect(try String(contentsOf: file, encoding: .utf8) == "1")
  }

  /// They would keep the lock of a run whose oprun was killed, and the run would seem to go on.
  @Test func `keeps no file open, and so no lock`() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    defer { unlink(path) }
    let held = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    let other = open(path, O_RDWR | O_CLOEXEC)
    defer { close(other) }
    #expect(flock(held, LOCK_EX | LOCK_NB) == 0)
    let lifeline = makeLifeline()
    defer { close(lifeline[0]) }

    withGuardian(
      lifeline: lifeline[0], ourEnd: lifeline[1], delay: -1,
      whileItRuns: { _ in
        close(held)
        let deadline = ContinuousClock.now + .seconds(120)
        while flock(other, LOCK_EX | LOCK_NB) != 0, ContinuousClock.now < deadline { usleep(1000) }
        #expect(flock(other, LOCK_EX | LOCK_NB) == 0)
        close(lifeline[1])
      })
  }

  @Test func `lets commands load their programs once it has left the process group`() {
    let guarded = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
    defer { guarded.deallocate() }
    guarded.initialize(to: 0)
    let lifeline = makeLifeline()
    defer { close(lifeline[0]) }
    withGuardian(
      lifeline: lifeline[0], ourEnd: lifeline[1], delay: -1,
      prepare: { $0.guarded = guarded },
      whileItRuns: { process in
        while guarded.pointee == 0 { usleep(100) }
        #expect(getsid(process) == process)
        close(lifeline[1])
      })
  }

  /// The end of the guardian, and ours.
  private func makeLifeline() -> [Int32] {
    var lifeline: [Int32] = [0, 0]
    #expect(pipe(&lifeline) == 0)
    for end in lifeline { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return lifeline
  }

  /// Starts a guardian whose work begins at once, and waits for its end.
  private func end(group: Int32, by killFile: String) {
    // It can be read at once, as a lifeline can when nobody holds its other end any more.
    let lifeline = open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer { close(lifeline) }
    killFile.withCString { killFile in
      withUnsafePointer(to: group) { group in
        withGuardian(
          lifeline: lifeline, delay: 0,
          prepare: {
            $0.groups = group
            $0.group_count = 1
            $0.kill_file = killFile
          })
      }
    }
  }

  /// Starts a guardian whose program does not exist, and waits for its end.
  private func withGuardian(
    lifeline: Int32, ourEnd: Int32 = -1, delay: Int32,
    prepare: (inout clinux_guardian) -> Void = { _ in },
    whileItRuns body: (Int32) -> Void = { _ in }
  ) {
    let stackSize = 16 << 10
    let stack = UnsafeMutablePointer<CChar>.allocate(capacity: stackSize)
    defer { stack.deallocate() }
    let name = strdup("guardian")
    defer { free(name) }
    let memory = UnsafeMutablePointer<clinux_guardian>.allocate(capacity: 1)
    defer { memory.deallocate() }
    [name, nil].withUnsafeBufferPointer { words in
      var guardian = clinux_guardian()
      guardian.program = UnsafePointer(name)
      guardian.arguments = words.baseAddress
      guardian.environment = words.baseAddress?.advanced(by: 1)
      guardian.lifeline = lifeline
      guardian.our_end = ourEnd
      guardian.page = lifeline
      guardian.delay = delay
      guardian.parent = getpid()
      prepare(&guardian)
      memory.initialize(to: guardian)
      let process = clinux_start_guardian(memory, stack, stackSize)
      #expect(process > 0)
      body(process)
      var status: Int32 = 0
      waitpid(process, &status, 0)
    }
  }
}

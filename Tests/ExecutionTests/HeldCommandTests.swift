// A command waits with its program until no signal for oprun's process group reaches the guardian any more.

import CLinux
import Foundation
import Glibc
import TestSupport
import Testing

@Suite(.blocking) struct `A command without a guardian` {
  @Test func `loads its program only when there is one`() throws {
    try withHeldCommand { launch, process, guarded in
      // Nothing else in it sleeps.
      while try state(of: process) != "S" { usleep(1000) }
      #expect(launch.pointee.busy != 0)

      clinux_set_guarded(guarded)

      var status: Int32 = 0
      #expect(waitpid(process, &status, 0) == process)
      #expect(clinux_exited(status) != 0 && clinux_exit_status(status) == 0)
      #expect(launch.pointee.busy == 0)
    }
  }

  @Test func `can be killed meanwhile`() {
    withHeldCommand { launch, process, _ in
      kill(process, SIGKILL)
      var status: Int32 = 0
      #expect(waitpid(process, &status, 0) == process)
      #expect(clinux_exited(status) == 0 && clinux_signal(status) == SIGKILL)
      #expect(launch.pointee.busy == 0)
    }
  }

  private func withHeldCommand(
    _ body: (UnsafeMutablePointer<clinux_launch>, Int32, UnsafeMutablePointer<Int32>) throws -> Void
  ) rethrows {
    let stackSize = 32 << 10
    let stack = UnsafeMutablePointer<CChar>.allocate(capacity: stackSize)
    defer { stack.deallocate() }
    let name = strdup("/bin/true")
    defer { free(name) }
    let null = open("/dev/null", O_RDWR | O_CLOEXEC)
    defer { close(null) }
    let memory = UnsafeMutablePointer<clinux_launch>.allocate(capacity: 1)
    defer { memory.deallocate() }
    // There is room for one more in front of the arguments.
    let words = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: 3)
    defer { words.deallocate() }
    words.initialize(repeating: nil, count: 3)
    words[1] = name
    var launch = clinux_launch()
    launch.arguments = words + 1
    launch.environment = UnsafePointer(words + 2)
    launch.programs = UnsafeRawPointer(words + 1).assumingMemoryBound(
      to: UnsafePointer<CChar>?.self)
    (launch.input, launch.output, launch.script, launch.kept) = (null, null, -1, (-1, -1))
    launch.cgroup = -1
    launch.parent = getpid()
    let guarded = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
    defer { guarded.deallocate() }
    guarded.initialize(to: 0)
    launch.guarded = UnsafePointer(guarded)
    memory.initialize(to: launch)
    let process = clinux_launch(memory, stack, stackSize)
    #expect(process > 0)
    try body(memory, process, guarded)
  }

  /// The letter behind the name in parentheses.
  private func state(of process: Int32) throws -> Substring? {
    try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
      .split(separator: ") ").last?.prefix(1)
  }
}

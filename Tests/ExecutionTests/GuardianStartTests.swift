// A guardian whose program cannot be loaded: it still ends what it knows of.

import CLinux
import Foundation
import Glibc
import TestSupport
import Testing

struct `A guardian without a program` {
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

  /// Starts a guardian whose work begins at once, and waits for its end.
  private func end(group: Int32, by killFile: String) {
    let stackSize = 16 << 10
    let stack = UnsafeMutablePointer<CChar>.allocate(capacity: stackSize)
    defer { stack.deallocate() }
    let name = strdup("guardian")
    defer { free(name) }
    // It can be read at once, as a lifeline can when nobody holds its other end any more.
    let lifeline = open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer { close(lifeline) }
    let process = [name, nil].withUnsafeBufferPointer { words in
      killFile.withCString { killFile in
        withUnsafePointer(to: group) { group in
          var guardian = clinux_guardian()
          guardian.program = UnsafePointer(name)
          guardian.arguments = words.baseAddress
          guardian.environment = words.baseAddress?.advanced(by: 1)
          guardian.lifeline = lifeline
          guardian.our_end = -1
          guardian.page = lifeline
          guardian.delay = 0
          guardian.parent = getpid()
          guardian.groups = UnsafePointer(group)
          guardian.group_count = 1
          guardian.kill_file = killFile
          let process = clinux_start_guardian(&guardian, stack, stackSize)
          var status: Int32 = 0
          waitpid(process, &status, 0)
          return process
        }
      }
    }
    #expect(process > 0)
  }
}

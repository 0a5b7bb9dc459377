// Reading /proc, and cookies: small pure parts.

import Foundation
import TestSupport
import Testing

@testable import Execution

@Suite(.blocking) struct `Process status` {
  @Test func `is read past a name full of traps`() throws {
    let line =
      "42 (a) S) (b\n) Z 7 8 9 0 -1 4 0 0 0 0 0 0 0 0 20 0 1 0 123456 0 0 4611686018427387905 0\n"
    let status = try #require(ProcessStatus(processID: 42, stat: Array(line.utf8)))
    #expect(status.name == "a) S) (b?")
    #expect(status.isZombie)
    #expect([status.parentID, status.groupID, status.sessionID] == [7, 8, 9])
    #expect(status.startTicks == 123456)
    #expect(status.memoryLimit == 4_611_686_018_427_387_905)
  }

  @Test func `is no zombie while a thread of it goes on`() throws {
    let line = "42 (a) Z 7 8 9 0 -1 4 0 0 0 0 0 0 0 0 20 0 2 0 123456 0 0 18446744073709551615 0\n"
    let status = try #require(ProcessStatus(processID: 42, stat: Array(line.utf8)))
    #expect(!status.isZombie)
  }

  @Test(arguments: ["", "42", "42 (a", "42 (a) S 1 2", ") ("])
  func `that is cut short is nothing`(line: String) {
    #expect(ProcessStatus(processID: 42, stat: Array(line.utf8)) == nil)
  }

  @Test func `of a living process has its parent`() throws {
    let status = try #require(ProcessStatus(of: 1))
    #expect(status.parentID == 0)
  }

  @Test func `knows whether there is an environment, even in the middle of exec`() throws {
    func status(addressSpace: Int, environment: Range<Int>) throws -> ProcessStatus {
      let line =
        "42 (a) R 7 8 9 0 -1 4 0 0 0 0 0 0 0 0 20 0 1 0 123456 \(addressSpace) 0 1 "
        + String(repeating: "1 ", count: 24)
        + "\(environment.lowerBound) \(environment.upperBound) 0\n"
      return try #require(ProcessStatus(processID: 42, stat: Array(line.utf8)))
    }
    #expect(try status(addressSpace: 4096, environment: 3000..<4000).hasEnvironment)
    #expect(try !status(addressSpace: 4096, environment: 4000..<4000).hasEnvironment)
    #expect(try status(addressSpace: 4096, environment: 0..<0).hasEnvironment)  // Amid exec.
    #expect(try !status(addressSpace: 0, environment: 0..<0).hasEnvironment)  // The kernel's.
  }

  /// In the middle of `exec` /proc shows an empty environment, and a step's process seemed to be
  /// nobody's.
  @Test func `has an environment while it starts one program after another`() throws {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", "exec /bin/sh -c \"$0\" \"$0\"", "exec /bin/sh -c \"$0\" \"$0\""]
    process.environment = ["MARK": "mine"]
    try process.run()
    let seen = (0..<5000).map { _ in environmentValue(of: "MARK", in: process.processIdentifier) }
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    // One that has no processor for 40 ms just then looks like one that has unmapped its environment. How often that
    // happens is a matter of the machine.
    #expect(seen.contains("mine"))
    #expect(seen.allSatisfy { $0 == "mine" || $0 == nil })
  }

  @Test func `without an environment has none`() throws {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sleep")
    process.arguments = ["60"]
    process.environment = [:]
    try process.run()
    #expect(environmentValue(of: "MARK", in: process.processIdentifier) == nil)
    #expect(environmentValue(of: "MARK", in: 2) == nil)  // Of the kernel, or no process at all.
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  @Test func `children are numbers between blanks`() {
    #expect(ProcessStatus.numbers(in: "12 345  6".utf8) == [12, 345, 6])
    #expect(ProcessStatus.numbers(in: "".utf8) == [])
  }
}

@Suite(.blocking) struct `A cookie` {
  @Test func `names the command and is known again below another run`() {
    let outer = Cookie(run: "r1", inherited: nil)
    #expect(outer.value(of: 7) == "r1/7")
    let inner = Cookie(run: "r2", inherited: outer.value(of: 7))
    #expect(inner.value(of: 3) == "r1/7:r2/3")
    #expect(outer.command(in: "r1/7:r2/3") == 7)
    #expect(inner.command(in: "r1/7:r2/3") == 3)
    #expect(inner.command(in: "r1/7") == nil)
    #expect(outer.command(in: "r11/7") == nil)
  }
}

// Reading /proc, and cookies: small pure parts.

import Testing

@testable import Execution

struct `Process status` {
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

  @Test func `children are numbers between blanks`() {
    #expect(ProcessStatus.numbers(in: "12 345  6".utf8) == [12, 345, 6])
    #expect(ProcessStatus.numbers(in: "".utf8) == [])
  }
}

struct `A cookie` {
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

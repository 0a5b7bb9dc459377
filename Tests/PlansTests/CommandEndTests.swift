// How a command ended, in parts and put together again.

import Plans
import Testing

struct `The end of a command` {
  static let all: [CommandEnd.Status] = [
    .exited(0), .exited(3), .signalled(9), .notStarted("command not found: mkae", exitCode: 127),
    .outputsRefused("no such type"), .abandoned, .lost("node n3 failed"),
  ]

  @Test(arguments: all)
  func `is the same after it was taken apart and put together`(_ status: CommandEnd.Status) {
    let again = CommandEnd.Status(
      word: status.word.description, code: status.code, detail: status.detail)
    #expect(again == status)
  }

  @Test func `is not made of parts that do not fit`() {
    #expect(CommandEnd.Status(word: "exited", code: nil, detail: nil) == nil)
    #expect(CommandEnd.Status(word: "lost", code: 1, detail: nil) == nil)
    #expect(CommandEnd.Status(word: "unheard of", code: 1, detail: "x") == nil)
  }

  @Test func `has the exit code that a shell would report`() {
    #expect(Self.all.map(\.exitCode) == [0, 3, 137, 127, 0, nil, nil])
  }

  @Test func `with a signal can be an allowed failure`() {
    let allowed = AllowFailure.exitCodes([137])
    #expect(allowed.allows(CommandEnd(.signalled(9))))
    #expect(!allowed.allows(CommandEnd(.signalled(15))))
    #expect(!allowed.allows(CommandEnd(.outputsRefused("x"))))
  }
}

struct `A line of a run that is asked` {
  @Test(arguments: [
    "1e300", "9e18", "-9e18", "2e18", "1.5", "\"1\"",
  ])
  func `holds no numbers that do not fit`(_ number: String) throws {
    let line = try #require(ControlLine(Array("{\"x\":\(number)}".utf8)[...]))
    #expect(line.number("x") == nil)
    #expect(line.int32("x") == nil)
    #expect(line.milliseconds("x") == nil)
  }

  @Test func `holds times and statuses within their limits`() throws {
    let text = "{\"t\":4611686018427,\"late\":4611686018428,\"code\":4294967296,\"minus\":-1}"
    let line = try #require(ControlLine(Array(text.utf8)[...]))
    #expect(line.milliseconds("t") == 4_611_686_018_427_000_000)
    #expect(line.milliseconds("late") == nil)
    #expect(line.int32("code") == nil)
    #expect(line.int32("minus") == -1)
    #expect(line.milliseconds("minus") == nil)
    #expect(line.nanoseconds("late") == 4_611_686_018_428)
  }
}

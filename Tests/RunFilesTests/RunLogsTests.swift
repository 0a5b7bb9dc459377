// Logs of commands that run elsewhere are opened for those who ask, a few at a time.

import Glibc
import Plans
import Scheduling
import Testing

@testable import RunFiles

@Suite struct `Logs of commands that run elsewhere` {
  /// Which logs were opened, and which of them still are.
  private final class Files {
    var openings: [Int] = []
    private var logs: [() -> LogFile?] = []

    func open(_ number: Int) -> LogFile {
      let log = LogFile(owning: dup(0))
      openings.append(number)
      logs.append { [weak log] in log }
      return log
    }

    var openCount: Int { logs.count { $0() != nil } }
  }

  @Test func `are opened when somebody asks for them, and few stay open`() {
    let files = Files()
    let logs = RunLogs()
    let numbers = 0..<20
    for number in numbers {
      logs.add(of: OperationID(number), .attempt(1)) { files.open(number) }
    }
    #expect(files.openings == [] && logs.contains(OperationID(3), .attempt(1)))
    for number in numbers {
      for _ in 1...2 { #expect(logs.log(of: OperationID(number), .attempt(1)) != nil) }
    }
    #expect(files.openings == Array(numbers) && files.openCount == 8)
    logs.add(of: OperationID(19), .attempt(1)) { files.open(100) }
    _ = logs.log(of: OperationID(19), .attempt(1))
    for number in numbers { logs.remove(of: OperationID(number), .attempt(1)) }
    #expect(files.openings.last == 100 && files.openCount == 0)
    #expect(logs.log(of: OperationID(3), .attempt(1)) == nil)
  }
}

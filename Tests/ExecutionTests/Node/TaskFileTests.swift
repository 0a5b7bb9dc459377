// Tasks and results as bytes: all of it comes back, and nothing that a file may hold makes a reader
// trap.

import Caching
import Plans
import Running
import TestSupport
import Testing

@testable import Execution

@Suite(.blocking) struct TaskFileTests {
  @Test(arguments: sampleTasks.indices)
  func `a task comes back with everything that it has`(index: Int) throws {
    let task = sampleTasks[index]
    let read = try TaskFile(decoding: task.encoded)
    #expect(read.encoded == task.encoded)
    #expect(read.command.key == task.command.key)
    #expect(read.command.work == task.command.work)
    #expect(read.command.environment.variables == task.command.environment.variables)
    #expect(read.command.environment.inherited == task.command.environment.inherited)
    #expect(read.command.variables == task.command.variables)
    #expect(read.command.directory == task.command.directory)
    #expect(read.command.input == task.command.input)
    #expect(read.command.limits == task.command.limits)
    #expect(read.command.confinement == task.command.confinement)
    #expect(read.command.usesTerminal == task.command.usesTerminal)
    #expect(read.command.orphans == task.command.orphans)
    #expect(read.command.logName == task.command.logName)
    #expect(read.command.outputsName == task.command.outputsName)
    #expect(read.limits == task.limits)
    #expect(read.secrets == task.secrets)
    #expect(read.runID == task.runID && read.workspace == task.workspace)
  }

  @Test(arguments: sampleResults.indices)
  func `a result comes back with everything that it has`(index: Int) throws {
    #expect(try TaskResult(decoding: sampleResults[index].encoded) == sampleResults[index])
  }

  @Test func `a piece of a file, or a file with more, is refused`() {
    for bytes in sampleTasks.map(\.encoded) {
      for count in bytes.indices {
        #expect(throws: ByteReadFailure.self) { try TaskFile(decoding: Array(bytes[..<count])) }
      }
      #expect(throws: ByteReadFailure.self) { try TaskFile(decoding: bytes + [0]) }
    }
    for bytes in sampleResults.map(\.encoded) {
      for count in bytes.indices {
        #expect(throws: ByteReadFailure.self) { try TaskResult(decoding: Array(bytes[..<count])) }
      }
      #expect(throws: ByteReadFailure.self) { try TaskResult(decoding: bytes + [0]) }
    }
  }

  @Test func `a changed byte is refused, or makes another task that can be read`() {
    for bytes in sampleTasks.map(\.encoded) {
      for index in bytes.indices {
        for value: UInt8 in [0, 1, 0x2F, 0x7F, 0x80, 0xFF] {
          var changed = bytes
          changed[index] = value
          guard let task = try? TaskFile(decoding: changed) else { continue }
          #expect((try? TaskFile(decoding: task.encoded))?.encoded == task.encoded)
          #expect(!task.command.logName.contains("/") && !task.command.outputsName.contains("/"))
          if case .words(let words) = task.command.work { #expect(!words.isEmpty) }
        }
      }
    }
    for bytes in sampleResults.map(\.encoded) {
      for index in bytes.indices {
        for value: UInt8 in [0, 1, 0x2F, 0x7F, 0x80, 0xFF] {
          var changed = bytes
          changed[index] = value
          guard let result = try? TaskResult(decoding: changed) else { continue }
          #expect((try? TaskResult(decoding: result.encoded)) == result)
        }
      }
    }
  }

  @Test func `a file of another kind or version is refused`() {
    let task = sampleTasks[0].encoded
    let other = Array("oprun task 4\n".utf8) + task[TaskFile.header.count...]
    for bytes in [[], [0], Array("oprun".utf8), sampleResults[0].encoded, other] {
      #expect(throws: ByteReadFailure.self) { try TaskFile(decoding: bytes) }
    }
    #expect(throws: ByteReadFailure.self) { try TaskResult(decoding: task) }
  }
}

// What becomes of a task, in virtual time.

import Glibc
import Plans
import Scheduling
import TestSupport
import Testing

@testable import Execution

@Suite(.blocking) struct TaskMachineTests {
  private static let limits: TaskLimits = {
    var limits = TaskLimits(time: 10 * second)
    limits.stop.signal = SIGINT
    limits.stop.grace = 3 * second
    return limits
  }()

  private var machine = TaskMachine(TaskMachineTests.limits, startedAt: second)

  @Test mutating func `a success is a result at once`() {
    #expect(machine.deadline == 11 * second)
    let end = CommandEnd(.exited(0), duration: 5)
    #expect(machine.ended(end, at: 2 * second) == [.conclude(.ended(end))])
    #expect(machine.deadline == nil)
  }

  @Test(arguments: [CommandEnd.Status.exited(3), .signalled(SIGTERM), .signalled(SIGKILL)])
  func `a failure is a result if no signal has come for a second`(status: CommandEnd.Status) {
    var machine = machine
    let end = CommandEnd(status)
    #expect(machine.ended(end, at: 2 * second) == [])
    #expect(machine.deadline == 3 * second)
    #expect(machine.advance(to: 3 * second - 1) == [])
    #expect(machine.advance(to: 3 * second) == [.conclude(.ended(end))])
  }

  @Test(arguments: [SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGXCPU, SIGPWR])
  func `a failure just before a signal from outside is no result`(signal: Int32) {
    var machine = machine
    #expect(machine.ended(CommandEnd(.signalled(SIGTERM)), at: 2 * second) == [])
    #expect(
      machine.signalled(signal, at: 3 * second - 1) == [.conclude(.interrupted(by: signal))])
    #expect(machine.advance(to: 9 * second) == [])
  }

  @Test mutating func `a command that never started fails at once`() {
    let end = CommandEnd(.notStarted("command not found: mkae", exitCode: 127))
    #expect(machine.ended(end, at: 2 * second) == [.conclude(.ended(end))])
  }

  @Test mutating func `a signal from outside starts the stop sequence, and there is no result`() {
    #expect(machine.signalled(SIGTERM, at: 2 * second) == [.stop(signal: SIGINT)])
    #expect(machine.deadline == 5 * second)
    #expect(machine.advance(to: 5 * second) == [.kill])
    #expect(machine.deadline == nil)
    #expect(
      machine.ended(CommandEnd(.signalled(SIGKILL)), at: 5 * second)
        == [.conclude(.interrupted(by: SIGTERM))])
  }

  @Test mutating func `a command that exits with 0 after a signal has no result either`() {
    #expect(machine.signalled(SIGTERM, at: 2 * second) == [.stop(signal: SIGINT)])
    #expect(
      machine.ended(CommandEnd(.exited(0)), at: 3 * second)
        == [.conclude(.interrupted(by: SIGTERM))])
  }

  @Test mutating func `a second signal kills, and further ones change nothing`() {
    #expect(machine.signalled(SIGTERM, at: 2 * second) == [.stop(signal: SIGINT)])
    #expect(machine.signalled(SIGTERM, at: 2 * second + 1) == [.kill])
    #expect(machine.signalled(SIGINT, at: 2 * second + 2) == [])
    #expect(machine.advance(to: 60 * second) == [])
  }

  @Test mutating func `the time limit starts the stop sequence, and the end says so`() {
    #expect(machine.advance(to: 11 * second) == [.stop(signal: SIGINT)])
    #expect(machine.deadline == 14 * second)
    #expect(machine.advance(to: 14 * second) == [.kill])
    let end = CommandEnd(.signalled(SIGKILL), duration: 13 * second)
    #expect(
      machine.ended(end, at: 14 * second)
        == [.conclude(.ended(end.marked(timedOut: true, isStopped: false)))])
  }

  @Test mutating func `a signal from outside after the time limit wins`() {
    #expect(machine.advance(to: 11 * second) == [.stop(signal: SIGINT)])
    #expect(machine.signalled(SIGTERM, at: 12 * second) == [])
    #expect(
      machine.ended(CommandEnd(.exited(0)), at: 12 * second)
        == [.conclude(.interrupted(by: SIGTERM))])
  }

  @Test(arguments: [SIGUSR1, SIGUSR2, SIGALRM, 40])
  func `other signals are for the command`(signal: Int32) {
    var machine = machine
    #expect(machine.signalled(signal, at: 2 * second) == [.pass(signal: signal)])
    #expect(machine.interruption == nil)
    #expect(machine.ended(CommandEnd(.exited(3)), at: 3 * second) == [])
    #expect(machine.signalled(signal, at: 3 * second) == [])
    #expect(machine.advance(to: 4 * second) == [.conclude(.ended(CommandEnd(.exited(3))))])
  }

  @Test mutating func `a log that cannot be kept ends the command`() {
    #expect(machine.stateFailed(at: 2 * second) == [.stop(signal: SIGINT)])
    #expect(machine.stateFailed(at: 2 * second) == [])
    let end = CommandEnd(.signalled(SIGINT))
    #expect(machine.ended(end, at: 3 * second) == [])
    #expect(machine.advance(to: 4 * second) == [.conclude(.ended(end))])
  }

  @Test func `no time is too long to be added`() {
    var limits = TaskLimits(time: .max)
    limits.stop.grace = .max
    var machine = TaskMachine(limits, startedAt: second)
    #expect(machine.deadline == lastMoment)
    #expect(machine.signalled(SIGTERM, at: second) == [.stop(signal: SIGTERM)])
    #expect(machine.deadline == lastMoment)
  }
}

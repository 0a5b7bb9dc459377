// Observers without a run: their order, failures, and deadlines.

import Masking
import Plans
import Scheduling
import TestSupport
import Testing

@testable import Execution

@Suite(.blocking) struct `A list of observers` {
  /// What all observers of a test receive.
  private final class Notes {
    var lines: [String] = []
  }

  private final class Listener: RunObserver {
    let name: String
    let notes: Notes
    /// The event that it cannot handle.
    var failing = ""
    var deadline: Nanoseconds?

    init(_ name: String, _ notes: Notes, failing: String = "", deadline: Nanoseconds? = nil) {
      self.name = name
      self.notes = notes
      self.failing = failing
      self.deadline = deadline
    }

    func observe(_ event: RunEvent) throws(ObserverFailure) {
      switch event.kind {
      case .notice(let text): try hear("\(event.time) notice \(text)")
      case .finished(let end): try hear("\(event.time) finished \(end.exitStatus)")
      case .stopping(let reason): try hear("\(event.time) stopping \(reason)")
      default: try hear("\(event.time) \(event.kind)")
      }
    }

    func commit() throws(ObserverFailure) { try hear("commit") }

    func endTurn(at time: Nanoseconds) throws(ObserverFailure) { try hear("end of turn \(time)") }

    private func hear(_ words: String) throws(ObserverFailure) {
      notes.lines.append("\(name): \(words)")
      if words == failing { throw ObserverFailure("\(name) failed") }
    }
  }

  private let notes = Notes()

  @Test func `is told in its order`() {
    var observers = Observers([Listener("a", notes), Listener("b", notes)], masker: nil)
    observers.tell(.notice("x"), at: 3)
    observers.commit()
    observers.endTurn(at: 4)
    #expect(
      notes.lines == [
        "a: 3 notice x", "b: 3 notice x", "a: commit", "b: commit", "a: end of turn 4",
        "b: end of turn 4",
      ])
    #expect(observers.takeFailures().map(\.message) == [])
  }

  @Test(arguments: ["1 notice x", "commit", "end of turn 1"])
  func `tells one that has failed nothing more, and the others everything`(failing: String) {
    let failed = Listener("a", notes, failing: failing, deadline: 7)
    var observers = Observers(
      [failed, Listener("b", notes), Listener("c", notes, failing: failing)], masker: nil)
    for _ in 1...2 {
      observers.tell(.notice("x"), at: 1)
      observers.commit()
      observers.endTurn(at: 1)
    }
    let all = ["1 notice x", "commit", "end of turn 1"]
    let until = Array(all.prefix { $0 != failing }) + [failing]
    for (name, heard) in [("a", until), ("b", all + all), ("c", until)] {
      #expect(notes.lines.filter { $0.hasPrefix(name) } == heard.map { "\(name): \($0)" })
    }
    #expect(observers.takeFailures().map(\.message) == ["a failed", "c failed"])
    #expect(observers.takeFailures().map(\.message) == [])
    #expect(observers.deadline == nil)
  }

  @Test func `is called at the earliest time that one of them names`() {
    let soon = Listener("a", notes, deadline: 20)
    let late = Listener("b", notes, deadline: 50)
    var observers = Observers([late, Listener("c", notes), soon], masker: nil)
    #expect(observers.deadline == 20)
    observers.endTurn(at: 20)
    soon.deadline = 40
    #expect(observers.deadline == 40)
    observers.endTurn(at: 45)
    soon.deadline = nil
    #expect(observers.deadline == 50)
  }

  @Test func `is not called again and again by one that forgets what time it is`() {
    let forgetful = Listener("a", notes, deadline: 20)
    var observers = Observers([forgetful, Listener("b", notes, deadline: 60)], masker: nil)
    observers.endTurn(at: 20)
    #expect(observers.deadline == 60)
    observers.endTurn(at: 70)
    #expect(observers.deadline == nil)
  }

  @Test func `lets no secret pass`() {
    let masker = Masker(secrets: [Array("correct horse".utf8)])
    var observers = Observers([Listener("a", notes)], masker: masker)
    observers.tell(.notice("it is correct horse"), at: 1)
    #expect(observers.finish(RunEnd(exitStatus: 0), at: 2) == RunEnd(exitStatus: 0))
    #expect(
      notes.lines == ["a: 1 notice it is ***", "a: 2 finished 0", "a: commit", "a: end of turn 2"])
  }

  @Test func `hears the end one after the other, as it is by then`() {
    var observers = Observers(
      [
        Listener("a", notes), Listener("b", notes, failing: "9 finished 0"),
        Listener("c", notes, failing: "end of turn 9"), Listener("d", notes),
      ], masker: nil)
    let end = observers.finish(RunEnd(exitStatus: 0, hookFailed: true), at: 9)
    #expect(
      notes.lines == [
        "a: 9 finished 0", "a: commit", "a: end of turn 9", "b: 9 finished 0", "c: 9 finished 74",
        "c: commit", "c: end of turn 9", "d: 9 notice c failed", "d: 9 finished 74", "d: commit",
        "d: end of turn 9",
      ])
    #expect(
      end
        == RunEnd(exitStatus: 74, stopReason: .stateFailure("b failed"), hookFailed: true))
  }

  @Test func `changes no end that somebody asked for`() {
    var observers = Observers(
      [Listener("a", notes, failing: "commit"), Listener("b", notes)], masker: nil)
    let asked = RunEnd(exitStatus: 130, stopReason: .signal(2))
    #expect(observers.finish(asked, at: 9) == asked)
    #expect(
      notes.lines == [
        "a: 9 finished 130", "a: commit", "b: 9 notice a failed", "b: 9 finished 130", "b: commit",
        "b: end of turn 9",
      ])
  }
}

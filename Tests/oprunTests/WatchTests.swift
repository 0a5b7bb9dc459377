// The decisions of `oprun watch`, in virtual time.

import Foundation
import Scheduling
import Testing

@testable import oprun

@Suite struct `A pipeline that is watched` {
  private static let millisecond: Nanoseconds = 1_000_000

  @Test func `runs once all has been quiet for a moment`() {
    var machine = WatchMachine(.cancel)
    #expect(machine.deadline == nil)
    machine.note(at: 0)
    machine.note(at: 60 * Self.millisecond)
    #expect(machine.deadline == 160 * Self.millisecond)
    let isDue = [159, 160, 200].map { machine.isDue(at: $0 * Self.millisecond) }
    #expect(isDue == [false, true, false])
  }

  @Test func `does not wait for ever`() {
    var machine = WatchMachine(.cancel)
    for step in 0..<50 { machine.note(at: Nanoseconds(step) * 50 * Self.millisecond) }
    #expect(machine.deadline == 1000 * Self.millisecond)
  }

  /// What becomes of a story: `+a` a change affects step a, `?a` one that the run may have made, `.` the run
  /// ends well, `!` it fails.
  private func told(_ policy: WatchMachine.BusyPolicy, _ story: String) -> String {
    var machine = WatchMachine(policy)
    return story.split(separator: " ").map { word in
      let part: WatchedPart =
        word.dropFirst() == "*"
        ? .everything : .steps(Set(word.dropFirst().map { String($0) }))
      let action =
        switch word.first {
        case "+": machine.affected(part)
        case "?": machine.affected(part, mayCancel: false)
        default: machine.ended(isOK: word == ".")
        }
      return switch action {
      case .start(.everything): "start *"
      case .start(.steps(let steps)): "start \(steps.sorted().joined())"
      case .cancel: "cancel"
      case nil: "-"
      }
    }.joined(separator: ", ")
  }

  @Test func `runs what is affected`() {
    #expect(told(.cancel, "+* . +a . +b .") == "start *, -, start a, -, start b, -")
  }

  @Test func `cancels a run that a change affects, and runs what it was of again`() {
    #expect(told(.cancel, "+ab +b +c ! .") == "start ab, cancel, -, start abc, -")
    #expect(told(.cancel, "+* +c !") == "start *, cancel, start *")
  }

  @Test func `lets a run end that a change does not affect`() {
    #expect(told(.cancel, "+ab +c . .") == "start ab, -, start c, -")
  }

  @Test func `lets a run end if it may have made the change itself`() {
    #expect(told(.cancel, "+ab ?b . .") == "start ab, -, start b, -")
  }

  @Test func `waits if it is to wait`() {
    #expect(told(.wait, "+ab +b +a . .") == "start ab, -, -, start ab, -")
  }

  @Test func `runs what has failed again, but not by itself`() {
    #expect(told(.cancel, "+ab ! +c . +d") == "start ab, -, start abc, -, start d")
    #expect(told(.wait, "+ab +c ! .") == "start ab, -, start abc, -")
  }
}

@Suite struct `What a run changes itself` {
  /// The verdicts on changes in runs: `a` is a file that was there, `+a` a new one; `|` is the end of a run, `/`
  /// that of a cancelled one.
  private func verdicts(_ story: String) -> String {
    var own = OwnChanges()
    own.runStarts()
    return story.split(separator: " ").map { word in
      if word == "|" || word == "/" {
        own.runEnds(isWhole: word == "|")
        own.runStarts()
        return String(word)
      }
      let path = String(word.drop { $0 == "+" })
      return switch own.judge(path, existed: !word.hasPrefix("+")) {
      case .counts: "counts"
      case .countsLater: "later"
      case .isOwn: "own"
      case .isFoundOwn: "found"
      }
    }.joined(separator: " ")
  }

  @Test func `is what it makes`() {
    #expect(verdicts("+a a | +a a | a") == "own own | own own | own")
  }

  @Test func `is what changes in the first run and in the next one`() {
    #expect(verdicts("a | a a | a") == "later | found own | own")
  }

  @Test func `is what changes in three runs on end`() {
    #expect(verdicts("| | a | a | a | a") == "| | counts | counts | found | own")
    #expect(verdicts("| | a | a | | a | a") == "| | counts | counts | | counts | counts")
  }

  @Test func `is not forgotten by a run that was cancelled`() {
    #expect(verdicts("| | a | a / / a") == "| | counts | counts / / found")
  }
}

@Suite struct `A queue of changes that overflows` {
  private func bound() throws -> Int {
    let text = try String(contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8)
    return try #require(Int(text.trimmingCharacters(in: .whitespacesAndNewlines)))
  }

  @Test func `is noticed, and all is well after the next look at everything`() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
      .path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let watch = try FolderWatch()
    try watch.watch([folder]) { _ in true }
    let count = min(try bound(), 100_000) / 2 + 1
    for number in 0..<count { close(open("\(folder)/\(number)", O_CREAT | O_WRONLY, 0o600)) }
    let lost = try watch.take()
    #expect(watch.hasLostChanges && lost.count < 2 * count)
    try watch.watch([folder]) { _ in true }
    #expect(!watch.hasLostChanges)
    close(open("\(folder)/0", O_WRONLY))
    let changes = try watch.take()
    #expect(changes == [NotedChange(path: "\(folder)/0", existed: true)])
  }
}

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

  @Test func `cancels a run that a change affects in part`() {
    let group = WatchedPart.steps(["deploy", "lint"])
    let parts: [[String]] = [
      ["deploy/push"], ["deploy[to=a]/push"], ["deploy[to=a]"], ["deploys"], ["test"],
    ]
    let overlaps = parts.map { group.overlaps(.steps(Set($0))) }
    #expect(overlaps == [true, true, true, false, false])
    #expect(WatchedPart.steps(["deploy/push"]).overlaps(group))
  }

  @Test func `says once that a file starts one run after the other`() {
    var own = OwnChanges()
    let story = [
      (4, "log", true), (1, nil, true), (6, "log", true), (4, "main.c", true), (1, "main.c", false),
      (1, "main.c", true), (5, "log", true), (3, "main.c", true), (2, "main.c", true),
    ]
    let told = story.map { count, path, isSoon in
      (0..<count).compactMap { _ in own.startsRun(because: path, isSoon: isSoon) }
    }
    #expect(told == [[], [], ["log"], [], [], [], [], ["main.c"], []])
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
  /// The verdicts on changes in runs: `a` is a file that was there, `+a` a new one, `<a` and `<+a` the same for
  /// inputs; `|` is the end of a run, `/` that of a cancelled one, `_` that of one which no other follows at once;
  /// `-a` is removed while there is none, and `=a` edited.
  private func verdicts(_ story: String) -> String {
    var own = OwnChanges()
    own.runStarts()
    return story.split(separator: " ").map { word in
      if ["|", "/", "_"].contains(word) {
        own.runEnds(isWhole: word != "/")
        if word == "_" { own.pauses() }
        own.runStarts()
        return String(word)
      }
      if let first = word.first, "-=".contains(first) {
        own.noteForeign("/w/" + word.dropFirst(), isThere: first == "=")
        return String(word)
      }
      let path = "/w/" + word.drop { "<+".contains($0) }
      let existed = !word.contains("+")
      let judgment =
        word.hasPrefix("<")
        ? own.judgeInput(path, existed: existed) : own.judge(path, existed: existed)
      let name =
        switch judgment.verdict {
        case .counts: "counts"
        case .countsLater: "later"
        case .isOwn: "own"
        case .waits: "waits"
        }
      return judgment.isNew ? name + "!" : name
    }.joined(separator: " ")
  }

  @Test func `is what it makes`() {
    #expect(verdicts("+a a | +a a | a") == "own own | own own | own")
  }

  @Test func `is not what comes back that somebody has removed`() {
    #expect(verdicts("| | _ -a +a | a") == "| | _ -a counts | counts")
    #expect(verdicts("| | _ -d +d/a") == "| | _ -d counts")
    // What runs have made is made again.
    #expect(verdicts("+a | | _ -a +a") == "own | | _ -a own")
    #expect(verdicts("+d/a | | _ -d -d/a +d/a") == "own | | _ -d -d/a own")
    // Edited by somebody, it is not the run's alone.
    #expect(verdicts("+a | | _ =a a") == "own | | _ =a counts")
  }

  @Test func `is what changes in the first run and in the next one`() {
    #expect(verdicts("a | a a | a") == "later | own! own | own")
  }

  @Test func `is what changes in three runs on end`() {
    #expect(verdicts("| | a | a | a | a") == "| | counts | counts | own! | own")
    #expect(verdicts("| | a | a | | a | a") == "| | counts | counts | | counts | counts")
  }

  @Test func `is not forgotten by a run that was cancelled`() {
    #expect(verdicts("| | a | a / / a") == "| | counts | counts / / own!")
  }

  @Test func `starts no more runs if it is an input that each of them changes`() {
    #expect(
      verdicts("<a | <a <a / <a | <a <a | <a | <b")
        == "counts | counts counts / later | waits! waits | waits | counts")
  }

  @Test func `may be several inputs that change in turns`() {
    #expect(
      verdicts("<a | <b | <a | <b | <a | <b | <a | <b")
        == "counts | counts | counts | counts | later | later | waits! | waits!")
  }

  @Test func `may be an input with another name each time`() {
    #expect(verdicts("<+a | <+b | <+c | <+d") == "counts | counts | later | waits!")
  }

  @Test func `is forgotten when a run leaves the input alone, or none follows`() {
    #expect(
      verdicts("<a | <a | <a | <a _ / <a _ | <a")
        == "counts | counts | later | waits! _ / waits _ | counts")
    #expect(verdicts("<a | <a _ <a | <a | <a") == "counts | counts _ counts | counts | later")
  }
}

@Suite struct `Changes between two looks` {
  private func taken(_ changes: [NotedChange], existing: Set<String>) -> [String] {
    var batch = ChangeBatch()
    batch.note(changes, isOfRun: true)
    return batch.take(exists: existing.contains).map { "\($0.path) \($0.entry.kind)" }
  }

  @Test func `are not files and directories that come and go`() {
    let come = [
      NotedChange(path: "/w/d", existed: false, kind: .newFolder),
      NotedChange(path: "/w/d/f", existed: false),
    ]
    #expect(taken(come, existing: ["/w/d", "/w/d/f"]) == ["/w/d newFolder", "/w/d/f file"])
    let gone = [
      NotedChange(path: "/w/d/f", existed: true),
      NotedChange(path: "/w/d", existed: true, kind: .folder),
    ]
    #expect(taken(come + gone, existing: []) == [])
    #expect(taken(gone, existing: []) == ["/w/d folder", "/w/d/f file"])
  }

  @Test func `may be those of a directory that becomes a file`() {
    var batch = ChangeBatch()
    let kinds: [NotedChange.Kind] = [.folder, .file, .file, .newFolder]
    let paths = ["/w/d", "/w/d", "/w/f", "/w/f"]
    batch.note(
      zip(paths, kinds).map { NotedChange(path: $0, existed: true, kind: $1) }, isOfRun: false)
    let entries = batch.take { _ in true }.map(\.entry)
    #expect(entries.map(\.kind) == [.folder, .newFolder])
    #expect(entries.map(\.isAlsoFile) == [true, true])
  }

  @Test func `are told apart by the bytes of names`() {
    let names = ["/\u{e9}", "/e\u{301}"]
    let changes = names.map { NotedChange(path: $0, existed: true) }
    #expect(taken(changes, existing: []).map { $0.utf8.count } == [9, 8])
  }
}

@Suite struct `What is said after a run` {
  @Test func `is said once, in order`() {
    var unsaid = UnsaidMessages()
    for message in ["'in' changed", "'other' changed", "'in' changed"] {
      unsaid.add(message, help: nil)
    }
    #expect(unsaid.take().map(\.message) == ["'in' changed", "'other' changed"])
    #expect(unsaid.take().isEmpty)
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
    try watch.watch(WatchScope(roots: [folder], wants: { _ in true }))
    // Each makes two events. Some may fail to open where other tests use all descriptors.
    let count = min(try bound(), 100_000) * 3 / 4
    for number in 0..<count { close(open("\(folder)/\(number)", O_CREAT | O_WRONLY, 0o600)) }
    let lost = try watch.take()
    #expect(watch.hasLostChanges && lost.count < 2 * count)
    try watch.watch(WatchScope(roots: [folder], wants: { _ in true }))
    #expect(!watch.hasLostChanges)
    close(open("\(folder)/0", O_WRONLY))
    let changes = try watch.take()
    #expect(changes == [NotedChange(path: "\(folder)/0", existed: true)])
  }
  @Test func `tells of a name that is no text by its directory`() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
      .path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let watch = try FolderWatch()
    try watch.watch(WatchScope(roots: [folder], wants: { _ in true }))
    let odd: [CChar] = Array("\(folder)/b".utf8CString.dropLast()) + [-1, 0]
    close(open(odd, O_CREAT | O_WRONLY, 0o600))
    #expect(Set(try watch.take()) == [NotedChange(path: folder, existed: true, kind: .folder)])
    for name in ["\u{e9}", "e\u{301}"] {
      close(open("\(folder)/\(name)", O_CREAT | O_WRONLY, 0o600))
    }
    close(open("\(folder)/\u{e9}", O_WRONLY))
    let changes = try watch.take()
    #expect(changes.map(\.existed) == [false, true, false, true, true])
  }
}

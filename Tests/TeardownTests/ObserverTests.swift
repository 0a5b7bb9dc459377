// Observers of a run: their order, what must be kept before anything continues, and what happens to
// a run whose observers fail. The program is `observed-run` (`Tests/ObservedRun`).

import Foundation
import TestSupport
import Testing

/// A run with observers, to its end.
private final class ObservedRun {
  let status: Int32
  let processID: Int32
  private let folder: URL

  init(_ steps: String, _ observers: String...) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "run-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try steps.write(
      to: folder.appending(path: "pipeline.yml"), atomically: false, encoding: .utf8)
    let program = ownFolder.appending(path: "observed-run").path
    let child = try Child(
      script: """
        cd '\(folder.path)' || exit 99
        exec '\(program)' pipeline.yml '\(observers.joined(separator: "' '"))' </dev/null
        """)
    processID = child.processID
    status = child.wait()
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// What all observers, or one of them, received.
  func trace(of name: String? = nil) -> [String] {
    let lines = content(of: "trace").split(separator: "\n").map(String.init)
    guard let name else { return lines }
    return lines.filter { $0.hasPrefix("\(name): ") }.map { String($0.dropFirst(name.count + 2)) }
  }

  func content(of file: String) -> String {
    (try? String(contentsOf: folder.appending(path: file), encoding: .utf8)) ?? ""
  }

  func exists(_ file: String) -> Bool {
    FileManager.default.fileExists(atPath: folder.appending(path: file).path)
  }
}

@Suite(.blocking) struct `Observers of a run` {
  private static let chain = """
    max_parallel: 1
    steps:
      - {id: a, run: echo a runs >>trace}
      - {id: b, depends_on: [a], run: echo b runs >>trace}

    """

  @Test func `are told in their order, and what they were told is kept before a dependent starts`()
    throws
  {
    let run = try ObservedRun(Self.chain, "keeper,slow", "screen")
    #expect(run.status == 0)
    #expect(
      run.trace() == [
        "keeper: began", "screen: began", "keeper: started a", "screen: started a",
        "keeper: commit", "screen: commit", "a runs",
        "keeper: ended a: 0", "screen: ended a: 0",
        "keeper: settled a succeeded", "screen: settled a succeeded",
        "keeper: started b", "screen: started b",
        "keeper: commit", "screen: commit", "b runs",
        "keeper: ended b: 0", "screen: ended b: 0",
        "keeper: settled b succeeded", "screen: settled b succeeded",
        "keeper: finished 0", "keeper: commit", "screen: finished 0", "screen: commit",
      ])
  }

  @Test func `hear of the beginning first and once, whatever else there is`() throws {
    func monotonicTime() -> TimeInterval {
      var now = timespec()
      clock_gettime(CLOCK_MONOTONIC, &now)
      return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
    }
    let (before, monotonicBefore) = (Date().timeIntervalSince1970, monotonicTime())
    let run = try ObservedRun(
      "queues: {never: {max_parallel: 0}}\nsteps: [{id: a, queue: never, run: 'true'}]\n", "one",
      "two")
    #expect(run.status == 1)
    for name in ["one", "two"] {
      #expect(
        run.trace(of: name) == [
          "began", "stopping: noWidth", "settled a cancelled", "finished 1", "commit",
        ])
    }
    let words = run.content(of: "beginning.one").split(separator: " ").map(String.init)
    try #require(words.count == 6)
    #expect(run.content(of: "beginning.two") == run.content(of: "beginning.one"))
    #expect(run.exists(".oprun/runs/\(words[0])"))
    let wallTime = (Double(words[1]) ?? 0) / 1_000_000_000
    #expect(before - 0.001...Date().timeIntervalSince1970 ~= wallTime)
    let monotonic = (Double(words[2]) ?? 0) / 1_000_000_000
    #expect(monotonicBefore - 0.001...monotonicTime() ~= monotonic)
    #expect(words[3...] == ["somewhere", "3", "\(run.processID)\n"])
  }

  @Test(arguments: ["fails", "loses"])
  func `that fail in the middle end the run with 74, and nothing new starts`(how: String) throws {
    let run = try ObservedRun(
      Self.chain + "  - {id: c, depends_on: [b], run: echo c runs >>trace}\n",
      "keeper,\(how)=settled a succeeded", "screen")
    #expect(run.status == 74)
    let fault =
      how == "fails"
      ? "keeper cannot take 'settled a succeeded'" : "keeper cannot keep 'settled a succeeded'"
    #expect(
      run.trace(of: "screen") == [
        "began", "started a", "commit", "ended a: 0", "settled a succeeded", "started b", "commit",
        "stopping: \(fault)", "settled c cancelled", "ended b: stopped before it started",
        "settled b cancelled", "finished 74", "commit",
      ])
    #expect(
      run.trace(of: "keeper") == [
        "began", "started a", "commit", "ended a: 0", "settled a succeeded",
      ] + (how == "fails" ? [] : ["started b", "commit fails"]))
    #expect(run.trace().filter { $0.hasSuffix(" runs") } == ["a runs"])
  }

  @Test func `that fail at the beginning keep everything from being started`() throws {
    let run = try ObservedRun(Self.chain, "keeper,fails=began", "screen")
    #expect(run.status == 74)
    #expect(
      run.trace() == [
        "keeper: began", "screen: began", "screen: stopping: keeper cannot take 'began'",
        "screen: settled a cancelled", "screen: settled b cancelled",
        "screen: finished 74", "screen: commit",
      ])
  }

  @Test(arguments: ["fails", "loses"])
  func `that cannot take the end change it for those behind them`(how: String) throws {
    let run = try ObservedRun(
      "steps: [{id: a, run: 'true'}]\n", "first", "keeper,\(how)=finished 0", "last")
    #expect(run.status == 74)
    #expect(run.trace(of: "first").suffix(2) == ["finished 0", "commit"])
    #expect(run.trace(of: "last").suffix(2) == ["finished 74", "commit"])
  }

  @Test func `that fail one after the other are all told of`() throws {
    let run = try ObservedRun(
      Self.chain, "one,fails=settled a succeeded", "two,fails=settled a succeeded",
      "three,fails=finished 74", "screen")
    #expect(run.status == 74)
    #expect(
      run.trace(of: "screen") == [
        "began", "started a", "commit", "ended a: 0", "settled a succeeded", "started b", "commit",
        "stopping: one cannot take 'settled a succeeded'",
        "notice: two cannot take 'settled a succeeded'",
        "ended b: stopped before it started", "settled b cancelled",
        "notice: three cannot take 'finished 74'", "finished 74", "commit",
      ])
  }

  @Test func `that fail in a run which a signal has stopped leave its status and are told of`()
    throws
  {
    let run = try ObservedRun(
      "steps: [{id: a, run: 'kill -TERM $PPID; while :; do sleep 0.01; done'}]\n",
      "keeper,fails=stopping: signal(15)", "screen")
    #expect(run.status == 143)
    #expect(
      run.trace(of: "screen") == [
        "began", "started a", "commit", "stopping: signal(15)", "commit",
        "notice: keeper cannot take 'stopping: signal(15)'", "commit", "ended a: signal 15",
        "settled a cancelled", "finished 143", "commit",
      ])
  }

  @Test func `that fail while nothing runs end a wait, and hooks run`() throws {
    let run = try ObservedRun(
      """
      steps:
        - id: a
          run: exit 1
          retry: {limit: 1, delay: 1h}
          on_cancel: echo hook runs >>trace

      """, "keeper,fails=retrying a", "screen")
    #expect(run.status == 74)
    #expect(
      run.trace() == [
        "keeper: began", "screen: began", "keeper: started a", "screen: started a",
        "keeper: commit", "screen: commit", "keeper: ended a: 1", "screen: ended a: 1",
        "keeper: retrying a", "screen: retrying a", "screen: commit",
        "screen: stopping: keeper cannot take 'retrying a'", "screen: started a onCancel",
        "screen: commit", "hook runs", "screen: ended a onCancel: 0",
        "screen: settled a cancelled", "screen: finished 74", "screen: commit",
      ])
  }

  @Test func `watch over a run that waits for a change from outside, and can be ended`() throws {
    let steps =
      "queues: {never: {start_suspended: true}}\nsteps: [{id: a, queue: never, run: 'true'}]\n"
    let run = try ObservedRun(steps, "--changeable", "heart,every=20,ends")
    #expect(run.status == 143)
    #expect(
      run.trace() == [
        "heart: began",
        "heart: notice: nothing can start: the queue 'never' is paused until 'oprun continue --queue never'",
        "heart: commit", "heart: stopping: signal(15)",
        "heart: settled a cancelled",
        "heart: finished 143", "heart: commit",
      ])
    #expect(run.exists("due.3") && !run.exists("due.5"))
    let unchangeable = try ObservedRun(steps, "heart,every=20,ends")
    #expect(unchangeable.status == 1)
    #expect(unchangeable.trace()[1] == "heart: stopping: suspended")
  }

  /// Nothing else wakes the loop: the step prints nothing, and ends when the observer was called.
  @Test func `are called when their time has come`() throws {
    var run: ObservedRun?
    let time = try duration {
      run = try ObservedRun(
        """
        steps:
          - id: a
            timeout: 2m
            run: while [ ! -e due.3 ]; do sleep 0.01; done

        """, "screen", "heart,every=20", "watch,every=3600000")
    }
    let ended = try #require(run)
    #expect(ended.status == 0)
    #expect(ended.exists("due.3"))
    #expect(!ended.exists("due.\(Int(time / 0.02) + 2)"), "more often than every 20 ms")
  }
}

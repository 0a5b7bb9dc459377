// What the executor for Slurm decides without a Slurm: when to submit, to look and to list, and whose an earlier task is.

import Plans
import Running
import Scheduling
import TestSupport
import Testing

@testable import Execution

private func key(_ operation: Int) -> CommandKey {
  CommandKey(operation: OperationID(operation), role: .attempt(1))
}

@Suite(.blocking) struct `When Slurm's queue is looked at` {
  private var looks = QueueLooks(poll: 5 * second)

  private func due(isAwaited: Bool = false, mayShowJobs: Bool = true) -> Nanoseconds? {
    looks.due(isAwaited: isAwaited, mayShowJobs: mayShowJobs)
  }

  @Test mutating func `first a while after the first submission`() {
    #expect(due() == nil)
    looks.noteSubmission(at: 10 * second)
    looks.noteSubmission(at: 12 * second)
    #expect(due() == 15 * second)
    #expect(due(mayShowJobs: false) == nil)
    looks.noteLastEnd()
    #expect(due() == nil)
  }

  @Test mutating func `at once if somebody wants to know, and never twice at a time`() {
    looks.want()
    #expect(due(mayShowJobs: false) == 0)
    looks.begin(at: 10 * second)
    looks.want()
    #expect(due() == nil)
    looks.end()
    #expect(due(mayShowJobs: false) == 15 * second)
    looks.wantAtOnce()
    #expect(due(mayShowJobs: false) == 0)
  }

  @Test mutating func `more seldom if it takes long, unless a step waits for it`() {
    looks.begin(at: 0)
    looks.end()
    looks.learn(duration: second, processorTime: 0, changes: 0)
    #expect(due() == 20 * second)
    #expect(due(isAwaited: true) == 10 * second)
    looks.learn(duration: 9 * second, processorTime: 0, changes: 0)
    #expect(due() == 60 * second)
  }

  @Test mutating func `more often while jobs begin and end`() {
    looks.begin(at: 0)
    looks.end()
    looks.learn(duration: 0, processorTime: second / 10, changes: 0)
    #expect(due() == 30 * second)
    looks.learn(duration: 0, processorTime: second / 10, changes: 1)
    #expect(due() == 10 * second)
    looks.noteMove()
    looks.learn(duration: 0, processorTime: second / 10, changes: 1)
    #expect(due() == 10 * second)
  }
}

@Suite(.blocking) struct `When results are listed` {
  @Test func `less and less often since the last one, and soon after a change`() {
    var scans = ResultScans()
    var delays: [Nanoseconds] = []
    for found in [1, 0, 0, 0, 0, 0, 0, 1] {
      let hasChanges = scans.begin(at: second)
      #expect(!hasChanges)
      scans.end(found: found)
      delays.append((scans.due - second) / 1_000_000)
    }
    #expect(delays == [200, 300, 450, 675, 1012, 1518, 2000, 200])
    scans.noteChange()
    #expect(scans.due == second + second / 20)
    let noticed = [scans.begin(at: 2 * second), scans.begin(at: 2 * second)]
    #expect(noticed == [true, false])
  }
}

@Suite(.blocking) struct `When tasks are submitted` {
  private var held = HeldTasks()

  @Test mutating func `with what comes in the next moment, not faster than the plan says`() {
    #expect(held.due == nil)
    held.append(key(1), at: second)
    held.append(key(2), at: second + 1)
    #expect(held.due == second + 20_000_000)
    held.noteSubmission(at: second, interval: 3 * second)
    #expect(held.due == 4 * second)
    held.noteSubmission(at: second, interval: 3 * second)
    #expect(held.due == 7 * second)
    held.delay(until: 9 * second)
    #expect(held.due == 9 * second)
  }

  @Test mutating func `again when something ends, if any are left`() {
    held.keep([], readyAt: nil)
    held.noteEnd(at: second)
    #expect(held.due == nil)
    held.keep([key(1)], readyAt: nil)
    #expect(held.due == nil)
    held.noteEnd(at: second)
    #expect(held.due == second)
    held.insertFirst(key(2), readyAt: 2 * second)
    #expect(held.keys == [key(2), key(1)])
    #expect(held.due == second)
    held.rest()
    #expect(held.due == nil)
  }

  @Test func `in arrays as large as Slurm takes them`() {
    var limits = ArrayLimits()
    let batch = SlurmBatch((1...100).map { SlurmBatch.Member(key: key($0), number: $0 * 2) })
    limits.learn(from: .refused("no"), of: batch)
    #expect((limits.jobs, limits.index) == (1000, 1000))
    limits.learn(from: .arrayRefused("too large"), of: batch)
    limits.learn(from: .tooMany("too many"), of: batch)
    #expect((limits.jobs, limits.index) == (50, 99))
    for _ in 0..<5 { limits.learn(from: .accepted("1"), of: batch) }
    #expect((limits.jobs, limits.index) == (1000, 99))
  }
}

@Suite(.blocking) struct `Tasks that earlier runs have left` {
  private var earlier = EarlierTasks()

  /// A task of a step, which may be known by what stands for its name.
  private mutating func add(_ step: String, number: Int, isHidden: Bool = false) {
    let entry = JournalEntry(
      step: isHidden ? JournalEntry.hidden(step) : step, digest: "d", logName: "l",
      outputsName: "o")
    let origin = JournalEntry.Origin(folder: "/runs/r1", run: "r1", number: number + 10)
    earlier.add(AdoptableTask(entry: entry, origin: origin, number: number))
  }

  @Test mutating func `are found by the name of the step, also if it was hidden`() {
    add("a", number: 3)
    add("a", number: 2, isHidden: true)
    add("b", number: 1)
    #expect(earlier["a"].map(\.number) == [3, 2])
    let ofFirst = earlier.take("a")
    #expect(ofFirst.map(\.number) == [2, 3])
    #expect(earlier["a"].isEmpty && !earlier.isEmpty)
    let ofSecond = earlier.take("b")
    #expect(ofSecond.map(\.number) == [1])
    #expect(earlier.isEmpty && earlier.hasFiles(in: "/runs/r1"))
  }

  @Test mutating func `are dropped once nobody needs them, unless they may go on`() {
    for (number, step) in ["a", "a", "b", "c"].enumerated() { add(step, number: number) }
    earlier.noteUnneeded("a")
    earlier.noteUnneeded("c")
    earlier.noteUnneeded("x")
    let dropped = earlier.dropUnneeded { $0.number == 1 }
    #expect(dropped == [0, 3])
    #expect(earlier.steps.map { $0.map(\.number) } == [[1], [2]])
    let others = earlier.dropUnneeded { _ in false }
    #expect(others.isEmpty)
  }

  @Test mutating func `have their files until their end is noted`() {
    add("a", number: 1)
    earlier.noteBroughtLog("/runs/r1/a.log", of: 1)
    earlier.noteBroughtLog("/runs/r1/b.log", of: 2)
    let files = earlier.removeFiles(of: 1)
    #expect(files?.origin.number == 11)
    #expect(files?.broughtLogs == ["/runs/r1/a.log"])
    #expect(!earlier.hasFiles(in: "/runs/r1"))
  }
}

@Suite(.blocking) struct `Ends of tasks` {
  @Test func `are noted when it is decided what follows from them`() {
    var ends = TaskEnds()
    ends.add(1, of: OperationID(0))
    ends.add(2, of: OperationID(1))
    ends.add(3, of: OperationID(0))
    var noted = [ends.takeDecided()]
    ends.addDecided([9])
    ends.decide(OperationID(0))
    noted.append(ends.takeDecided())
    #expect(!ends.isEmpty)
    ends.decide(OperationID(1))
    noted.append(ends.takeDecided())
    #expect(noted == [[], [9, 1, 3], [2]])
    #expect(ends.isEmpty)
  }
}

// The nodes of an allocation as an executor: processes that do what the tests say stand for those here and
// for `srun`, and the tests write what nodes would.

import Diagnostics
import Glibc
import Plans
import RunFiles
import Running
import Scheduling
import TestSupport
import Testing

@testable import Execution

@Suite(.blocking) struct AllocationExecutorTests {
  private let folder = TemporaryRun()
  private let here = FakeProcesses()
  private let executor: AllocationExecutor

  init() throws {
    let variables = [
      "SLURM_JOB_ID": "12", "SLURM_JOB_NODELIST": "n[1-3]", "SLURM_JOB_CPUS_PER_NODE": "2(x3)",
      "SLURMD_NODENAME": "n1",
    ]
    var parts = SlurmParts(
      plan: SlurmPlan(), runID: "r1", directory: folder.directory, folder: folder.directory.path,
      workspace: "/work", secrets: [], secretVariables: [], earlier: nil)
    parts.copiesProgram = false
    executor = AllocationExecutor(
      here, parts, try #require(Allocation { variables[$0] }), VirtualWaiting())
  }

  private func start(
    _ number: Int, cpus: Int64 = 2, gpus: Int64 = 0,
    onNodeFailure: SlurmRequest.NodeFailure = .retry, timeout: Nanoseconds? = nil
  ) -> CommandKey {
    var request = SlurmRequest()
    request.resources[.cpus] = cpus * 1_000_000
    if gpus > 0 { request.resources[.gpus] = gpus * 1_000_000 }
    request.onNodeFailure = onNodeFailure
    let key = CommandKey(operation: OperationID(number), role: .attempt(1))
    var command = Command(
      key, .words(["step\(number)"]), in: CommandEnvironment([]), settings: StepSettings(),
      files: (log: "s\(number).1.log", outputs: "s\(number).1.outputs"))
    command.slurm = SlurmOrder(request, StepSettings(timeout: timeout), priority: 0)
    executor.start(command, at: 0)
    return key
  }

  private func files() throws -> NodeFiles { try NodeFiles.open(in: folder.directory.path) }

  private func begin(_ task: Int) throws { _ = try files().claim(task, for: "12.\(task)") }

  private func write(_ end: CommandEnd, of task: Int) throws {
    let place = TaskOrigin(host: "n2", job: "12.\(task)", processID: 1, began: 0)
    let key = CommandKey(operation: OperationID(0), role: .attempt(1))
    var result = TaskResult(key: key, end: end, place: place)
    result.outputs = Array("a=1\n".utf8)
    try files().write(result.encoded, to: .results, "\(task).0")
  }

  /// Slurm lists the first step from now on.
  private func listStep(nodes: String = "NodeName=n2 Arch=x86_64 State=ALLOCATED\n") throws {
    let mark = try files().mark(of: "r1").text(of: 1)
    here.listing = { [folder] name in
      let file = open(folder.path(of: name), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0o600)
      _ = writeFully(Array("12.1|s1.1.log.\(mark)\n\(nodes)".utf8), to: file)
      close(file)
    }
  }

  /// What is reported up to a time, without places.
  private func news(at time: Nanoseconds = 1) -> [String] {
    executor.advance(to: time)
    return executor.takeNews().compactMap { item in
      switch item {
      case .ended(let key, let end): "s\(key.operation.index) \(end.status)"
      case .event(.notice(let text)): text
      case .event, .outputGrew, .outputWithheld, .beganAgain, .isOver: nil
      case .stateFailed(let text): text
      }
    }
  }

  @Test func `commands run here first, then on the other nodes, and the rest waits`() throws {
    let first = start(0)
    for number in 1...3 { _ = start(number) }
    #expect(
      here.calls == [
        "step0",
        "srun n2 \(folder.directory.path)/@node/oprun __task \(folder.directory.path) 1",
        "srun n3 \(folder.directory.path)/@node/oprun __task \(folder.directory.path) 2",
      ])
    here.end(first, CommandEnd(.exited(0)))
    #expect(news() == ["s0 exited(0)"])
    #expect(here.calls.last == "step3")
  }

  @Test func `a step that needs a GPU is started by srun, also here`() {
    _ = start(0, gpus: 1)
    #expect(here.calls.last?.hasPrefix("srun n1 ") == true)
  }

  @Test func `a step asks srun for its own share, and not for what the job was given`() throws {
    var request = SlurmRequest()
    request.resources = [.cpus: 2_000_000, .memory: 1_500_000, .gpus: 1_000_000]
    var command = Command(
      CommandKey(operation: OperationID(0), role: .attempt(1)), .words(["x"]),
      in: CommandEnvironment([]), settings: StepSettings(), files: (log: "l", outputs: "o"))
    command.slurm = SlurmOrder(request, StepSettings(), priority: 0)
    let placed = PlacedCommand(command, SlurmOrder(request, StepSettings(), priority: 0), at: 0)
    #expect(placed.share == NodeShare(processors: 2, memory: 1536, gpus: 1))
    placed.jobName = "l"
    func words(_ memory: Int) -> Command.Work {
      placed.srun(on: "n2", memory: memory, ["oprun"], in: CommandEnvironment([])).work
    }
    let start = [
      "srun", "--quiet", "--exact", "--nodes=1", "--ntasks=1", "--nodelist=n2", "--cpus-per-task=2",
    ]
    let end = [
      "--input=none", "--export=ALL", "--kill-on-bad-exit=0", "--job-name=l", "--gpus=1", "oprun",
      "0",
    ]
    #expect(words(1536) == .words(start + ["--mem=1536M"] + end))
    #expect(words(0) == .words(start + ["--mem=0"] + end))
  }

  @Test func `the result of the node is that of the command, whatever srun says`() throws {
    _ = start(0)
    let far = start(1)
    try begin(1)
    try write(CommandEnd(.exited(3)), of: 1)
    here.end(here.key(ofSrun: 1), CommandEnd(.exited(0)))
    #expect(news() == ["s1 exited(3)"])
    #expect(executor.outputs(of: far) == Array("a=1\n".utf8))
  }

  @Test func `a step without a result is no success, and runs again on another node`() throws {
    _ = start(0)
    _ = start(1)
    try begin(1)
    here.end(here.key(ofSrun: 1), CommandEnd(.exited(0)))
    #expect(news() == [])
    #expect(
      news(at: 61 * second) == [
        "step 's1.1.log' is started again: the command on node 'n2' has left no result"
      ])
    #expect(here.calls.last?.hasPrefix("srun n3 ") == true)
    try begin(2)
    try write(CommandEnd(.exited(0)), of: 2)
    here.end(here.key(ofSrun: 2), CommandEnd(.exited(0)))
    #expect(news(at: 62 * second) == ["s1 exited(0)"])
  }

  @Test func `a step whose srun was killed goes on, and its result counts`() throws {
    _ = start(0)
    let far = start(1)
    try begin(1)
    try listStep()
    here.end(here.key(ofSrun: 1), CommandEnd(.signalled(9)))
    for time in Nanoseconds(1)...40 { #expect(news(at: time * 5 * second) == []) }
    executor.stop(far, with: 2, at: 201 * second)
    #expect(here.calls.last == "scancel --quiet --signal=TERM 12.1")
    #expect(news(at: 206 * second) == [])
    try write(CommandEnd(.exited(0)), of: 1)
    #expect(news(at: 207 * second) == ["s1 exited(0)"])
  }

  @Test func `a step of a node that is down is over, although Slurm names it`() throws {
    _ = start(0)
    _ = start(1)
    try begin(1)
    try listStep(nodes: "NodeName=n2 Arch=x86_64 State=DOWN*+DRAIN ThreadsPerCore=1\n")
    here.end(here.key(ofSrun: 1), CommandEnd(.exited(0)))
    #expect(news() == [])
    #expect(
      news(at: 61 * second) == [
        "step 's1.1.log' is started again: the command on node 'n2' has left no result"
      ])
  }

  @Test func `a step that does not end although it was killed is waited for, but not for ever`()
    throws
  {
    _ = start(0)
    let far = start(1)
    try begin(1)
    try listStep()
    executor.kill(far, at: second)
    here.end(here.key(ofSrun: 1), CommandEnd(.signalled(9)))
    #expect(news(at: 2 * second) == [])
    #expect(news(at: 10 * second) == [])
    #expect(here.calls.count { $0 == "scancel --quiet --signal=KILL 12.1" } > 1)
    #expect(
      news(at: 11 * second) == [
        "step 12.1 of 's1.1.log' was killed, and may go on", "s1 abandoned",
      ])
    executor.close()
    #expect(try NodeFiles.find(in: folder.directory.path) != nil)
  }

  @Test func `the files of steps that nobody waits for are left to the next run`() throws {
    _ = start(0)
    _ = start(1)
    try begin(1)
    executor.close()
    #expect(try files().openTasks() == [1])
  }

  @Test func `a queue that cannot be listed is said once, and asked again`() throws {
    _ = start(0)
    _ = start(1)
    try begin(1)
    here.listingEnd = CommandEnd(.exited(1))
    here.end(here.key(ofSrun: 1), CommandEnd(.signalled(9)))
    #expect(
      (1...20).flatMap { news(at: $0 * 5 * second) } == [
        "Slurm does not answer (squeue did not answer): jobs continue, and the run waits"
      ])
    here.listingEnd = nil
    #expect(news(at: 105 * second) == [])
    #expect(news(at: 106 * second) == [])
    here.listingEnd = CommandEnd(.exited(0))
    #expect(news(at: 135 * second) == [])
    #expect(here.calls.last?.hasPrefix("kill ") == true)
  }

  @Test func `what has not begun when its srun has ended never will`() throws {
    _ = start(0)
    _ = start(1)
    here.end(here.key(ofSrun: 1), CommandEnd(.signalled(9)))
    _ = news()
    #expect(try files().claim(of: 1) == NodeFiles.nobody)
  }

  @Test func `one that must not run twice is lost`() throws {
    _ = start(0)
    _ = start(1, onNodeFailure: .fail)
    try begin(1)
    here.end(here.key(ofSrun: 1), CommandEnd(.signalled(9)))
    _ = news()
    #expect(
      news(at: 61 * second) == ["s1 lost(\"the command on node \\'n2\\' has left no result\")"])
  }

  @Test func `a node that has lost two steps is lost, and with it what fits on no other`() throws {
    let own = start(0)
    _ = start(1)
    _ = start(2)
    try begin(1)
    here.end(here.key(ofSrun: 1), CommandEnd(.exited(0)))
    _ = news()
    _ = news(at: 61 * second)
    here.end(own, CommandEnd(.exited(0)))
    _ = news(at: 61 * second)
    #expect(here.calls.last == "step1")
    _ = start(3, onNodeFailure: .fail)
    try begin(3)
    here.end(here.key(ofSrun: 3), CommandEnd(.exited(0)))
    _ = news(at: 62 * second)
    #expect(
      news(at: 122 * second) == [
        "node 'n2' has lost a step, and gets no more steps",
        "s3 lost(\"the command on node \\'n2\\' has left no result\")",
      ])
  }

  @Test func `a step that was lost elsewhere and runs here is stopped and killed here`() throws {
    let own = start(0)
    let moved = start(1)
    _ = start(2)
    try begin(1)
    here.end(own, CommandEnd(.exited(0)))
    here.end(here.key(ofSrun: 1), CommandEnd(.exited(0)))
    _ = news()
    _ = news(at: 61 * second)
    #expect(here.calls.last == "step1")
    executor.stop(moved, with: 2, at: 62 * second)
    executor.kill(moved, at: 63 * second)
    #expect(here.calls.suffix(2) == ["stop 1 2", "kill 1"])
  }

  @Test func `a step that could not be started is tried again at once`() throws {
    _ = start(0)
    _ = start(1, onNodeFailure: .fail)
    here.end(here.key(ofSrun: 1), CommandEnd(.exited(1)))
    #expect(
      news() == ["step 's1.1.log' is started again: the command on node 'n2' has left no result"])
    #expect(here.calls.last?.hasPrefix("srun n3 ") == true)
  }

  @Test func `a stop reaches the step, and a kill everything in it`() throws {
    let near = start(0)
    let far = start(1)
    try begin(1)
    executor.stop(near, with: 2, at: 1)
    executor.stop(far, with: 2, at: 1)
    executor.kill(far, at: 2)
    #expect(
      here.calls.suffix(4) == [
        "stop 0 2", "scancel --quiet --signal=TERM 12.1", "scancel --quiet --signal=KILL 12.1",
        "kill srun 1",
      ])
    here.end(here.key(ofSrun: 1), CommandEnd(.signalled(9)))
    #expect(news() == ["s1 signalled(2)"])
  }

  @Test func `a process of this node has the time that its step has`() {
    let own = start(0, timeout: 2 * second)
    #expect(executor.deadline == 2 * second)
    _ = news(at: 2 * second)
    #expect(here.calls.last == "stop 0 15" && executor.deadline == 7 * second)
    _ = news(at: 7 * second)
    #expect(here.calls.last == "kill 0")
    here.end(own, CommandEnd(.signalled(9)))
    executor.advance(to: 8 * second)
    let ends = executor.takeNews().map { item in
      if case .ended(_, let end) = item { end.timedOut } else { false }
    }
    #expect(ends == [true])
  }

  @Test func `a command that waits for a node can be killed`() {
    for number in 0...2 { _ = start(number) }
    let waits = start(3)
    _ = news()
    executor.kill(waits, at: 1)
    #expect(news() == ["s3 signalled(9)"])
    #expect(!here.calls.contains { $0.hasPrefix("kill") })
  }

  @Test func `a command that waits for a node can be stopped, and one that fits none is refused`() {
    for number in 0...2 { _ = start(number) }
    let waits = start(3)
    executor.stop(waits, with: 15, at: 1)
    _ = start(4, cpus: 3)
    #expect(
      news() == [
        "s3 signalled(15)",
        "s4 notStarted(\"the step asks for 3 processors, but no node of the allocation has more than 2\", exitCode: 126)",
      ])
  }
}

/// Processes that end when a test says so.
private final class FakeProcesses: Executor {
  private(set) var calls: [String] = []
  private var keys: [Int: CommandKey] = [:]
  private var news: [CommandNews] = []
  /// Writes the list of steps to the file of this name.
  var listing: (String) -> Void = { _ in }
  /// How that ends; nil if it hangs.
  var listingEnd: CommandEnd? = CommandEnd(.exited(0))

  let commandLimit = 1000

  func start(_ command: Command, at now: Nanoseconds) {
    guard case .words(let words) = command.work else { return }
    if words[0] == "/bin/sh" {
      listing(command.logName)
      if let listingEnd { news.append(.ended(command.key, listingEnd)) }
      return
    }
    let task = Int(words.last ?? "") ?? 0
    guard words[0] == "srun" else { return calls.append(words.joined(separator: " ")) }
    keys[task] = command.key
    let node = words.first { $0.hasPrefix("--nodelist=") }?.dropFirst("--nodelist=".count) ?? ""
    calls.append("srun \(node) " + words.suffix(4).joined(separator: " "))
  }

  func key(ofSrun task: Int) -> CommandKey {
    keys[task] ?? CommandKey(operation: OperationID(-1), role: .attempt(0))
  }

  func end(_ key: CommandKey, _ end: CommandEnd) { news.append(.ended(key, end)) }

  func stop(_ key: CommandKey, with signal: Int32, at now: Nanoseconds) {
    calls.append("stop \(name(of: key)) \(signal)")
  }

  func kill(_ key: CommandKey, at now: Nanoseconds) { calls.append("kill \(name(of: key))") }

  private func name(of key: CommandKey) -> String {
    keys.first { $0.value == key }.map { "srun \($0.key)" } ?? "\(key.operation.index)"
  }

  func ready(_ number: Int, at now: Nanoseconds) {}
  func advance(to now: Nanoseconds) {}
  let deadline: Nanoseconds? = nil

  func takeNews() -> [CommandNews] {
    defer { news = [] }
    return news
  }

  func close() {}
}

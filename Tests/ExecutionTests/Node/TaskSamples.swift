// Tasks and results in which every field has a value of its own.

import Plans
import Running
import Scheduling

@testable import Execution

/// Every kind of work, and everything that may be absent once present and once absent.
let sampleTasks: [TaskFile] = {
  let stop = { (signal: Int32, grace: Nanoseconds) in
    var stop = StopSequence()
    stop.signal = signal
    stop.grace = grace
    return stop
  }
  let confinement = Confinement(
    inputs: Confinement.Patterns(["src/**", "!src/old"], in: "/work"),
    readable: ["/work/made"],
    outputsBefore: [
      Confinement.Patterns([], in: "/work/lib"), Confinement.Patterns(["gen"], in: "/work"),
    ], writable: Confinement.Patterns(["out"], in: "/work"), isEnforced: false)
  let full = Command(
    CommandKey(operation: OperationID(7), role: .attempt(2)),
    .script("echo 'ü'\n", shell: ["bash", "-eo", "pipefail"]),
    in: CommandEnvironment(
      [EnvironmentVariable(name: "A", value: "1"), EnvironmentVariable(name: "B", value: "")],
      inherited: ["PATH", "HOME"]),
    variables: [EnvironmentVariable(name: "OPRUN_OUTPUT", value: "/run/unit.2.outputs")],
    settings: StepSettings(
      workingDirectory: "sub", standardInput: "in\u{0}put", logLimit: 2 << 20, nice: -3,
      usesTerminal: true, orphans: .warn), confinement: confinement,
    files: (log: "unit.2.log", outputs: "unit.2.outputs"))
  let small = Command(
    CommandKey(operation: .run, role: .hook(.onComplete, index: 1, round: 3)),
    .words(["/bin/true"]), in: CommandEnvironment([]), settings: StepSettings(),
    files: (log: "@run.on_complete.1.log", outputs: "@run.on_complete.1.outputs"))
  let probe = Command(
    CommandKey(operation: OperationID(0), role: .probe(3), repetition: 12),
    .builtin(["wait", "--file=x"]), in: CommandEnvironment([]), settings: StepSettings(),
    files: (log: "w.wait_for.3.log", outputs: "w.wait_for.3.outputs"))
  return [
    TaskFile(
      command: full, workspace: "/work", runID: "20260402-101502-k3",
      limits: TaskLimits(time: 90_000_000_000, stop: stop(2, 250_000_000)),
      secrets: ["hunter2", "line one\nline two"], replaceable: ["out", "sub/other"],
      isRepeated: true),
    TaskFile(
      command: small, workspace: "/", runID: "r", limits: TaskLimits(), secrets: []),
    TaskFile(
      command: probe, workspace: "/a b", runID: "r",
      limits: TaskLimits(time: nil, stop: stop(64, .max >> 4)), secrets: []),
  ]
}()

let sampleResults: [TaskResult] = {
  let key = CommandKey(operation: OperationID(7), role: .attempt(2))
  let place = TaskOrigin(host: "n2", job: "1234.5", processID: 99, began: 1_775_000_000_000_000_001)
  let statuses: [CommandEnd.Status] = [
    .exited(0), .exited(255), .signalled(9), .notStarted("command not found: mkae", exitCode: 127),
    .outputsRefused("OPRUN_OUTPUT is a link, wanted a regular file"), .abandoned, .lost("gone"),
  ]
  var results = statuses.map { status in
    let end = CommandEnd(
      status, timedOut: status == .signalled(9), lackedConfinement: status == .exited(0),
      duration: 12, processorTime: 3,
      peakMemory: status == .exited(0) ? nil : 1 << 40, outputByteCount: 77)
    return TaskResult(key: key, end: end, place: place)
  }
  results[0].outputs = Array("a=1\n".utf8) + [0, 0xFF]
  results[0].logSize = 70
  results[1].events = [
    .notice("so it is"), .orphans([OrphanProcess(processID: 5, name: "sleep")], .kill),
    .outOfReach([OrphanProcess(processID: 6, name: "sudo", owner: "root")]),
  ]
  results[1].stateFailure = "cannot write 'x': no space left on device"
  return results
}()

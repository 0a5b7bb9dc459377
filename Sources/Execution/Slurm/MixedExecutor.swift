// Sends each command of a run where its step says: to processes of this machine, or to Slurm.

import Plans
import Running
import Scheduling

final class MixedExecutor: Executor {
  private let local: any Executor
  private let slurm: SlurmExecutor

  init(local: any Executor, slurm: SlurmExecutor) {
    self.local = local
    self.slurm = slurm
  }

  /// The commands that Slurm runs need nothing here.
  var commandLimit: Int {
    let (sum, isTooMuch) = local.commandLimit.addingReportingOverflow(slurm.plan.maxQueued)
    return isTooMuch ? .max : sum
  }

  private func executor(of key: CommandKey) -> any Executor {
    slurm.holds(key) ? slurm : local
  }

  func start(_ command: Command, at now: Nanoseconds) {
    if command.slurm == nil {
      local.start(command, at: now)
    } else {
      slurm.start(command, at: now)
    }
  }

  func stop(_ key: CommandKey, with signal: Int32, at now: Nanoseconds) {
    executor(of: key).stop(key, with: signal, at: now)
  }

  func kill(_ key: CommandKey, at now: Nanoseconds) { executor(of: key).kill(key, at: now) }

  func earlierRuns(of step: String) -> Set<String> { slurm.earlierRuns(of: step) }

  func takesOver(_ command: Command) -> Bool { slurm.takesOver(command) }

  func endEarlier(_ operation: OperationID, of step: String, startsThen: Bool) {
    slurm.endEarlier(operation, of: step, startsThen: startsThen)
  }

  func runStops(at now: Nanoseconds) { slurm.runStops(at: now) }

  func watchJob(making lock: String, at now: Nanoseconds) { slurm.watchJob(making: lock, at: now) }

  func areElsewhere(_ commands: [CommandKey]) -> Bool { slurm.areElsewhere(commands) }

  func leave(at now: Nanoseconds) -> Set<CommandKey> { slurm.leave(at: now) }

  func leave(to run: String, at now: Nanoseconds) -> Set<CommandKey> {
    slurm.leave(to: run, at: now)
  }

  func hurry(at now: Nanoseconds) { slurm.hurry(at: now) }

  func decided(_ operation: OperationID, of step: String?) {
    slurm.decided(operation, of: step)
  }

  func recorded() { slurm.recorded() }

  func conclude() { slurm.conclude() }

  func ready(_ number: Int, at now: Nanoseconds) {
    let isOfSlurm =
      (ResultWatch.number..<SlurmProcesses.firstNumber + SlurmCall.Channel.allCases.count)
      .contains(number)
    if isOfSlurm { slurm.ready(number, at: now) } else { local.ready(number, at: now) }
  }

  func advance(to now: Nanoseconds) {
    local.advance(to: now)
    slurm.advance(to: now)
  }

  var deadline: Nanoseconds? { [local.deadline, slurm.deadline].compactMap(\.self).min() }

  func outputs(of key: CommandKey) -> [UInt8]? {
    slurm.outputs(of: key) ?? local.outputs(of: key)
  }

  func takeNews() -> [CommandNews] { local.takeNews() + slurm.takeNews() }

  var marks: RunMarks { local.marks }

  var startTimes: [CommandKey: Nanoseconds] {
    local.startTimes.merging(slurm.startTimes) { first, _ in first }
  }

  func holders(of server: LocalServer) -> [PortHolder] { local.holders(of: server) }

  var spareDescriptorCount: Int { local.spareDescriptorCount }

  var isOnCluster: Bool { true }

  func close() {
    slurm.close()
    local.close()
  }
}

// Processes of another user, as `sudo` starts them: no signal of ours reaches them. They are told of,
// given the time that others have to end by themselves, and then left to go on.

import Glibc
import Plans
import Scheduling

extension LocalProcesses {
  /// A command that was killed in vain may still end, when all below it that could be killed has.
  private static let lastChance: Nanoseconds = 100_000_000

  /// Whatever can be reached of the command is killed; the rest has had its grace.
  func giveUp(_ command: RunningCommand, at now: Nanoseconds) {
    report(outOfReach: endAll(from: command.processID), of: command)
    command.abandonAt = now + LocalProcesses.lastChance
  }

  /// Nobody waits for the command any longer. It stays our child until it ends or we do.
  func abandon(_ command: RunningCommand, _ now: Nanoseconds) {
    report(outOfReach: endAll(from: command.processID), of: command)
    children.exempt(command.processID)
    command.hasLostProcesses = true
    command.exit = RunningCommand.Exit(
      status: .abandoned, processorTime: 0, peakMemory: 0, at: now)
  }

  /// What is left of the command cannot be ended.
  func lose(_ orphans: [ProcessStatus], of command: RunningCommand, at now: Nanoseconds) {
    if !orphans.isEmpty {
      report(orphans, of: command, .warn)
      report(outOfReach: orphans.flatMap { endAll(from: $0.processID) }, of: command)
      orphans.forEach { children.exempt($0.processID) }
      command.hasLostProcesses = true
    }
    finish(command, at: now)
  }
}

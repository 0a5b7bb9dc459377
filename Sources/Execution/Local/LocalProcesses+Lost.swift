// Processes of another user, as `sudo` starts them: oprun cannot signal them. They are reported,
// given the same grace period as others, and then left running.

import Glibc
import Plans
import Scheduling

extension LocalProcesses {
  /// The time in which a command that could not be killed may still end, after everything below it
  /// that could be killed has ended.
  private static let lastChance: Nanoseconds = 100_000_000

  /// Kills all processes of the command that can be killed; the rest has had its grace period.
  func giveUp(_ command: RunningCommand, at now: Nanoseconds) {
    report(outOfReach: endAll(from: command.processID), of: command)
    command.abandonAt = now + LocalProcesses.lastChance
  }

  /// Stops waiting for the command. It stays our child until it ends or we do.
  func abandon(_ command: RunningCommand, _ now: Nanoseconds) {
    report(outOfReach: endAll(from: command.processID), of: command)
    children.exempt(command.processID)
    command.hasLostProcesses = true
    command.exit = RunningCommand.Exit(
      status: .abandoned, processorTime: 0, peakMemory: nil, at: now, wasWanted: true)
  }

  /// Called when the rest of the command cannot be ended.
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

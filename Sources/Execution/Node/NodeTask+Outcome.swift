// Prepares a command for a task, and makes a result of its end.

import Diagnostics
import Masking
import Plans
import RunFiles
import Running

extension Secrets {
  /// The secrets of a task, whose names nobody needs here.
  init(ofTask values: [String]) {
    self.init(
      Dictionary(uniqueKeysWithValues: values.enumerated().map { (String($0), $1) }))
  }
}

extension TaskResult {
  /// Takes the outputs that the command wrote to `OPRUN_OUTPUT`, if it has succeeded. A file that
  /// cannot be used stays, for inspection, unless it may contain a secret.
  mutating func takeOutputs(of command: Command, in directory: RunDirectory, hasSecrets: Bool) {
    let name = command.outputsName
    defer { if hasSecrets || outputs != nil { directory.remove(name) } }
    guard command.key.role.isAttempt, end.isSuccess else { return }
    do throws(OutputFailure) {
      outputs = try outputBytes(from: name, in: directory)
    } catch {
      end = end.with(.outputsRefused(error.message))
    }
  }

  /// The same result with secrets masked in the texts for people.
  func masked(by masker: Masker?) -> TaskResult {
    guard let masker else { return self }
    var result = self
    switch end.status {
    case .notStarted(let reason, let code):
      result.end = end.with(.notStarted(masker.mask(reason), exitCode: code))
    case .outputsRefused(let reason): result.end = end.with(.outputsRefused(masker.mask(reason)))
    case .lost(let reason): result.end = end.with(.lost(masker.mask(reason)))
    case .exited, .signalled, .abandoned: break
    }
    result.events = events.map { $0.masked(by: masker) }
    result.stateFailure = stateFailure.map { masker.mask($0) }
    return result
  }
}

extension TaskResult.Event {
  fileprivate func masked(by masker: Masker) -> TaskResult.Event {
    let mask = { (processes: [OrphanProcess]) in
      processes.map { process in
        OrphanProcess(
          processID: process.processID, name: masker.mask(process.name), owner: process.owner)
      }
    }
    return switch self {
    case .notice(let text): .notice(masker.mask(text))
    case .orphans(let processes, let action): .orphans(mask(processes), action)
    case .outOfReach(let processes): .outOfReach(mask(processes))
    }
  }
}

// Events in the form in which observers receive them: no string in them contains a secret.

import Masking
import Plans
import Scheduling

extension RunEvent.Kind {
  func masked(by masker: Masker) -> RunEvent.Kind {
    switch self {
    case .began(let beginning): .began(beginning.masked(by: masker))
    case .started, .outputGrew, .retrying, .ready, .heldUp, .terminalTaken, .terminalReturned,
      .controlled, .reopened, .placed, .restored:
      self
    case .ended(let operation, let role, let end):
      .ended(operation, role, end.masked(by: masker))
    case .appended(let operation, let id, let group, let after, let isGroup):
      .appended(operation, id: masker.mask(id), group: group, after: after, isGroup: isGroup)
    case .resolved(let operation, let command, let name):
      .resolved(
        operation, command: command.map { masker.mask($0) }, name: name.map { masker.mask($0) })
    case .waiting(let operation, let reason): .waiting(operation, masker.mask(reason))
    case .published(let operation, let outputs):
      .published(operation, outputs.map { $0.masked(by: masker) })
    case .orphansFound(let operation, let processes, let action):
      .orphansFound(
        operation,
        processes: processes.map { $0.masked(by: masker) }, action: action)
    case .outOfReach(let operation, let processes):
      .outOfReach(operation, processes: processes.map { $0.masked(by: masker) })
    case .settled(let operation, let ending, let cause):
      .settled(operation, ending, cause.masked(by: masker))
    case .stopping(let reason): .stopping(reason.masked(by: masker))
    case .notice(let text): .notice(masker.mask(text))
    case .finished(let end):
      .finished(
        RunEnd(
          exitStatus: end.exitStatus, stopReason: end.stopReason?.masked(by: masker),
          hookFailed: end.hookFailed, passedOn: end.passedOn))
    }
  }
}

extension RunBeginning {
  /// The beginning, masked. The id of the run is not, because oprun makes it and it names the
  /// directory.
  fileprivate func masked(by masker: Masker) -> RunBeginning {
    RunBeginning(
      runID: runID, clock: clock,
      host: RunHost(name: masker.mask(host.name), processorCount: host.processorCount),
      processID: processID, marks: marks, trace: trace)
  }
}

extension OrphanProcess {
  fileprivate func masked(by masker: Masker) -> OrphanProcess {
    OrphanProcess(
      processID: processID, name: masker.mask(name), owner: owner.map { masker.mask($0) })
  }
}

extension CommandEnd {
  fileprivate func masked(by masker: Masker) -> CommandEnd {
    switch status {
    case .exited, .signalled, .abandoned: self
    case .notStarted(let reason, let code):
      with(.notStarted(masker.mask(reason), exitCode: code))
    case .outputsRefused(let reason): with(.outputsRefused(masker.mask(reason)))
    case .lost(let reason): with(.lost(masker.mask(reason)))
    }
  }
}

extension PublishedOutput {
  fileprivate func masked(by masker: Masker) -> PublishedOutput {
    let shown = masker.mask(json: json)
    return PublishedOutput(name: masker.mask(name), json: shown, isMasked: shown != json)
  }
}

extension Cause {
  fileprivate func masked(by masker: Masker) -> Cause {
    switch self {
    case .itself, .dependency, .hook: self
    case .condition(let words): .condition(masker.mask(words))
    case .timeLimit(let words): .timeLimit(masker.mask(words))
    case .service(let words): .service(masker.mask(words))
    case .notReady(let words): .notReady(masker.mask(words))
    case .wait(let words): .wait(masker.mask(words))
    case .stopped(let reason): .stopped(reason.masked(by: masker))
    case .stoppedEarlier(let reason): .stoppedEarlier(reason.masked(by: masker))
    }
  }
}

extension StopReason {
  fileprivate func masked(by masker: Masker) -> StopReason {
    switch self {
    case .signal, .failure, .runTimeout, .groupTimeout, .noWidth, .suspended, .left, .noOutputs,
      .request,
      .died:
      self
    case .stateFailure(let text): .stateFailure(masker.mask(text))
    case .overtaken(let text): .overtaken(masker.mask(text))
    }
  }
}

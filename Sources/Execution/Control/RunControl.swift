// The state that a run keeps for those who ask it something from outside, or follow it.

import Plans
import Scheduling

/// The user who paused a queue, and since when.
struct Pause {
  let user: String
  let since: Nanoseconds
}

struct RunControl {
  /// The clients; nil until the run has lasted for a moment, and if nobody can ask.
  var server: ControlServer?
  /// When the run begins to listen to clients.
  var listeningDue: Nanoseconds?
  /// When clients that follow the run are told changes.
  var feedDue: Nanoseconds?
  /// The pauses of queues.
  private(set) var pauses: [QueueID: Pause] = [:]
  /// The user who changed something last.
  private(set) var lastUser: String?
  /// The places of commands that do not run here.
  private(set) var places: [OperationID: CommandPlacement] = [:]
  /// The ends of the last attempts of steps that failed.
  private(set) var failedEnds: [OperationID: EndedCommand] = [:]

  /// Why steps that ran in an earlier run, and are kept as cancelled, were cancelled there.
  private(set) var earlierStops: [OperationID: StopReason] = [:]

  /// True if somebody may ask, now or later.
  var isOpen: Bool { server != nil || listeningDue != nil }

  var deadline: Nanoseconds? {
    server == nil ? listeningDue : earlier(server?.deadline, feedDue)
  }

  /// Notes an event for later questions. `queueCount` is the number of all queues.
  mutating func note(_ event: RunEvent.Kind, at time: Nanoseconds, queueCount: Int) {
    switch event {
    case .controlled(let note):
      lastUser = note.user
      notePauses(note, at: time, queueCount)
    case .ended(let operation, let role, let end):
      guard role.isAttempt else { break }
      if !places.isEmpty { places[operation] = nil }
      if !end.isSuccess {
        failedEnds[operation] = EndedCommand(role: role, end: end)
      } else if !failedEnds.isEmpty {
        failedEnds[operation] = nil
      }
    case .placed(let operation, _, let place): places[operation] = place
    case .settled(let operation, _, .stoppedEarlier(let reason)): earlierStops[operation] = reason
    case .reopened(let operation, _):
      if !earlierStops.isEmpty { earlierStops[operation] = nil }
    case .began, .started, .outputGrew, .terminalTaken, .terminalReturned, .appended, .resolved,
      .waiting, .ready, .heldUp, .published, .retrying, .settled, .orphansFound, .outOfReach,
      .restored, .stopping, .notice, .finished:
      break
    }
  }

  private mutating func notePauses(
    _ note: ControlNote, at time: Nanoseconds, _ queueCount: Int
  ) {
    switch note.action {
    case .pause(let queue):
      for queue in queue.map({ [$0] }) ?? (0..<queueCount).map({ QueueID($0) }) {
        pauses[queue] = pauses[queue] ?? Pause(user: note.user, since: time)
      }
    case .proceed(let queue): if let queue { pauses[queue] = nil } else { pauses = [:] }
    case .cancelRun, .cancel, .cancelQueue, .retry, .setWidth, .setPriority: break
    }
  }
}

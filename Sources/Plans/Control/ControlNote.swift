// A change that somebody requests of a run in progress, after its queue or step was looked up.

package import Scheduling

/// A change to a run from outside.
package enum ControlAction: Hashable, Sendable {
  /// Starts nothing new in the queue; nil stands for all queues.
  case pause(QueueID?)
  case proceed(QueueID?)
  case cancelRun
  /// Cancels a step, or everything in a group.
  case cancel(OperationID)
  /// Cancels the steps of the queue that have not ended.
  case cancelQueue(QueueID)
  /// Runs a step again that failed, or those in a group that did.
  case retry(OperationID)
  case setWidth(QueueID, Int)
  /// Sets the priority of a step, or of every step in a group.
  case setPriority(OperationID, Int16)
}

/// A change, and the user who requested it.
package struct ControlNote: Hashable, Sendable {
  package let action: ControlAction
  /// The name of a user of this machine, or the number of a user without a name.
  package let user: String

  package init(_ action: ControlAction, by user: String) {
    self.action = action
    self.user = user
  }
}

extension ControlAction {
  /// The name of the command that requests the change.
  package var word: StaticString {
    switch self {
    case .pause: "pause"
    case .proceed: "continue"
    case .cancelRun, .cancel, .cancelQueue: "cancel"
    case .retry: "retry"
    case .setWidth, .setPriority: "set"
    }
  }

  /// The queue to change; nil if the change is not about one.
  package var queue: QueueID? {
    switch self {
    case .pause(let queue), .proceed(let queue): queue
    case .cancelQueue(let queue), .setWidth(let queue, _): queue
    case .cancelRun, .cancel, .retry, .setPriority: nil
    }
  }

  /// The step to change; nil if the change is not about one.
  package var operation: OperationID? {
    switch self {
    case .cancel(let operation), .retry(let operation), .setPriority(let operation, _): operation
    case .pause, .proceed, .cancelRun, .cancelQueue, .setWidth: nil
    }
  }
}

extension ControlNote {
  /// The words for a change that was made: `paused by anna`, `queue 'net' paused by anna`.
  package func words(
    queue name: (QueueID) -> String, step id: (OperationID) -> String
  ) -> String {
    func named(_ queue: QueueID?) -> String { queue.map { "queue '\(name($0))' " } ?? "" }
    let what =
      switch action {
      case .pause(let queue): "\(named(queue))paused"
      case .proceed(let queue): "\(named(queue))continued"
      case .cancelRun: "cancelled"
      case .cancel(let operation): "'\(id(operation))' cancelled"
      case .cancelQueue(let queue): "\(named(queue))cancelled"
      case .retry(let operation): "'\(id(operation))' started again"
      case .setWidth(let queue, let width): "\(named(queue))set to max_parallel \(width)"
      case .setPriority(let operation, let priority):
        "'\(id(operation))' set to priority \(priority)"
      }
    return "\(what) by \(user)"
  }
}

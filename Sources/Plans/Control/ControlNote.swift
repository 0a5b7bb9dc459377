// What somebody asks of a run in progress, once it is known which queue or step is meant.

package import Scheduling

/// A change to a run from outside.
package enum ControlAction: Hashable, Sendable {
  /// The queue starts nothing new; nil stands for all queues.
  case pause(QueueID?)
  case proceed(QueueID?)
  case cancelRun
  /// A step, or everything in a group.
  case cancel(OperationID)
  /// The steps of the queue that have not ended.
  case cancelQueue(QueueID)
  /// A step that failed, or those that did in a group.
  case retry(OperationID)
  case setWidth(QueueID, Int)
  /// A step, or every step in a group.
  case setPriority(OperationID, Int16)
}

/// A change, and who asked for it.
package struct ControlNote: Hashable, Sendable {
  package let action: ControlAction
  /// The name of a user of this machine, or the number of one without a name.
  package let user: String

  package init(_ action: ControlAction, by user: String) {
    self.action = action
    self.user = user
  }
}

extension ControlAction {
  /// The word of the command that asks for it.
  package var word: StaticString {
    switch self {
    case .pause: "pause"
    case .proceed: "continue"
    case .cancelRun, .cancel, .cancelQueue: "cancel"
    case .retry: "retry"
    case .setWidth, .setPriority: "set"
    }
  }

  /// The queue that is meant, if it is one.
  package var queue: QueueID? {
    switch self {
    case .pause(let queue), .proceed(let queue): queue
    case .cancelQueue(let queue), .setWidth(let queue, _): queue
    case .cancelRun, .cancel, .retry, .setPriority: nil
    }
  }

  /// The step that is meant, if it is one.
  package var operation: OperationID? {
    switch self {
    case .cancel(let operation), .retry(let operation), .setPriority(let operation, _): operation
    case .pause, .proceed, .cancelRun, .cancelQueue, .setWidth: nil
    }
  }
}

extension ControlNote {
  /// What was done, in words: `paused by anna`, `queue 'net' paused by anna`.
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

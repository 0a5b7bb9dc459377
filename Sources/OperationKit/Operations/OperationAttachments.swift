// Properties that only a few operations have, so that the others do not pay for them.

import Dispatch
import Synchronization

/// The properties of an operation in a separate object. They are read and changed under the operation's lock.
final class OperationAttachments: @unchecked Sendable {  // under a lock
  typealias Handler = @Sendable (Operation.State) -> Void

  var name: String?
  var completionBlock: (@Sendable () -> Void)?
  var error: (any Error)?
  var qualityOfService = QualityOfService.default
  var threadPriority: Double?
  var timeout: Duration?
  /// The clock of the time limit, if there is one, from the beginning of the work to the end.
  var clock: (any DispatchSourceTimer)?
  var conditions: [OperationCondition] = []
  var cancelHandlers: [@Sendable () -> Void] = []
  /// Called when the operation has finished; for threads and tasks alike.
  var waiters: [@Sendable () -> Void] = []
  /// Called when, in addition, its completion block has run and its queue has forgotten it.
  var successors: [@Sendable () -> Void] = []

  /// The number of dependencies that have not ended, of an operation that wants to be asked after that.
  var unfinishedCount = 0
  var hasRemovedDependencies = false

  /// True if the engine counts the operation among the observed ones.
  var isCounted = false {
    didSet { Engine.shared.observedCount.add(isCounted ? 1 : -1, ordering: .relaxed) }
  }

  private var observers: [Handler] = []
  /// Changes that have not been reported yet, with their handlers.
  private var news: [(state: Operation.State, handlers: [Handler])] = []
  private var isTelling = false
  private var hasBegun = false
  private var hasToldCancelled = false
  /// The latest state except `.cancelled` that was put in the news.
  private var latest = Operation.State.waiting

  deinit { if isCounted { Engine.shared.observedCount.subtract(1, ordering: .relaxed) } }

  var effectivePriority: Double { threadPriority ?? qualityOfService.threadPriority ?? 0.5 }

  /// The names of exclusive conditions.
  var exclusions: [String] {
    conditions.compactMap { if case .exclusive(let name) = $0.kind { name } else { nil } }
  }

  /// Notes the state in which the first observer finds the operation; earlier changes are not reported.
  func begin(in state: Operation.State, isCancelled: Bool) {
    if !hasBegun {
      latest = max(latest, state)
      hasToldCancelled = isCancelled
    } else if isCancelled {
      add(.cancelled)
    }
    hasBegun = true
  }

  func add(_ observer: @escaping Handler, isCancelled: Bool, startingWithCurrent: Bool) {
    if startingWithCurrent {
      news.append((isCancelled && latest != .finished ? .cancelled : latest, [observer]))
    }
    if latest != .finished { observers.append(observer) }
  }

  /// Adds a change to the news. States come in order; one that was left out is added.
  func add(_ state: Operation.State) {
    if state == .cancelled {
      if !hasToldCancelled { news.append((state, observers)) }
      hasToldCancelled = true
      return
    }
    if state <= latest { return }
    if state == .executing, latest == .waiting { news.append((.ready, observers)) }
    news.append((state, observers))
    latest = state
    if state == .finished { observers = [] }
  }

  /// True for one caller at a time, which reports changes until `nextNews` has none.
  func beginTelling() -> Bool {
    if isTelling { return false }
    isTelling = true
    return true
  }

  func nextNews() -> (state: Operation.State, handlers: [Handler])? {
    if news.isEmpty {
      isTelling = false
      return nil
    }
    return news.removeFirst()
  }
}

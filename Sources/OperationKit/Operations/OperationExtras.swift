// What few operations have, so that the others need not pay for it.

/// What an operation keeps beside itself. Read and changed under the operation's lock.
final class OperationExtras: @unchecked Sendable {  // under a lock
  typealias Handler = @Sendable (Operation.State) -> Void

  var name: String?
  var completionBlock: (@Sendable () -> Void)?
  var error: (any Error)?
  var qualityOfService = QualityOfService.default
  var threadPriority: Double?
  var timeout: Duration?
  var conditions: [OperationCondition] = []
  var cancelHandlers: [@Sendable () -> Void] = []
  /// To be called when it has finished; threads and tasks alike.
  var waiters: [@Sendable () -> Void] = []

  /// To be called when its completion block has run too and its queue has forgotten it.
  var successors: [@Sendable () -> Void] = []

  private var observers: [Handler] = []
  /// Changes that were not told yet, and whom to tell.
  private var news: [(state: Operation.State, handlers: [Handler])] = []
  private var isTelling = false
  private var hasBegun = false
  /// The latest state but `.cancelled` that was put in the news.
  private var latest = Operation.State.waiting

  var effectivePriority: Double { threadPriority ?? qualityOfService.threadPriority ?? 0.5 }

  /// The names of exclusive conditions.
  var exclusions: [String] {
    conditions.compactMap { if case .exclusive(let name) = $0.kind { name } else { nil } }
  }

  /// The first observer finds the operation in this state; what was before is no news.
  func begin(in state: Operation.State) {
    if !hasBegun { latest = max(latest, state) }
    hasBegun = true
  }

  func add(_ observer: @escaping Handler, isCancelled: Bool, startingWithCurrent: Bool) {
    if startingWithCurrent {
      news.append((isCancelled && latest != .finished ? .cancelled : latest, [observer]))
    }
    if latest != .finished { observers.append(observer) }
  }

  /// Adds a change to the news. States come in order; one that was left out is made up for.
  func add(_ state: Operation.State) {
    if state == .cancelled {
      news.append((state, observers))
      return
    }
    if state <= latest { return }
    if state == .executing, latest == .waiting { news.append((.ready, observers)) }
    news.append((state, observers))
    latest = state
    if state == .finished { observers = [] }
  }

  /// True for one caller at a time: it tells until `nextNews` has none.
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

// Begins sources as others end, so that memory and disk usage do not depend on how many there are.

import OperationKit

final class SourceFeed: Sendable {
  private struct State: Sendable {
    var admission: Admission
    /// The sources that wait for a slot, by number.
    var waiting: [Int: @Sendable () -> Void] = [:]
  }

  private let state: Guarded<State>
  private let news = Signal()

  init(hosts: [String], perHost: Int, window: Int) {
    state = Guarded(State(admission: Admission(hosts, perHost: perHost, window: window)))
  }

  /// Begins each source by its number and returns when all have finished.
  func run(_ begin: (Int) -> Void) {
    while !state.withLock({ $0.admission.isOver }) {
      while let source = state.withLock({ $0.admission.next() }) { begin(source) }
      if state.withLock({ $0.admission.isOver }) { return }
      news.wait()
    }
  }

  /// Called when the source no longer needs its host.
  func downloaded(_ source: Int) { handOver { $0.downloaded(source) } }

  /// Called when the source will try again later.
  func paused(_ source: Int) { handOver { $0.paused(source) } }

  private func handOver(_ leave: (inout Admission) -> Int?) {
    let goOn = state.withLock { state in
      leave(&state.admission).flatMap { state.waiting.removeValue(forKey: $0) }
    }
    goOn?()
    news.send()
  }

  /// True if a source that has paused may continue now; if not, `goOn` is called when it may.
  func resume(_ source: Int, whenFree goOn: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      if state.admission.resume(source) { return true }
      state.waiting[source] = goOn
      return false
    }
  }

  /// Called when everything that follows from the source is done.
  func finished(_ source: Int) {
    state.withLock { $0.admission.finished(source) }
    news.send()
  }
}

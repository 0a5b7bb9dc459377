// The list of the observers of a run. It knows nothing about processes, nor about what happens
// after a failure.

import Masking
import Plans
import Scheduling

/// The observers of a run, in the order in which they are called. Observers get events only from
/// here, with secrets masked.
struct Observers {
  private var list: [any RunObserver]
  private let masker: Masker?
  private var failures: [ObserverFailure] = []
  private var endOfTurn: Nanoseconds = -1
  /// True if an observer has failed before it had recorded everything.
  private var hasLost = false

  init(_ list: [any RunObserver], masker: Masker?) {
    self.list = list
    self.masker = masker
  }

  /// When a turn must end; nil if no observer wants to be called. An observer that repeatedly
  /// returns a time in the past must not keep the loop busy.
  var deadline: Nanoseconds? {
    var due: Nanoseconds?
    for observer in list {
      if let wanted = observer.deadline, wanted > endOfTurn { due = earlier(due, wanted) }
    }
    return due
  }

  mutating func tell(_ kind: RunEvent.Kind, at time: Nanoseconds) {
    let event = masked(kind, at: time)
    forEach { observer throws(ObserverFailure) in try observer.observe(event) }
  }

  mutating func commit() {
    forEach { observer throws(ObserverFailure) in try observer.commit() }
  }

  mutating func endTurn(at time: Nanoseconds) {
    endOfTurn = time
    forEach { observer throws(ObserverFailure) in try observer.endTurn(at: time) }
  }

  /// True if all events so far would survive the end of oprun.
  var hasRecordedAll: Bool { !hasLost && list.allSatisfy(\.hasRecordedAll) }

  mutating func suspend() {
    forEach { observer throws(ObserverFailure) in try observer.suspend() }
  }

  mutating func resume() {
    forEach { observer throws(ObserverFailure) in try observer.resume() }
  }

  /// Returns the failures since the last call. An observer that has failed is no longer in the list.
  mutating func takeFailures() -> [ObserverFailure] {
    if failures.isEmpty { return [] }
    defer { failures = [] }
    return failures
  }

  /// Reports the end of the run to one observer after the other, and ends its last turn: so the
  /// observers after one that fails hear of it, in the end itself or as a notice before it. Returns
  /// the end after the last failure.
  mutating func finish(_ end: RunEnd, at time: Nanoseconds) -> RunEnd {
    var end = end
    var notices: [String] = []
    for observer in list {
      for failure in takeFailures() {
        let message = failure.message
        if let failed = end.failing(message) { end = failed } else { notices.append(message) }
      }
      let last = masked(.finished(end), at: time)
      let others = notices.map { masked(.notice($0), at: time) }
      attempt(observer) { () throws(ObserverFailure) in
        for notice in others { try observer.observe(notice) }
        try observer.observe(last)
        try observer.commit()
        try observer.endTurn(at: time)
      }
    }
    return takeFailures().reduce(end) { $0.failing($1.message) ?? $0 }
  }

  private mutating func forEach(
    _ body: (any RunObserver) throws(ObserverFailure) -> Void
  ) {
    var index = 0
    while index < list.count {
      let observer = list[index]
      if attempt(observer, { () throws(ObserverFailure) in try body(observer) }) {
        index += 1
      } else {
        list.remove(at: index)
      }
    }
  }

  @discardableResult
  private mutating func attempt(
    _ observer: any RunObserver, _ body: () throws(ObserverFailure) -> Void
  ) -> Bool {
    do throws(ObserverFailure) {
      try body()
      return true
    } catch {
      failures.append(error)
      // When another run goes on with this one, this one has lost its record, though all of it may
      // be recorded.
      if !observer.hasRecordedAll || error.successor != nil { hasLost = true }
      return false
    }
  }

  private func masked(_ kind: RunEvent.Kind, at time: Nanoseconds) -> RunEvent {
    RunEvent(at: time, masker.map(kind.masked) ?? kind)
  }
}

extension RunEnd {
  /// The end of a run whose state could not be kept; nil if the run was stopped before, which takes
  /// precedence. A run that left its jobs without a signal fails, too: nobody could wait for the
  /// rest.
  func failing(_ message: String) -> RunEnd? {
    switch stopReason {
    // A signal has its own status.
    case .left where exitStatus > 128: nil
    case nil, .failure, .noOutputs, .left:
      RunEnd(
        exitStatus: 74, stopReason: .stateFailure(message), hookFailed: hookFailed)
    case .signal, .request, .runTimeout, .groupTimeout, .noWidth, .suspended, .stateFailure,
      .overtaken, .died:
      nil
    }
  }
}

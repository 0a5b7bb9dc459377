// The interfaces of the observers of a run's events, who may fail to keep them, and of the readers
// of oprun's output.

package import Scheduling

/// Receives the events of a run: records, shows or counts them. The observers of a run are called
/// in their order: first those that record, then those that show.
///
/// An observer that fails receives no more events, and the run ends as it does when its state cannot be kept.
package protocol RunObserver: AnyObject {
  /// Called for each event, in order. The start and the end of a step are reported in the turn in
  /// which they are noticed.
  func observe(_ event: RunEvent) throws(ObserverFailure)
  /// Called before commands start, which may depend on the reported events, and after the last event:
  /// everything that must outlive oprun is on disk when this returns.
  func commit() throws(ObserverFailure)
  /// Called when nothing more happens until the kernel has news or a deadline comes: collected
  /// output should be written now. `time` counts like that of events.
  func endTurn(at time: Nanoseconds) throws(ObserverFailure)
  /// True if all observed events would survive the end of oprun. Jobs of a cluster are found again until then.
  var hasRecordedAll: Bool { get }
  /// The time at which a turn ends even without events; nil if events are enough. It is read after
  /// each turn, and ignored unless it is later than the end of the turn.
  var deadline: Nanoseconds? { get }
  /// Called before oprun is stopped by job control (Ctrl-Z): a terminal is left as others expect it.
  func suspend() throws(ObserverFailure)
  /// Called when oprun goes on. It may have been stopped without a call of `suspend`.
  func resume() throws(ObserverFailure)
}

extension RunObserver {
  package func suspend() {}
  package func resume() {}
  package func commit() {}
  package func endTurn(at time: Nanoseconds) {}
  package var deadline: Nanoseconds? { nil }
  package var hasRecordedAll: Bool { true }
}

/// The failure of an observer to keep what it should; the message says what could not be done, and why.
package struct ObserverFailure: Error, Hashable, Sendable {
  package let message: String
  /// The run that already goes on with this one, if that is why nothing can be recorded any more.
  package var successor: String?

  package init(_ message: String) { self.message = message }
}

/// A standard stream of oprun whose reader may stop reading. During the run nothing waits for the
/// reader; at its end oprun does.
package protocol RunOutlet: AnyObject {
  /// The descriptor that is writable again when the reader has read; nil if nothing is pending.
  var pendingDescriptor: Int32? { get }
  /// Writes as much as the reader accepts now.
  func resume()
  /// Gives up pending output: it will not be written.
  func abandon()
}

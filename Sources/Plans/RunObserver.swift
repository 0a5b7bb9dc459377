// Who hears the events of a run, and how a failure to keep them is told; and who reads what oprun prints. It knows no
// observer.

package import Scheduling

/// Receives the events of a run: records, shows or counts what happens. The observers of a run are
/// called in their order: first those that record, then those that show.
///
/// An observer that fails receives no more events, and the run ends as it does when its state
/// cannot be kept.
package protocol RunObserver: AnyObject {
  /// Called for each event, in order. The start and the end of a step are reported in the turn in
  /// which they are noticed.
  func observe(_ event: RunEvent) throws(ObserverFailure)
  /// Called before commands start, which may depend on the reported events, and after the last event:
  /// everything that must outlive oprun is on disk when this returns.
  func commit() throws(ObserverFailure)
  /// Called when nothing more happens until the kernel has news or a deadline comes: this is the
  /// moment to write what was collected. `time` counts like that of events.
  func endTurn(at time: Nanoseconds) throws(ObserverFailure)
  /// Whether everything that was observed would survive the end of oprun. Jobs of a cluster are found again until then.
  var hasRecordedAll: Bool { get }
  /// The time at which a turn ends, whatever happens; nil if events are enough. It is read after
  /// each turn. One that is not later than the end of the turn is ignored.
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

/// An observer has lost what it should keep; the message says what could not be done, and why.
package struct ObserverFailure: Error, Hashable, Sendable {
  package let message: String
  /// The run that goes on with this one already, if that is why nothing can be recorded any more.
  package var successor: String?

  package init(_ message: String) { self.message = message }
}

/// A standard stream of oprun whose reader may stop reading. During the run nothing waits for the
/// reader; at its end oprun does.
package protocol RunOutlet: AnyObject {
  /// The descriptor that is writable again when the reader has read; nil if nothing is pending.
  var pendingDescriptor: Int32? { get }
  /// Writes what the reader accepts now.
  func resume()
  /// Gives up what is pending: it is not written any more.
  func abandon()
}

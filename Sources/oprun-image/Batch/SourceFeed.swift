// Begins sources as others end, so that memory and disk do not depend on how many there are.

import OperationKit

final class SourceFeed: Sendable {
  private let admission: Guarded<Admission>
  private let news = Signal()

  init(hosts: [String], perHost: Int, window: Int) {
    admission = Guarded(Admission(hosts, perHost: perHost, window: window))
  }

  /// Begins each source by its number and returns when all have finished.
  func run(_ begin: (Int) -> Void) {
    while !admission.withLock({ $0.isOver }) {
      while let source = admission.withLock({ $0.next() }) { begin(source) }
      if admission.withLock({ $0.isOver }) { return }
      news.wait()
    }
  }

  /// The source needs its host no more.
  func downloaded(_ source: Int) {
    admission.withLock { $0.downloaded(source) }
    news.send()
  }

  /// The source will try again later.
  func paused(_ source: Int) {
    admission.withLock { $0.paused(source) }
    news.send()
  }

  /// Whether a source that has paused may go on now; if not, it is to ask again soon.
  func resume(_ source: Int) -> Bool { admission.withLock { $0.resume(source) } }

  /// All that follows from the source is done.
  func finished(_ source: Int) {
    admission.withLock { $0.finished(source) }
    news.send()
  }
}

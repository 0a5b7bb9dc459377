// The progress of work: a count, and contributions of its parts.

import Dispatch
import Synchronization

/// Counts units of work, under the names that Foundation uses; parts of it can be counted by
/// children.
open class Progress: @unchecked Sendable {  // mutable state is atomic or under a lock
  private typealias Listener = AsyncStream<Double>.Continuation

  /// The properties that only a few have. Guarded by the common lock.
  private struct Tree {
    weak var parent: Progress?
    var children: [(progress: Progress, portion: Int64)] = []
    var listeners: [Listener] = []
    var isCancelled = false
    var isPaused = false
    var isCancellable = false
    var isPausable = false
    var cancellationHandler: (@Sendable () -> Void)?
    var pausingHandler: (@Sendable () -> Void)?
    var resumingHandler: (@Sendable () -> Void)?
  }

  private static let lock = Lock()
  /// Children that have finished, for release without the lock. Guarded by it.
  nonisolated(unsafe) private static var finished: [Progress] = []
  private let total: Atomic<Int64>
  private let completed = Atomic<Int64>(0)
  /// True if changes are reported to a parent or a listener.
  private let isHeard = Atomic<Bool>(false)
  private var tree = Tree()

  /// Makes a progress with this many units.
  public init(totalUnitCount: Int64 = 0) { total = Atomic(totalUnitCount) }

  /// Makes a progress that counts a part of another one.
  public convenience init(
    totalUnitCount: Int64, parent: Progress, pendingUnitCount: Int64
  ) {
    self.init(totalUnitCount: totalUnitCount)
    parent.addChild(self, withPendingUnitCount: pendingUnitCount)
  }

  /// Makes a progress that is part of no other.
  open class func discreteProgress(totalUnitCount: Int64) -> Progress {
    Progress(totalUnitCount: totalUnitCount)
  }

  /// Lets another progress count this many units of this one: they are completed once the other has
  /// finished. This traps if the other one already has a parent.
  open func addChild(_ child: Progress, withPendingUnitCount unitCount: Int64) {
    let (isCancelled, isPaused) = Progress.locked {
      demand(child.tree.parent == nil, "a progress is added to a second parent")
      child.tree.parent = self
      child.isHeard.store(true, ordering: .relaxed)
      tree.children.append((child, unitCount))
      return (tree.isCancelled, tree.isPaused)
    }
    if isCancelled { child.cancel() }
    if isPaused { child.pause() }
    tell()
  }

  /// The amount of work; while it is 0, a queue counts nothing.
  open var totalUnitCount: Int64 {
    get { total.load(ordering: .relaxed) }
    set {
      total.store(newValue, ordering: .relaxed)
      tell()
    }
  }

  /// The amount of work that is done, by this progress and by children that have finished.
  open var completedUnitCount: Int64 {
    get { Progress.locked { count() } }
    set {
      Progress.locked {
        _ = count()
        completed.store(newValue, ordering: .relaxed)
      }
      tell()
    }
  }

  /// The fraction from 0.0 to 1.0, including what children have done so far; 0.0 while nothing is
  /// known, and more than 1.0 when more was done than ``totalUnitCount`` announced, as in
  /// Foundation.
  public var fractionCompleted: Double { Progress.locked { fraction() } }

  /// Whether the amount of work is unknown.
  open var isIndeterminate: Bool {
    let (done, total) = (completedUnitCount, totalUnitCount)
    return done < 0 || total < 0 || done == 0 && total == 0
  }

  /// Whether all work is done.
  open var isFinished: Bool { Progress.locked { isDone() } }

  /// The fraction now and after each change, or only the latest if several come in quick
  /// succession; the stream ends with the work.
  public var fractions: AsyncStream<Double> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { listener in
      Progress.locked {
        tree.listeners.append(listener)
        isHeard.store(true, ordering: .relaxed)
      }
      tell()
    }
  }

  /// Whether ``cancel()`` was called, on this one or on one that it is part of.
  open var isCancelled: Bool { Progress.locked { tree.isCancelled } }

  /// Whether ``pause()`` was called last, on this one or on one that it is part of.
  open var isPaused: Bool { Progress.locked { tree.isPaused } }

  /// Whether a display of the progress may offer to cancel.
  open var isCancellable: Bool {
    get { Progress.locked { tree.isCancellable } }
    set { Progress.locked { tree.isCancellable = newValue } }
  }

  /// Whether a display of the progress may offer to pause.
  open var isPausable: Bool {
    get { Progress.locked { tree.isPausable } }
    set { Progress.locked { tree.isPausable = newValue } }
  }

  /// Called on ``cancel()``, on another thread. Without it nothing happens: a queue continues.
  open var cancellationHandler: (@Sendable () -> Void)? {
    get { Progress.locked { tree.cancellationHandler } }
    set {
      let old = Progress.locked {
        defer { tree.cancellationHandler = newValue }
        return tree.cancellationHandler
      }
      withExtendedLifetime(old) { if isCancelled { run(newValue) } }
    }
  }

  /// Called on ``pause()``, on another thread.
  open var pausingHandler: (@Sendable () -> Void)? {
    get { Progress.locked { tree.pausingHandler } }
    set {
      let old = Progress.locked {
        defer { tree.pausingHandler = newValue }
        return tree.pausingHandler
      }
      withExtendedLifetime(old) { if isPaused { run(newValue) } }
    }
  }

  /// Called on ``resume()``, on another thread.
  open var resumingHandler: (@Sendable () -> Void)? {
    get { Progress.locked { tree.resumingHandler } }
    set {
      let old = Progress.locked {
        defer { tree.resumingHandler = newValue }
        return tree.resumingHandler
      }
      withExtendedLifetime(old) {}
    }
  }

  /// Requests the end of the work and of all its parts: see ``cancellationHandler``.
  open func cancel() {
    Progress.locked { tree.isCancelled = true }
    run(cancellationHandler)
    for child in parts { child.cancel() }
  }

  /// Requests a pause of the work and of all its parts: see ``pausingHandler``.
  open func pause() {
    Progress.locked { tree.isPaused = true }
    run(pausingHandler)
    for child in parts { child.pause() }
  }

  /// Requests that the work and all its parts continue: see ``resumingHandler``.
  open func resume() {
    Progress.locked { tree.isPaused = false }
    run(resumingHandler)
    for child in parts { child.resume() }
  }

  private var parts: [Progress] { Progress.locked { tree.children.map(\.progress) } }

  private static func locked<Value>(_ body: () -> Value) -> Value {
    var released: [Progress] = []
    defer { withExtendedLifetime(released) {} }
    return lock.locked {
      defer { if !finished.isEmpty { swap(&released, &finished) } }
      return body()
    }
  }

  private func run(_ handler: (@Sendable () -> Void)?) {
    if let handler { DispatchQueue.global().async { handler() } }
  }
}

extension Progress {
  /// Called when an operation has ended. True if that must be reported, by `tell`.
  func countOne() -> Bool {
    if total.load(ordering: .relaxed) <= 0 { return false }
    completed.add(1, ordering: .relaxed)
    return isHeard.load(ordering: .relaxed)
  }

  /// Must not be called under the engine's lock.
  func tell() {
    if !isHeard.load(ordering: .relaxed) { return }
    var ended: [AsyncStream<Double>.Continuation] = []
    let parent = Progress.locked {
      let fraction = fraction()
      for listener in tree.listeners { listener.yield(fraction) }
      if isDone() { swap(&ended, &tree.listeners) }
      return tree.parent
    }
    for listener in ended { listener.finish() }
    parent?.tell()
  }

  /// Must be called under the lock. Children that have finished are counted permanently.
  private func count() -> Int64 {
    if !tree.children.isEmpty {
      tree.children.removeAll { child, portion in
        let isDone = child.isDone()
        if isDone {
          completed.add(portion, ordering: .relaxed)
          Progress.finished.append(child)
        }
        return isDone
      }
    }
    return completed.load(ordering: .relaxed)
  }

  private func isDone() -> Bool {
    let (done, total) = (count(), total.load(ordering: .relaxed))
    return done > 0 && total >= 0 && done >= total
  }

  private func fraction() -> Double {
    let (done, total) = (count(), total.load(ordering: .relaxed))
    if done < 0 || total < 0 || done == 0 && total == 0 { return 0 }
    if total == 0 { return 1 }
    let parts = tree.children.reduce(0) { $0 + $1.progress.fraction() * Double($1.portion) }
    return (Double(done) + parts) / Double(total)
  }
}

// Reports changes: key-value notifications by subclasses that keep their own state, and changes of
// state to observers.

extension OperationProtocol {
  /// Adds a handler that is called for every later change of the state, each once and in order.
  ///
  /// It is called on the thread that made the change; it must not wait for the operation.
  public func observeState(_ handler: @escaping @Sendable (Operation.State) -> Void) {
    observe(startingWithCurrent: false, handler)
  }

  /// The state now, and every later change, each once; ends when the operation has finished.
  ///
  /// Cancellation is a separate change: `waiting, cancelled, finished`.
  public var states: AsyncStream<Operation.State> {
    AsyncStream { continuation in
      observe(startingWithCurrent: true) { state in
        continuation.yield(state)
        if state == .finished { continuation.finish() }
      }
    }
  }
}

extension Operation {
  fileprivate func observe(
    startingWithCurrent: Bool, _ handler: @escaping @Sendable (Operation.State) -> Void
  ) {
    let isReady = isReady
    Engine.shared.countObserved(self)
    withAttachments { attachments in
      let bits = bits
      attachments.begin(
        in: .found(bits, isReady: isReady), isCancelled: bits.contains(.cancelled))
      attachments.add(
        handler, isCancelled: bits.contains(.cancelled), startingWithCurrent: startingWithCurrent)
    }
    deliver()
    if self.isReady { tell(.ready) }
  }

  /// Reports a change to the observers. Must not be called under the engine's lock.
  func tell(_ state: State) {
    withAttachments { attachments in
      if state == .finished, has(.cancelled) { attachments.add(.cancelled) }
      attachments.add(state)
    }
    deliver()
  }

  private func deliver() {
    guard withAttachments({ $0.beginTelling() }) else { return }
    while let (state, handlers) = withAttachments({ $0.nextNews() }) {
      for handler in handlers { handler(state) }
    }
  }
}

extension Operation.State {
  fileprivate static func found(_ status: Status, isReady: Bool) -> Operation.State {
    if status.contains(.finished) { return .finished }
    if status.contains(.executing) { return .executing }
    return isReady ? .ready : .waiting
  }
}

extension Operation {
  /// Takes over the current values of a subclass's properties.
  func examine() {
    if isFinished {
      finish(onOwnThread: false)
    } else if !has(.executing), isExecuting {
      let old = set(.executing)
      if old.contains(.isObserved) { tell(.executing) }
      if old.contains(.hasTerms) { startClock() }
    } else if has(.queued) {
      Engine.shared.askAgain(self)
    }
  }
}

extension Operation {
  /// Asks an operation whether it is ready. Foundation also asks one that is in no queue, when
  /// nothing is left that it waits for and when it is cancelled; subclasses act on being asked.
  func askLater(after dependency: Operation) {
    clear(.asked)
    withAttachments { $0.unfinishedCount += 1 }
    dependency.whenRetired { [weak self] in self?.dependencyEnded() }
  }

  /// Only the last end can be the one after which nothing is left, unless dependencies were removed:
  /// those are not told apart here.
  private func dependencyEnded() {
    let mayBeLast = withAttachments {
      $0.unfinishedCount -= 1
      return $0.unfinishedCount == 0 || $0.hasRemovedDependencies
    }
    if mayBeLast { askIfNothingIsLeft() }
  }

  func askIfNothingIsLeft() {
    let bits = bits
    guard bits.isDisjoint(with: [.queued, .executing, .finished, .asked]),
      bits.contains(.cancelled) || Engine.shared.dependenciesAreFinished(of: self),
      !set(.asked).contains(.asked)
    else { return }
    _ = isReady
  }

  /// True if the operation is more than a block.
  var isDistinct: Bool { type(of: self) != BlockOperation.self || has(.hasAttachments) }

  /// True if the operation is of a subclass; nothing can be overridden in the other classes.
  var isSubclassed: Bool {
    let type = type(of: self)
    return type != BlockOperation.self && type != Operation.self
  }
}

extension OperationProtocol {
  /// The same as `willChangeValue(forKey:)`, also for a property of the subclass.
  @_disfavoredOverload
  public func willChangeValue<Value>(for keyPath: KeyPath<Self, Value>) {}

  /// The same as `didChangeValue(forKey:)`, also for a property of the subclass.
  @_disfavoredOverload
  public func didChangeValue<Value>(for keyPath: KeyPath<Self, Value>) {
    didChangeValue(forKey: "")
  }
}

extension Operation {
  /// The same as `willChangeValue(forKey:)`.
  public func willChangeValue<Value>(for keyPath: KeyPath<Operation, Value>) {}

  /// The same as `didChangeValue(forKey:)`.
  public func didChangeValue<Value>(for keyPath: KeyPath<Operation, Value>) {
    didChangeValue(forKey: "")
  }
}

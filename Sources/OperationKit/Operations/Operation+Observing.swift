// Telling of changes: key-value notifications by subclasses that keep their own state, and news of
// the state to those who asked.

extension OperationProtocol {
  /// Adds a handler that is told every later change of the state, each once and in order.
  ///
  /// It is called on the thread that made the change; it must not wait for the operation.
  public func observeState(_ handler: @escaping @Sendable (Operation.State) -> Void) {
    observe(startingWithCurrent: false, handler)
  }

  /// The state now, and every later change, each once; ends when the operation has finished.
  ///
  /// Cancellation is a change of its own: `waiting, cancelled, finished`.
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
    withDetails { details in
      let bits = bits
      details.begin(in: .found(bits, isReady: isReady))
      details.add(
        handler, isCancelled: bits.contains(.cancelled), startingWithCurrent: startingWithCurrent)
    }
    deliver()
    if self.isReady { tell(.ready) }
  }

  /// Brings a change to the observers. Not under the engine's lock.
  func tell(_ state: State) {
    withDetails { $0.add(state) }
    deliver()
  }

  private func deliver() {
    guard withDetails({ $0.beginTelling() }) else { return }
    while let (state, handlers) = withDetails({ $0.nextNews() }) {
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
  /// What the properties of a subclass say now is taken over.
  func examine() {
    if isFinished {
      finish(onOwnThread: false)
    } else if !has(.executing), isExecuting {
      if set(.executing).contains(.isObserved) { tell(.executing) }
    } else if has(.queued), isReady {
      Engine.shared.becameReady(self)
    }
  }
}

extension Operation {
  /// Foundation asks an operation that is in no queue whether it is ready, too, when nothing is left that
  /// it waits for, and when it is cancelled; subclasses act on being asked.
  func askLater(after dependency: Operation) {
    clear(.asked)
    dependency.whenRetired { [weak self] in self?.askIfNothingIsLeft() }
  }

  func askIfNothingIsLeft() {
    let bits = bits
    guard bits.isDisjoint(with: [.queued, .executing, .finished, .asked]),
      bits.contains(.cancelled) || Engine.shared.dependenciesAreFinished(of: self),
      !set(.asked).contains(.asked)
    else { return }
    _ = isReady
  }

  /// There is more to it than a block.
  var isDistinct: Bool { isSubclassed || has(.hasDetails) }

  /// Nobody can have overridden anything in the others.
  var isSubclassed: Bool {
    let type = type(of: self)
    return type != BlockOperation.self && type != Operation.self
  }
}

extension OperationProtocol {
  /// As `willChangeValue(forKey:)`, for a property of the subclass too.
  @_disfavoredOverload
  public func willChangeValue<Value>(for keyPath: KeyPath<Self, Value>) {}

  /// As `didChangeValue(forKey:)`, for a property of the subclass too.
  @_disfavoredOverload
  public func didChangeValue<Value>(for keyPath: KeyPath<Self, Value>) {
    didChangeValue(forKey: "")
  }
}

extension Operation {
  /// As `willChangeValue(forKey:)`.
  public func willChangeValue<Value>(for keyPath: KeyPath<Operation, Value>) {}

  /// As `didChangeValue(forKey:)`.
  public func didChangeValue<Value>(for keyPath: KeyPath<Operation, Value>) {
    didChangeValue(forKey: "")
  }
}

// A request on its way through the workers, and how it can end.

/// What came of a request. It is told once, on the workers' own thread: do little there.
typealias AnswerHandler = @Sendable (Result<ImageAnswer, ImageFailure>) -> Void

/// A request that was handed in.
struct Assignment: Sendable {
  /// A number by which it can be cancelled.
  let ticket: Int
  let request: ImageRequest
  /// Open until it is answered; they stay the caller's.
  let descriptors: [Int32]
  let handler: AnswerHandler
  /// A worker that somebody else killed is no fault of the image, once.
  var isRetried = false
}

/// Why a worker is killed in the middle of a request.
enum StopReason: Sendable {
  case timedOut
  case cancelled
}

/// A request that a worker is busy with.
struct ActiveAssignment: Sendable {
  var assignment: Assignment
  let worker: WorkerProcess
  /// In milliseconds of the monotonic clock.
  let deadline: Int
  /// It was killed for this, and will end in a moment.
  var stopReason: StopReason?
}

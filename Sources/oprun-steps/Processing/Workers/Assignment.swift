// A request on its way through the workers, and how it can end.

/// Receives the result of a request. It is called once, on the thread of the workers, and must do
/// little there.
typealias AnswerHandler = @Sendable (Result<ImageAnswer, ImageFailure>) -> Void

/// A request that was submitted.
struct Assignment: Sendable {
  /// A number by which the request can be cancelled.
  let ticket: Int
  let request: ImageRequest
  /// The descriptors, which must be open until the request is answered; they still belong to the caller.
  let descriptors: [Int32]
  let handler: AnswerHandler
  /// True if the request was retried because its worker was killed from outside, which once is not
  /// considered the fault of the image.
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
  /// The deadline in milliseconds of the monotonic clock.
  let deadline: Int
  /// Why the worker was killed, if it was; it will end in a moment.
  var stopReason: StopReason?
}

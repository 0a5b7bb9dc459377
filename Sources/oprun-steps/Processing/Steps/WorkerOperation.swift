// Any request to a worker, as an operation that others can depend on.

import OperationKit

/// A request to a worker, with its descriptors. `image` is kept open until the answer is there.
struct WorkerQuestion: Sendable {
  var job: ImageJob
  var image: SourceImage?
  var descriptors: [Int32]
}

/// An operation that ends when the answer is there. Its request is determined when it starts, after
/// its dependencies.
final class WorkerOperation: AsyncOperation, @unchecked Sendable {
  // what changes is under a lock
  typealias Question = @Sendable () throws(ImageFailure) -> WorkerQuestion

  private let question: Question
  private let limits: ImageLimits
  private let workers: Workers
  private let outcome = Guarded<Result<[ImageFacts], ImageFailure>>(.failure(.cancelled))
  private let ticket = Guarded<Int?>(nil)

  init(_ limits: ImageLimits, _ workers: Workers, _ question: @escaping Question) {
    self.question = question
    self.limits = limits
    self.workers = workers
  }

  /// The result, available after the end.
  var result: Result<[ImageFacts], ImageFailure> { outcome.withLock { $0 } }

  override func main() {
    do throws(ImageFailure) {
      let question = try question()
      let descriptors = (question.image.map { [$0.descriptor] } ?? []) + question.descriptors
      let number = workers.perform(
        ImageRequest(job: question.job, limits: limits), descriptors
      ) { answer in
        withExtendedLifetime(question) {}
        self.take(answer)
      }
      ticket.withLock { $0 = number }
      if isCancelled { workers.cancel(number) }
    } catch { end(.failure(error)) }
  }

  override func cancel() {
    super.cancel()
    if let number = ticket.withLock({ $0 }) { workers.cancel(number) }
  }

  private func take(_ answer: Result<ImageAnswer, ImageFailure>) {
    switch answer {
    case .failure(let fault): end(.failure(fault))
    case .success(.done(let facts)): end(.success(facts))
    case .success: end(.failure(.workerSpokeNonsense))
    }
  }

  private func end(_ result: Result<[ImageFacts], ImageFailure>) {
    outcome.withLock { $0 = result }
    if case .failure(let fault) = result { finish(fault) } else { finish() }
  }
}

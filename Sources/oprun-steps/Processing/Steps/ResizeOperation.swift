// Makes the results of an image, as an operation: a worker does the work; this requests and
// publishes it.

import BuiltinSteps
import Diagnostics
import OperationKit

/// A published result.
struct ImageResult: Hashable, Sendable {
  let path: String
  let facts: ImageFacts
}

/// The means of operations on images, shared by all operations of a step.
final class ImageProcessing: Sendable {
  let workers: Workers
  /// The queue for operations on images. It is a little wider than the number of workers: while one
  /// result is written to disk, its worker has the next image.
  let queue = OperationQueue()
  private let publishing = OperationQueue()
  private let owners = Guarded<[PathKey: (index: Int, label: String)]>([:])

  /// `fileCount` is the number of files that each operation has open. All operations together may
  /// use a part of the descriptors.
  init(_ workers: Workers, fileCount: Int, ofParts parts: Int = 1) {
    self.workers = workers
    queue.name = "processing"
    queue.maxConcurrentOperationCount = DescriptorBudget().most(
      workers.count + 2, each: fileCount + 1, ofParts: parts)
    publishing.name = "publishing"
    publishing.maxConcurrentOperationCount = 4
  }

  /// Claims a path. Each path belongs to one item of a step, which may write it again.
  func claim(_ path: String, for item: ResizeItem) throws(ImageFailure) {
    let owner = owners.withLock { owners in
      let owner = owners[PathKey(path), default: (item.index, item.label)]
      owners[PathKey(path)] = owner
      return owner
    }
    if owner.index != item.index { throw .pathIsTaken(path, by: owner.label) }
  }

  /// Claims a path for something that is not an item; no item may then write it.
  func reserve(_ path: String, for label: String) {
    owners.withLock { $0[PathKey(path)] = (0, label) }
  }

  func publish(_ body: @escaping @Sendable () -> Void) {
    publishing.addOperation { body() }
  }
}

/// An image to be resized.
struct ResizeItem: Sendable {
  /// The name for messages.
  let label: String
  /// The name for paths, without an extension.
  let name: String
  /// The number of the item, counted from 1.
  let index: Int
  /// Opens the image; called when the operation starts, after its dependencies.
  let source: @Sendable ([ImageFormat]) throws(ImageFailure) -> SourceImage
}

/// An operation that ends when all results have their names, or it has failed.
final class ResizeOperation: AsyncOperation, @unchecked Sendable {
  // what changes is under a lock
  private struct State {
    var ticket: Int?
    var started: Int64 = 0
    var ended: Int64 = 0
    var result: Result<[ImageResult], ImageFailure>?
  }

  private let item: ResizeItem
  private let settings: ResizeSettings
  private let processing: ImageProcessing
  private let state = Guarded(State())

  init(_ item: ResizeItem, _ settings: ResizeSettings, _ processing: ImageProcessing) {
    self.item = item
    self.settings = settings
    self.processing = processing
    super.init()
    name = item.label
  }

  /// The result, available after the end; an operation that was cancelled before it started has the
  /// fault `cancelled`.
  var result: Result<[ImageResult], ImageFailure> {
    state.withLock { $0.result } ?? .failure(.cancelled)
  }

  /// The time from its start to its end.
  var milliseconds: Int {
    state.withLock { Int(max(0, $0.ended - $0.started) / 1_000_000) }
  }

  override func main() {
    state.withLock { $0.started = monotonicTime() }
    do throws(ImageFailure) {
      try ask()
    } catch { end(.failure(error)) }
  }

  override func cancel() {
    super.cancel()
    if let ticket = state.withLock({ $0.ticket }) { processing.workers.cancel(ticket) }
  }

  private func ask() throws(ImageFailure) {
    let source = try item.source(settings.reading.formats)
    let results = settings.results(for: source.format)
    let files = try results.map { (result) throws(ImageFailure) in try file(for: result) }
    let job = ImageJob.resize(
      format: source.format, allFrames: settings.allFrames, results)
    let ticket = processing.workers.perform(
      ImageRequest(job: job, limits: settings.limits),
      [source.descriptor] + files.map(\.descriptor)
    ) { [self, processing] answer in
      // It also keeps the files open until now.
      processing.publish { self.take(answer, source, files) }
    }
    state.withLock { $0.ticket = ticket }
    if isCancelled { processing.workers.cancel(ticket) }
  }

  private func file(for result: ResultSpec) throws(ImageFailure) -> ResultFile {
    let path = settings.pattern.path(
      PathPattern.Values(
        name: item.name, ext: result.format.fileExtension, box: result.box, index: item.index))
    try processing.claim(path, for: item)
    do throws(SystemError) { return try ResultFile(path) } catch { throw .system(error) }
  }

  private func take(
    _ answer: Result<ImageAnswer, ImageFailure>, _ source: SourceImage, _ files: [ResultFile]
  ) {
    let result = published(answer, files)
    // Code that waits for the end may end the program, so nothing may be left to do then.
    for file in files { file.discard() }
    end(result)
  }

  private func published(
    _ answer: Result<ImageAnswer, ImageFailure>, _ files: [ResultFile]
  ) -> Result<[ImageResult], ImageFailure> {
    switch answer {
    case .failure(let fault): return .failure(fault)
    case .success(.done(let facts)) where facts.count == files.count:
      do throws(SystemError) {
        for file in files { try file.publish() }
        return .success(zip(files, facts).map { ImageResult(path: $0.path, facts: $1) })
      } catch { return .failure(.system(error)) }
    case .success: return .failure(.workerSpokeNonsense)
    }
  }

  private func end(_ result: Result<[ImageResult], ImageFailure>) {
    state.withLock { state in
      state.result = result
      state.ended = monotonicTime()
    }
    if case .failure(let fault) = result { finish(fault) } else { finish() }
  }
}

// Processes one item once its image is there: earlier results are reused; otherwise a resize
// operation is produced, and its results are kept.

import BuiltinSteps
import Diagnostics
import OperationKit

final class ThumbnailOperation: Operation, @unchecked Sendable {  // it has no mutable state
  private let item: ThumbnailPlan.Item
  private let task: DownloadTask
  private let batch: ThumbnailBatch
  private let whenOver: @Sendable (ItemResult, _ isOfContent: Bool) -> Void

  init(
    _ item: ThumbnailPlan.Item, _ task: DownloadTask, _ batch: ThumbnailBatch,
    whenOver: @escaping @Sendable (ItemResult, _ isOfContent: Bool) -> Void
  ) {
    self.item = item
    self.task = task
    self.batch = batch
    self.whenOver = whenOver
  }

  override func main() {
    guard let end = task.end else {
      preconditionFailure("an item was begun before its download had ended")
    }
    do throws(ItemFailure) {
      let source = try end.result.get()
      let image = try image { () throws(ImageFailure) in
        try SourceImage(source.path, reading: batch.settings.reading.formats)
      }
      let format = image.format
      let files = try batch.kept.publish(source, as: format) { (result) throws(ItemFailure) in
        try self.path(of: result)
      }
      guard let files else {
        guard batch.kept.isIntact(source) else {
          throw ItemFailure("the cache was damaged during the run; the next run repairs it")
        }
        return resize(source, image, end)
      }
      finish(.success(files), end, isCached: source.isCached)
    } catch { finish(.failure(error), end, isCached: false) }
  }

  private func resize(_ source: Acquired, _ image: SourceImage, _ end: DownloadTask.End) {
    let name = item.name
    let resizeItem = ResizeItem(label: name, name: name, index: item.index) { _ in image }
    let operation = ResizeOperation(resizeItem, batch.settings, batch.processing)
    // The operation goes before further items, because each of these has an open file from its
    // beginning.
    operation.queuePriority = .high
    operation.completionBlock = { [self, batch] in
      withExtendedLifetime(source) {}
      switch operation.result {
      case .failure(let fault):
        finish(.failure(ItemFailure(fault)), end, isCached: false)
      case .success(let results):
        batch.kept.keep(results, of: source, as: image.format)
        finish(.success(results.map(ItemFile.init)), end, isCached: false)
      }
    }
    produce(operation)
  }

  /// The path that the resize operation would give the result.
  private func path(of result: ResultSpec) throws(ItemFailure) -> String {
    let path = batch.settings.pattern.path(
      PathPattern.Values(
        name: item.name, ext: result.format.fileExtension, box: result.box, index: item.index))
    let owner = ResizeItem(label: item.name, name: item.name, index: item.index) {
      _ throws(ImageFailure) in
      throw .noFile
    }
    try image { () throws(ImageFailure) in try batch.processing.claim(path, for: owner) }
    return path
  }

  private func finish(
    _ files: Result<[ItemFile], ItemFailure>, _ end: DownloadTask.End, isCached: Bool
  ) {
    var result = ItemResult(origin: "")
    result.attemptCount = end.attemptCount
    result.milliseconds = Int((end.nanoseconds + monotonicTime() - end.time) / 1_000_000)
    result.isCached = isCached
    if item.isFirst { result.receivedByteCount = end.receivedByteCount }
    if case .success(let source) = end.result { result.note = source.note }
    var isOfContent = false
    switch files {
    case .success(let files): result.files = files
    case .failure(let failure):
      result.error = failure.message
      isOfContent = failure.isOfContent
    }
    whenOver(result, isOfContent)
  }

  private func image<Value>(
    _ body: () throws(ImageFailure) -> Value
  ) throws(ItemFailure) -> Value {
    do throws(ImageFailure) { return try body() } catch { throw ItemFailure(error) }
  }
}

extension ItemFile {
  init(_ result: ImageResult) {
    self.init(
      path: result.path, byteCount: result.facts.bytes, width: result.facts.size.width,
      height: result.facts.size.height)
  }
}

// `resize`: makes smaller copies of image files.

import BuiltinSteps
import Diagnostics
import OperationKit

extension Program {
  func resize(_ inputs: Inputs) throws(UsageFailure) -> Int32 {
    let started = monotonicTime()
    let step = try ResizeStep(inputs)
    try checkManifest(inputs, besides: step.files + step.paths)
    // Several workers share what is loaded before they start; a single one loads it while the
    // program continues.
    if step.files.count > 1 { _ = Raster.load() }
    guard let workers = startWorkers(step.settings.reading, modules: step.settings.modules) else {
      return ExitStatus.internalError
    }
    defer { workers.stop() }
    let progress = BatchProgress(
      total: step.files.count, noun: "image", output: errors, meter: Meter())
    workers.whenTroubled { progress.tell($0) }
    let results = Guarded(step.files.map { ItemResult(origin: ByteText.shown($0)) })
    let processing = ImageProcessing(workers, fileCount: 1 + step.settings.boxes.count)
    let operations = step.files.indices.lazy.map { index in
      let operation = step.operation(on: index, processing)
      operation.completionBlock = { [unowned operation] in
        let result = ItemResult(origin: ByteText.shown(step.files[index]), operation)
        results.withLock { $0[index] = result }
        progress.ended(result)
      }
      return operation as Operation
    }
    processing.queue.addOperations(from: operations, keeping: 4 * workers.count + 16)
    processing.queue.waitUntilAllOperationsAreFinished()
    progress.close()
    return end(
      inputs, BatchTable(results.withLock { $0 }, noun: "image", since: started),
      folder: step.settings.pattern.folder)
  }

  /// Starts workers. Must be called before there is a second thread. Nil if that failed, which has
  /// been reported.
  func startWorkers(_ reading: ReadingSettings, modules: [CodecModule]) -> Workers? {
    do throws(SystemError) {
      return try Workers.start(reading, modules: modules)
    } catch {
      say(error.message)
      return nil
    }
  }
}

extension ItemResult {
  init(origin: String, _ operation: ResizeOperation) {
    self.init(origin: origin)
    milliseconds = operation.milliseconds
    switch operation.result {
    case .success(let results): files = results.map(ItemFile.init)
    case .failure(let fault): error = fault.message
    }
  }
}

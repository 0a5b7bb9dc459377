// `download-and-resize`: downloads images over HTTP, and makes smaller copies of each.

import BuiltinSteps
import Diagnostics
import OperationKit

extension Program {
  func downloadAndResize(_ inputs: Inputs) throws(UsageFailure) -> Int32 {
    let started = monotonicTime()
    let transfers = try inputs.transferSettings()
    let settings = try ResizeSettings(inputs)
    let plan = try ThumbnailPlan(
      inputs.sources(headers: transfers.headers), settings, inputs.step)
    do throws(SystemError) {
      // This is done before there is a second thread. The keys of cached results need the version
      // of libvips; the process that starts workers, and all workers, inherit what is loaded now.
      _ = Raster.load()
      let workers = try Workers.start(settings.reading, modules: settings.modules)
      defer { workers.stop() }
      let meter = Meter()
      let progress = BatchProgress(
        total: plan.results.count, noun: "image", output: errors, meter: meter)
      workers.whenTroubled { progress.tell($0) }
      let cache = try inputs.openCache { progress.tell($0) }
      // Half of the descriptors are for processing, a quarter for downloads, and a quarter for what is
      // between them.
      let descriptors = DescriptorBudget()
      let count = inputs.downloadCount(descriptors, ofParts: 4)
      guard let downloader = inputs.downloader(transfers, cache, meter, count: count) else {
        say("no thread for the downloads")
        return ExitStatus.internalError
      }
      let processing = ImageProcessing(
        workers, fileCount: 1 + settings.boxes.count, ofParts: 2)
      if let manifest = inputs.text("manifest") { processing.reserve(manifest, for: "manifest") }
      let window = descriptors.most(4 * count + 4 * workers.count + 8, each: 1, ofParts: 4)
      let batch = ThumbnailBatch(
        plan, inputs, settings,
        ThumbnailBatch.Machinery(
          processing: processing, downloader: downloader, cache: cache, progress: progress,
          downloadCount: count, window: window))
      let results = batch.run()
      progress.close()
      cache.sweepNowAndThen()
      return end(
        inputs, BatchTable(results, noun: "image", since: started),
        folder: settings.pattern.folder)
    } catch {
      say(error.message)
      return ExitStatus.failure
    }
  }
}

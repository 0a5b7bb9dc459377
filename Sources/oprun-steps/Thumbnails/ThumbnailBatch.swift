// Processes the items of `download-and-resize`: a download operation for each source on one queue,
// and on another, for each item, operations that depend on it.

import BuiltinSteps
import OperationKit

final class ThumbnailBatch: Sendable {
  let settings: ResizeSettings
  let processing: ImageProcessing
  let kept: KeptResults
  private let plan: ThumbnailPlan
  private let downloader: Downloader
  private let policy: RetryPolicy
  private let progress: BatchProgress
  private let feed: SourceFeed
  private let downloads = OperationQueue()
  private let results: Guarded<[ItemResult]>
  /// The number of unfinished items for each source that has been begun.
  private let unfinished = Guarded<[Int: Int]>([:])

  init(
    _ plan: ThumbnailPlan, _ inputs: Inputs, _ settings: ResizeSettings,
    _ machinery: Machinery
  ) {
    self.plan = plan
    self.settings = settings
    processing = machinery.processing
    downloader = machinery.downloader
    progress = machinery.progress
    kept = KeptResults(cache: machinery.cache, settings: settings)
    policy = inputs.retryPolicy
    downloads.name = "download"
    downloads.maxConcurrentOperationCount = machinery.downloadCount
    feed = SourceFeed(
      hosts: plan.orders.map(\.source.host), perHost: inputs.integer("per_host"),
      window: machinery.window)
    results = Guarded(plan.results)
  }

  /// The parts that do the work, whatever it is.
  struct Machinery: Sendable {
    let processing: ImageProcessing
    let downloader: Downloader
    let cache: DownloadCache
    let progress: BatchProgress
    let downloadCount: Int
    /// The number of sources that are begun and not finished.
    let window: Int
  }

  /// Blocks until every item has ended.
  func run() -> [ItemResult] {
    feed.run { begin($0) }
    return results.withLock { $0 }
  }

  private func begin(_ number: Int) {
    let order = plan.orders[number]
    unfinished.withLock { $0[number] = order.items.count }
    let task = DownloadTask(policy, number, of: feed) {
      [downloader, kept] () throws(ItemFailure) in
      try downloader.acquire(order.source, in: kept.cache, isUnread: kept.areAll)
    } whenOver: { [feed] _ in
      feed.downloaded(number)
    }
    let download = DownloadOperation(task)
    for item in order.items {
      let thumbnails = ThumbnailOperation(item, task, self) { result, isOfContent in
        if isOfContent { self.forget(order.source) }
        self.ended(result, item, of: number, task)
      }
      thumbnails.addDependency(download)
      processing.queue.addOperation(thumbnails)
    }
    downloads.addOperation(download)
  }

  /// Forgets a useless content, which may be a mistake of the server: the next run fetches all of
  /// it again, unless it has the hash that the pipeline requires.
  private func forget(_ source: Source) {
    if source.expected == nil { kept.cache.forget(source.key) }
  }

  private func ended(
    _ result: ItemResult, _ item: ThumbnailPlan.Item, of number: Int, _ task: DownloadTask
  ) {
    var result = result
    result.origin = plan.results[item.number].origin
    results.withLock { $0[item.number] = result }
    progress.ended(result)
    let isLast = unfinished.withLock { unfinished in
      unfinished[number, default: 1] -= 1
      if unfinished[number] != 0 { return false }
      unfinished[number] = nil
      return true
    }
    if isLast {
      task.release()
      feed.finished(number)
    }
  }
}

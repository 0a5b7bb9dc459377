// `download`: downloads files over HTTP, each to its own target.

import BuiltinSteps
import Diagnostics
import OperationKit

/// The downloads, and their targets.
private struct DownloadPlan: Sendable {
  /// A source, and the items that want it; the first gets it, the others a copy.
  struct Order: Sendable {
    let source: Source
    var items: [Int]
  }

  var orders: [Order] = []
  var targets: [String] = []
  var results: [ItemResult] = []
  var folder = ""
  /// The number of downloads at once.
  var width = 1
}

/// The target of downloads.
private enum DownloadTarget {
  /// A directory with a slash at the end; files in it get the names of the URLs.
  case folder(String)
  case pattern(PathPattern)

  var folder: String {
    switch self {
    case .folder(let path): path
    case .pattern(let pattern): pattern.folder
    }
  }

  func path(of source: Source, index: Int) -> String {
    let (name, ext) = fileName(ofPath: source.path)
    switch self {
    case .folder(let path): return path + (ext.isEmpty ? name : "\(name).\(ext)")
    case .pattern(let pattern):
      return pattern.path(PathPattern.Values(name: name, ext: ext, box: Box(), index: index))
    }
  }
}

extension Program {
  func download(_ inputs: Inputs) throws(UsageFailure) -> Int32 {
    let started = monotonicTime()
    let settings = try inputs.transferSettings()
    var plan = try downloadPlan(inputs, headers: settings.headers)
    let meter = Meter()
    let progress = BatchProgress(
      total: plan.results.count, noun: "file", output: errors, meter: meter)
    plan.width = inputs.downloadCount(DescriptorBudget(), ofParts: 1)
    let cache = usableCache(inputs, progress)
    guard var downloader = inputs.downloader(settings, cache, meter, count: plan.width) else {
      say("no thread for the downloads")
      return ExitStatus.internalError
    }
    downloader.mayResume = inputs.isOn("resume")
    let results = run(plan, inputs, downloader, progress)
    progress.close()
    downloader.cache?.sweepNowAndThen()
    return end(inputs, BatchTable(results, noun: "file", since: started), folder: plan.folder)
  }

  /// The cache. Without one, nothing is remembered; only contents that must be kept there need it.
  private func usableCache(_ inputs: Inputs, _ progress: BatchProgress) -> DownloadCache? {
    do throws(SystemError) {
      return try inputs.openCache { progress.tell($0) }
    } catch {
      progress.tell("\(error.message); continuing without it")
      return nil
    }
  }

  private func downloadPlan(
    _ inputs: Inputs, headers: [(name: String, value: String)]
  ) throws(UsageFailure) -> DownloadPlan {
    let sources = try inputs.sources(headers: headers)
    let place = try downloadPlace(inputs, itemCount: sources.count)
    var plan = DownloadPlan()
    plan.folder = place.folder
    var orders: [Source: Int] = [:]
    var takers: [PathKey: Source] = [:]
    for (index, source) in sources.enumerated() {
      let path = place.path(of: source, index: index + 1)
      if let taker = takers.updateValue(source, forKey: PathKey(path)) {
        if taker == source { continue }
        throw .sameTarget(path, "download")
      }
      let item = plan.results.count
      plan.targets.append(path)
      plan.results.append(ItemResult(origin: source.shown))
      if let order = orders[source] {
        plan.orders[order].items.append(item)
      } else {
        orders[source] = plan.orders.count
        plan.orders.append(DownloadPlan.Order(source: source, items: [item]))
      }
    }
    for path in plan.targets {
      for other in PartFile.names(beside: path) where takers[PathKey(other)] != nil {
        throw .partIsTarget(path, other, "download")
      }
    }
    try checkManifest(inputs, besides: plan.targets.flatMap { [$0] + PartFile.names(beside: $0) })
    return plan
  }

  private func downloadPlace(
    _ inputs: Inputs, itemCount: Int
  ) throws(UsageFailure) -> DownloadTarget {
    let text = inputs.text("to") ?? ""
    if text.hasSuffix("/") { return .folder(text) }
    if Files.isFolder(text) { return .folder(text + "/") }
    let pattern = try PathPattern.ofResults(text, inputs.step)
    if itemCount > 1, !pattern.pieces.contains(where: \.isField) {
      throw .oneFileForMany(text, itemCount, inputs.step.name)
    }
    return .pattern(pattern)
  }

  private func run(
    _ plan: DownloadPlan, _ inputs: Inputs, _ downloader: Downloader, _ progress: BatchProgress
  ) -> [ItemResult] {
    let queue = OperationQueue()
    queue.name = "download"
    queue.maxConcurrentOperationCount = plan.width
    let feed = SourceFeed(
      hosts: plan.orders.map(\.source.host), perHost: inputs.integer("per_host"),
      window: 4 * plan.width + 16)
    let results = Guarded(plan.results)
    let keepsInCache = inputs.isOn("cache")
    let policy = inputs.retryPolicy
    feed.run { number in
      let order = plan.orders[number]
      let task = DownloadTask(policy, number, of: feed) { () throws(ItemFailure) in
        let target = plan.targets[order.items[0]]
        return try downloader.download(order.source, to: target, keepsInCache: keepsInCache)
      } whenOver: { end in
        for (place, item) in order.items.enumerated() {
          let result = plan.result(of: item, end, isFirst: place == 0)
          results.withLock { $0[item] = result }
          progress.ended(result)
        }
        feed.downloaded(number)
        feed.finished(number)
      }
      queue.addOperation(DownloadOperation(task))
    }
    return results.withLock { $0 }
  }
}

extension DownloadPlan {
  /// The result of an item. The first item of a source has the file; the others get a copy now.
  fileprivate func result(of item: Int, _ end: DownloadTask.End, isFirst: Bool) -> ItemResult {
    var result = results[item]
    result.attemptCount = isFirst ? end.attemptCount : 0
    result.receivedByteCount = isFirst ? end.receivedByteCount : 0
    result.milliseconds = Int(end.nanoseconds / 1_000_000)
    do throws(ItemFailure) {
      let acquired = try end.result.get()
      if !isFirst { try copy(acquired.path, acquired.digest, to: targets[item]) }
      result.files = [ItemFile(path: targets[item], byteCount: acquired.size)]
      result.isCached = acquired.isCached || !isFirst
      result.note = acquired.note
    } catch { result.error = error.message }
    return result
  }
}

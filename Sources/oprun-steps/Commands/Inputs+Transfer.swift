// Converts the inputs of a step into what downloads need: sources, settings, the cache.

import BuiltinSteps
import Diagnostics

extension Inputs {
  /// The sources that `url`, `urls` or `list` name, in their order, each with the headers.
  func sources(
    headers: [(name: String, value: String)]
  ) throws(UsageFailure) -> [Source] {
    if let path = text("list") {
      return try SourceList(path, of: step).sources(headers: headers)
    }
    let urls = texts("url") + texts("urls")
    let hashes = texts("sha256")
    var sources: [Source] = []
    for (index, url) in urls.enumerated() {
      let expected = hashes.isEmpty ? nil : Digest(hashes[index])
      guard let source = Source(url, headers: headers, expected: expected) else {
        throw UsageFailure(ItemFailure.badURL(url).message, step: step.name)
      }
      sources.append(source)
    }
    return sources
  }

  func transferSettings() throws(UsageFailure) -> TransferSettings {
    var settings = TransferSettings()
    settings.headers = pairs("headers")
    settings.policy.allowsPrivate = isOn("allow_private")
    settings.policy.allowedHosts = Set(
      texts("allow").compactMap { HostAndPort($0)?.authority })
    settings.connectTimeout = timeLimit("connect_timeout")
    settings.limits = TransferLimits(
      stall: timeLimit("stall_timeout"), total: timeLimit("timeout"))
    settings.maxBytes = size("max_bytes")
    switch text("proxy") {
    case "environment"?, nil: settings.proxies = Proxies(variable: environmentValue)
    case "none"?: break
    case let url?:
      guard Proxies.isProxy(url) else {
        throw UsageFailure(
          "'--proxy' wants the URL of a proxy, 'environment' or 'none', found "
            + quoted(shownURL(url)), step: step.name)
      }
      settings.proxies = Proxies(url, variable: environmentValue)
    }
    return settings
  }

  var retryPolicy: RetryPolicy {
    RetryPolicy(limit: integer("retries"), delay: max(1_000_000, duration("retry_delay")))
  }

  var cacheLimits: DownloadCacheLimits {
    DownloadCacheLimits(size: size("cache_size"), age: Int(duration("cache_age") / 1_000_000_000))
  }

  /// Opens the cache; throws if there is no directory for it, or one that must not be used.
  func openCache(
    warn: @escaping @Sendable (String) -> Void
  ) throws(SystemError) -> DownloadCache {
    guard let path = text("cache_dir") ?? DownloadCacheFolder.usual else {
      throw SystemError("no directory for the cache: set 'cache_dir' or HOME", errno: 0)
    }
    return try DownloadCache(DownloadCacheFolder(path), cacheLimits, warn: warn)
  }

  /// The number of downloads that may run at once. Each has a socket, up to two connections that
  /// are kept, a part, a turn, and the file that is already there.
  func downloadCount(_ descriptors: DescriptorBudget, ofParts parts: Int) -> Int {
    descriptors.most(integer("max_parallel"), each: 6, ofParts: parts)
  }

  /// A downloader with the thread that drives the transfers; nil if the system provides none.
  /// `count` is the number of downloads that run at once.
  func downloader(
    _ settings: TransferSettings, _ cache: DownloadCache?, _ meter: Meter, count: Int
  ) -> Downloader? {
    guard let loop = TransferLoop(keeping: 2 * count) else { return nil }
    let fetcher = Fetcher(loop: loop, settings: settings, meter: meter)
    return Downloader(
      fetcher: fetcher, cache: cache, maxAge: Int(duration("max_age") / 1_000_000_000))
  }
}

// From the inputs of a step to what downloads need: sources, settings, the cache.

import BuiltinSteps
import Diagnostics

/// A URL that was asked for, and its hash if that is known.
struct ListedURL: Hashable, Sendable {
  let url: String
  let expected: Digest?
}

extension Inputs {
  /// The URLs in their order, from `url`, `urls` or `list`.
  func listedURLs() throws(UsageError) -> [ListedURL] {
    if let path = text("list") { return try listedURLs(in: path) }
    let urls = texts("url") + texts("urls")
    let hashes = texts("sha256")
    guard hashes.isEmpty || hashes.count == urls.count else {
      throw UsageError(
        "'--sha256' is given \(hashes.count) times for \(urls.count) URLs", step: step.name)
    }
    var listed: [ListedURL] = []
    for (index, url) in urls.enumerated() {
      listed.append(
        ListedURL(url: url, expected: try hashes.isEmpty ? nil : digest(hashes[index])))
    }
    return listed
  }

  /// A URL on each line, after a blank its hash; empty lines and those with `#` do not count.
  private func listedURLs(in path: String) throws(UsageError) -> [ListedURL] {
    var text: Substring
    do throws(SystemError) {
      text = try Files.namedText(of: path, upTo: 256 << 20)[...]
    } catch {
      throw UsageError("the list: \(error.message)", step: step.name)
    }
    // Editors of Windows begin a text with it.
    if text.first == "\u{feff}" { text.removeFirst() }
    guard !isGiven("sha256") else {
      throw UsageError("'--sha256' and '--list': write the hashes into the list", step: step.name)
    }
    var listed: [ListedURL] = []
    for line in text.split(whereSeparator: \.isNewline) {
      let words = line.split { $0 == " " || $0 == "\t" }
      guard let url = words.first, !url.hasPrefix("#") else { continue }
      let expected = try words.count > 1 ? digest(String(words[1])) : nil
      listed.append(ListedURL(url: String(url), expected: expected))
    }
    return listed
  }

  private func digest(_ text: String) throws(UsageError) -> Digest {
    guard let digest = Digest(text) else {
      throw UsageError(
        "'--sha256' wants 64 hexadecimal digits, found \(quoted(text))", step: step.name)
    }
    return digest
  }

  func transferSettings() throws(UsageError) -> TransferSettings {
    var settings = TransferSettings()
    settings.headers = pairs("headers")
    for header in settings.headers {
      guard isToken(header.name), header.value.unicodeScalars.allSatisfy({ escape($0) == nil })
      else {
        throw UsageError(
          "'--headers' wants 'Name: value', found \(quoted(header.name))", step: step.name)
      }
    }
    settings.policy.allowsPrivate = isOn("allow_private")
    for entry in texts("allow") { settings.policy.allowedHosts.insert(try authority(entry)) }
    settings.connectTimeout = duration("connect_timeout")
    settings.limits = TransferLimits(stall: duration("stall_timeout"), total: duration("timeout"))
    settings.maxBytes = size("max_bytes")
    switch text("proxy") {
    case "environment"?, nil:
      settings.policy.proxies = Proxies.endpoints(Proxies.variables.compactMap(environmentValue))
    case "none"?: settings.proxy = ""
    case let url?:
      guard Proxies.isProxy(url) else {
        throw UsageError(
          "'--proxy' wants the URL of a proxy, 'environment' or 'none', found "
            + quoted(withoutCredentials(url)), step: step.name)
      }
      settings.proxy = url
      settings.policy.proxies = Proxies.endpoints([url])
    }
    return settings
  }

  private func isToken(_ text: String) -> Bool {
    text.utf8.allSatisfy { byte in
      (0x21...0x7e).contains(byte) && !"()<>@,;:\\\"/[]?={}".utf8.contains(byte)
    }
  }

  /// `host:port`, in lower case.
  private func authority(_ text: String) throws(UsageError) -> String {
    guard text.contains(":"), let address = WebAddress("http://\(text)"),
      text.lowercased().filter({ $0 != "[" && $0 != "]" }) == address.authority
    else {
      throw UsageError("'--allow' wants 'host:port', found \(quoted(text))", step: step.name)
    }
    return address.authority
  }

  var retryPolicy: RetryPolicy {
    RetryPolicy(limit: integer("retries"), delay: max(1_000_000, duration("retry_delay")))
  }

  var cacheLimits: CacheLimits {
    CacheLimits(size: size("cache_size"), age: Int(duration("cache_age") / 1_000_000_000))
  }

  /// Throws if there is no folder for it, or one that must not be used.
  func openCache(
    warn: @escaping @Sendable (String) -> Void
  ) throws(SystemError) -> Cache {
    guard let path = text("cache_dir") ?? CacheFolder.usual else {
      throw SystemError("no folder for the cache: set 'cache_dir' or HOME", errno: 0)
    }
    return try Cache(CacheFolder(path), cacheLimits, warn: warn)
  }

  /// With the thread that drives the transfers; nil if the system has none to give.
  func downloader(
    _ settings: TransferSettings, _ cache: Cache?, _ meter: Meter
  ) -> Downloader? {
    guard let loop = TransferLoop(keeping: 2 * integer("max_parallel")) else { return nil }
    let fetcher = Fetcher(loop: loop, settings: settings, meter: meter)
    return Downloader(
      fetcher: fetcher, cache: cache, maxAge: Int(duration("max_age") / 1_000_000_000))
  }
}

// The inputs of `download`.

extension BuiltinStep {
  package static let download = BuiltinStep(
    "download", "Downloads files over HTTP, checks them, and publishes each whole or not at all.",
    keys: [
      [.url, .urls, .list, .downloadTo, .sha256],
      BuiltinKey.transfer(maxBytes: "10G"),
      [.resume, .keepInCache],
      BuiltinKey.cache,
      BuiltinKey.batch,
    ],
    groups: [.source], rules: [.hashes, .headers, .downloadTarget])
}

extension KeyGroup {
  /// The sources of the items.
  static let source = KeyGroup(rule: .exactlyOne, keys: ["url", "urls", "list"])
}

extension BuiltinKey {
  static let url = BuiltinKey("url", .url, shows: .url, "What to download.")
  static let urls = BuiltinKey("urls", .list(.url), shows: .url, "Several URLs to download.")
  static let list = BuiltinKey(
    "list", .text,
    "A file with one URL per line, each followed by a space and its SHA-256 if known; '-' is standard input."
  )
  static let sha256 = BuiltinKey(
    "sha256", .list(.sha256),
    "The SHA-256 that each content must have, in hexadecimal, in the order of the URLs.")
  static let resume = BuiltinKey(
    "resume", .boolean, default: "true",
    "Resumes what an earlier attempt left, if the server confirms that the content is unchanged.")
  static let keepInCache = BuiltinKey(
    "cache", .boolean, default: "false", "Also keeps the content in the cache.")
  static let downloadTo = BuiltinKey(
    "to", .text, isRequired: true,
    "The file to write, or a directory if it ends in '/'; '{name}', '{ext}' and '{index}' are filled in."
  )

  /// The keys for transfers.
  static func transfer(maxBytes: String) -> [BuiltinKey] {
    [
      BuiltinKey(
        "headers", .map, shows: .header,
        "Headers to send with each request, but not to another host after a redirect."),
      BuiltinKey(
        "max_parallel", .integer(1...256), default: "6", "How many downloads run at once."),
      BuiltinKey(
        "per_host", .integer(1...256), default: "6", "How many downloads run at once from one host."
      ),
      BuiltinKey(
        "retries", .integer(0...100), default: "3",
        "Further attempts after failures that may be temporary: network errors, 408, 425, 429, 5xx."
      ),
      BuiltinKey(
        "retry_delay", .duration, default: "500ms",
        "Delay before the second attempt; it doubles each time, and Retry-After counts if longer."),
      BuiltinKey(
        "timeout", .duration, default: "1h", "Time limit of one attempt; 0s means no limit."),
      BuiltinKey(
        "connect_timeout", .duration, default: "10s",
        "Time limit for connecting; 0s means no limit."),
      BuiltinKey(
        "stall_timeout", .duration, default: "30s",
        "The longest time without a byte; 0s means no limit."),
      BuiltinKey(
        "max_bytes", .size, default: maxBytes,
        "The longest content allowed, as received and as unpacked."),
      BuiltinKey(
        "allow_private", .boolean, default: "false",
        "Allows addresses of this machine and of private networks."),
      BuiltinKey(
        "allow", .list(.server), shows: .server,
        "Allows 'host:port' whatever its address is."),
      BuiltinKey(
        "proxy", .text, default: "environment", shows: .url,
        "The URL of a proxy, 'environment' for the variables that curl knows, or 'none'."),
    ]
  }

  /// The keys for the cache of downloads.
  static let cache = [
    BuiltinKey(
      "max_age", .duration, default: "0s",
      "How long a cached answer is used without asking the server whether it has changed."),
    BuiltinKey(
      "cache_dir", .text,
      "The directory of the cache; by default OPRUN_DOWNLOAD_CACHE or the user's cache directory."),
    BuiltinKey("cache_size", .size, default: "2G", "The maximum size of the cache."),
    BuiltinKey(
      "cache_age", .duration, default: "30d", "Content not used for this long is removed."),
  ]

  /// The keys for all items together.
  static let batch = [
    BuiltinKey(
      "on_item_failure", .choice(["fail", "skip"]), default: "fail",
      "Whether the step fails if an item has failed; the other items are processed in any case."),
    BuiltinKey(
      "manifest", .text,
      "Where to write the JSON manifest; by default .oprun-NAME.json beside the results, NAME being the step's."
    ),
  ]
}

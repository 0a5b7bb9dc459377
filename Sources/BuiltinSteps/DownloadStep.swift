// What `download` takes.

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
    groups: [.source], rules: [.hashes, .downloadTarget])
}

extension KeyGroup {
  /// Where the items come from.
  static let source = KeyGroup(rule: .exactlyOne, keys: ["url", "urls", "list"])
}

extension BuiltinKey {
  static let url = BuiltinKey("url", .url, shows: .url, "What to download.")
  static let urls = BuiltinKey("urls", .list(.url), shows: .url, "Several of them.")
  static let list = BuiltinKey(
    "list", .text,
    "A file with a URL on each line, and after a blank its SHA-256 if it is known; '-' is standard input."
  )
  static let sha256 = BuiltinKey(
    "sha256", .list(.sha256),
    "What the content must have as its SHA-256, in hexadecimal, in the order of the URLs.")
  static let resume = BuiltinKey(
    "resume", .boolean, default: "true",
    "Goes on with what an earlier try left, if the server says that it is still the same.")
  static let keepInCache = BuiltinKey(
    "cache", .boolean, default: "false", "Keeps the content in the cache, too.")
  static let downloadTo = BuiltinKey(
    "to", .text, isRequired: true,
    "The file, or a folder if it ends in '/'; '{name}', '{ext}' and '{index}' are filled in.")

  /// How bytes are fetched.
  static func transfer(maxBytes: String) -> [BuiltinKey] {
    [
      BuiltinKey(
        "headers", .map, shows: .header,
        "Sent with each request; not to another host after a redirect."),
      BuiltinKey("max_parallel", .integer(1...256), default: "6", "How many downloads at once."),
      BuiltinKey("per_host", .integer(1...256), default: "6", "How many of them from one host."),
      BuiltinKey(
        "retries", .integer(0...100), default: "3",
        "Further attempts after a failure that may pass: the network, 408, 425, 429, 5xx."),
      BuiltinKey(
        "retry_delay", .duration, default: "500ms",
        "Before the second attempt; then twice as long each time, and Retry-After if it is longer."),
      BuiltinKey("timeout", .duration, default: "1h", "Time limit of one attempt; 0s is none."),
      BuiltinKey(
        "connect_timeout", .duration, default: "10s", "Until a connection is made; 0s is no limit."),
      BuiltinKey(
        "stall_timeout", .duration, default: "30s",
        "The longest time without a byte; 0s is no limit."),
      BuiltinKey(
        "max_bytes", .size, default: maxBytes, "No content is longer, received or unpacked."),
      BuiltinKey(
        "allow_private", .boolean, default: "false",
        "Allows addresses of this machine and of private networks."),
      BuiltinKey(
        "allow", .list(.server), shows: .url,
        "Allows 'host:port' in spite of that, whatever its address is."),
      BuiltinKey(
        "proxy", .text, default: "environment", shows: .url,
        "The URL of a proxy, 'environment' for the variables that curl knows, or 'none'."),
    ]
  }

  /// How what was fetched is kept.
  static let cache = [
    BuiltinKey(
      "max_age", .duration, default: "0s",
      "How long a kept answer is used without asking the server whether it has changed."),
    BuiltinKey(
      "cache_dir", .text, "Where the cache is; OPRUN_DOWNLOAD_CACHE or the user's cache folder."),
    BuiltinKey("cache_size", .size, default: "2G", "The cache never holds more."),
    BuiltinKey("cache_age", .duration, default: "30d", "What was not used for so long goes."),
  ]

  /// What becomes of all items together.
  static let batch = [
    BuiltinKey(
      "on_item_failure", .choice(["fail", "skip"]), default: "fail",
      "Whether the step fails if an item has failed; the other items are done in any case."),
    BuiltinKey(
      "manifest", .text,
      "Where the JSON manifest goes; .oprun-NAME.json beside the results, NAME being the step's."),
  ]
}

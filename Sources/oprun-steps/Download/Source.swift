// A download: its source, and the result.

/// One URL, whichever items want it.
struct Source: Hashable, Sendable {
  let url: String
  /// The URL without secrets.
  let shown: String
  /// The host, as `host:port`.
  let host: String
  /// The path of the URL, for names.
  let path: String
  /// The hash of the URL and its headers.
  let key: Digest
  let expected: Digest?

  /// Nil if `url` is not a URL of http or https.
  init?(_ url: String, headers: [(name: String, value: String)] = [], expected: Digest? = nil) {
    guard let address = WebAddress(url), address.isWeb else { return nil }
    self.url = url
    shown = address.shown
    host = address.authority
    path = address.path
    let lines = headers.map { "\($0.name.lowercased()): \($0.value)" }.sorted()
    key = SHA256.hash(([url] + lines).joined(separator: "\n"))
    self.expected = expected
  }
}

/// A content, and how it was obtained.
struct Acquired: Sendable {
  let path: String
  let digest: Digest
  let size: Int
  /// True if the content already existed.
  var isCached = false
  var receivedByteCount = 0
  var note: String?
  /// Keeps the file in place.
  var hold: (any Sendable)?
  /// Removes the file now if it would be removed with `hold`, because the program may end before
  /// that.
  var removePassing: (@Sendable () -> Void)?

  init(path: String, digest: Digest, size: Int) {
    self.path = path
    self.digest = digest
    self.size = size
  }
}

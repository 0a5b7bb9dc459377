// What is to be downloaded, and what came of it.

/// One URL, whoever wants it.
struct Source: Hashable, Sendable {
  let url: String
  /// Without secrets.
  let shown: String
  /// `host:port`.
  let host: String
  /// The path of the URL, for names.
  let path: String
  /// Of the URL and the headers that go with it.
  let key: Digest
  let expected: Digest?

  /// Nil if it is no URL of http or https.
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

/// A content, and how it was come by.
struct Acquired: Sendable {
  let path: String
  let digest: Digest
  let size: Int
  /// Whether it was at hand.
  var isCached = false
  var receivedByteCount = 0
  var note: String?
  /// Keeps the file there.
  var hold: (any Sendable)?
  /// Removes the file now if it would go with `hold`: the program can end before that does.
  var removePassing: (@Sendable () -> Void)?

  init(path: String, digest: Digest, size: Int) {
    self.path = path
    self.digest = digest
    self.size = size
  }
}

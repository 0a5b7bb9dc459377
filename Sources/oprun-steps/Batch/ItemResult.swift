// How an item ended: what the manifest, the table and the outputs say of it.

/// A file that is there now.
struct ItemFile: Hashable, Sendable {
  let path: String
  let byteCount: Int
  /// In pixels; nil of what is no image.
  var width: Int?
  var height: Int?
}

/// One item of a batch, done or failed.
struct ItemResult: Hashable, Sendable {
  /// What it was made of: a URL without secrets, or a path.
  var origin: String
  var files: [ItemFile] = []
  /// Bytes that came over the network.
  var receivedByteCount = 0
  /// Whether nothing had to be downloaded, or nothing had to be made.
  var isCached = false
  /// Attempts to download it.
  var attemptCount = 0
  var milliseconds = 0
  /// Something that is worth knowing of an item that did not fail.
  var note: String?
  var error: String?

  init(origin: String) { self.origin = origin }
}

// The end of an item, as the manifest, the table and the outputs report it.

/// A file that now exists.
struct ItemFile: Hashable, Sendable {
  let path: String
  let byteCount: Int
  /// The width in pixels; nil for anything that is not an image.
  var width: Int?
  var height: Int?
}

/// One item of a batch, done or failed.
struct ItemResult: Hashable, Sendable {
  /// The origin of the item: a URL without secrets, or a path.
  var origin: String
  var files: [ItemFile] = []
  /// The number of bytes received over the network.
  var receivedByteCount = 0
  /// True if nothing had to be downloaded, or nothing had to be made.
  var isCached = false
  /// The number of attempts to download it.
  var attemptCount = 0
  var milliseconds = 0
  /// A remark about an item that did not fail.
  var note: String?
  var error: String?

  init(origin: String) { self.origin = origin }
}

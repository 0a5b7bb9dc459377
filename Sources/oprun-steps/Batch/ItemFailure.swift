// Why an item failed: one message of it, and whether trying again can help.

/// A failure of one item. The others go on.
struct ItemFailure: Error, Hashable, Sendable {
  let message: String
  /// Whether another attempt may succeed.
  var mayPass = false
  /// In seconds, if a server has said when to come back.
  var retryAfter: Int?
  /// Bytes that came all the same.
  var receivedByteCount = 0
  /// Whether the content has come whole, and is of no use.
  var isOfContent = false

  init(_ message: String, mayPass: Bool = false, retryAfter: Int? = nil) {
    self.message = message
    self.mayPass = mayPass
    self.retryAfter = retryAfter
  }

  init(_ fault: ImageFailure) {
    self.init(fault.message)
    isOfContent = fault.isOfContent
  }
}

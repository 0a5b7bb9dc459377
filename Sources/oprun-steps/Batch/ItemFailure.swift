// Why an item failed: one message, and whether retrying can help.

/// A failure of one item. The others continue.
struct ItemFailure: Error, Hashable, Sendable {
  let message: String
  /// True if another attempt may succeed.
  var mayPass = false
  /// The delay in seconds, if a server has said when to come back.
  var retryAfter: Int?
  /// The number of bytes that were received nevertheless.
  var receivedByteCount = 0
  /// True if the content was received completely but is useless.
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

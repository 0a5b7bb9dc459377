// The messages about downloads. All wording of this phase is here.

import Diagnostics
import Glibc

extension ItemFailure {
  static func badURL(_ url: String) -> ItemFailure {
    ItemFailure("not a URL of http or https: \(quoted(shownURL(url)))")
  }

  static func badRedirect(to target: String) -> ItemFailure {
    ItemFailure("redirects to \(quoted(shownURL(target))), wanted: http or https")
  }

  static func tooManyRedirects(_ limit: Int) -> ItemFailure {
    ItemFailure("redirects more than \(limit) times")
  }

  static func noRedirectTarget(_ status: Int) -> ItemFailure {
    ItemFailure("answers \(status) and does not say where to go")
  }

  static func forbidden(
    _ target: WebAddress, _ address: Address, _ reservation: String
  ) -> ItemFailure {
    let host = target.host
    let authority = host.contains(":") ? "\"[\(host)]:\(target.port)\"" : target.authority
    let name = Address(host) == nil ? "\(quoted(host)) is \(address.text), " : "\(address.text) is "
    return ItemFailure(
      "\(name)\(reservation); use 'allow: \(authority)' to allow it, or 'allow_private: true' to allow all such addresses"
    )
  }

  static func answer(_ head: ResponseHead, now: Int) -> ItemFailure {
    let status = head.status
    let mayPass = mayPass(status)
    let wait = head.retryAfter(now: now)
    if mayPass, let wait, wait > RetryPolicy.longestWait {
      return ItemFailure("answers \(status) and asks for a wait of \(wait)s, longer than 5 minutes")
    }
    return ItemFailure("answers \(words(status))", mayPass: mayPass, retryAfter: wait)
  }

  private static func mayPass(_ status: Int) -> Bool {
    [408, 425, 429].contains(status) || (500...599).contains(status)
  }

  private static func words(_ status: Int) -> String {
    reasons[status].map { "\(status) (\($0))" } ?? String(status)
  }

  private static let reasons = [
    401: "unauthorized", 403: "forbidden", 404: "not found", 407: "proxy authentication required",
    408: "request timeout", 410: "gone", 429: "too many requests", 500: "internal server error",
    502: "bad gateway", 503: "service unavailable", 504: "gateway timeout",
  ]

  static func wrongRange(wanted: Int, found: String?) -> ItemFailure {
    ItemFailure(
      "sends another range than was asked for: from byte \(wanted) wanted, found "
        + (found.map(quoted) ?? "none"))
  }

  static func noSuchRange(from start: Int) -> ItemFailure {
    ItemFailure("has nothing from byte \(start) on, where a part of it ends", mayPass: true)
  }

  static func unwantedRange(_ found: String?) -> ItemFailure {
    ItemFailure("sends a part that was not asked for: \(found.map(quoted) ?? "206")")
  }

  static func tooLong(_ limit: Int, key: String = "max_bytes") -> ItemFailure {
    ItemFailure("longer than \(shownSize(limit)), the limit ('\(key)')")
  }

  static func tooManyHeaders() -> ItemFailure {
    ItemFailure("sends more than \(shownSize(ResponseHead.byteLimit)) of headers")
  }

  static func invalidLength(_ text: String) -> ItemFailure {
    ItemFailure("announces an invalid length: \(quoted(text))")
  }

  static func unknownEncoding(_ name: String) -> ItemFailure {
    ItemFailure(
      "was sent compressed with \(quoted(name)), which was not requested; wanted: 'gzip' or 'deflate'"
    )
  }

  static func cutEncoding(_ name: String?) -> ItemFailure {
    ItemFailure("is truncated: the \(name ?? "compressed") data has no end", mayPass: true)
  }

  static func damagedEncoding(_ name: String?) -> ItemFailure {
    ItemFailure("cannot be unpacked as \(quoted(name ?? ""))")
  }

  static func wrongLength(wanted: Int, found: Int) -> ItemFailure {
    ItemFailure("ended after \(found) of \(wanted) bytes", mayPass: true)
  }

  static func wrongHash(wanted: Digest, found: Digest, mayPass: Bool) -> ItemFailure {
    ItemFailure(
      "has the SHA-256 \(found.hexadecimal), wanted: \(wanted.hexadecimal)", mayPass: mayPass)
  }

  static func stalled(_ nanoseconds: Int64) -> ItemFailure {
    ItemFailure("no progress in \(shownDuration(nanoseconds))", mayPass: true)
  }

  static func tookTooLong(_ nanoseconds: Int64) -> ItemFailure {
    ItemFailure("not done after \(shownDuration(nanoseconds))", mayPass: true)
  }

  /// The message of libcurl, in our form.
  static func transfer(_ result: TransferResult, to address: WebAddress) -> ItemFailure {
    if result.tunnelStatus >= 300 {
      let status = result.tunnelStatus
      return ItemFailure(
        "the proxy answers \(words(status)) to a connection to \(quoted(address.authority))",
        mayPass: mayPass(status))
    }
    if result.isOutOfMemory {
      // libcurl (7.88) has no other error for a header line that is longer than it accepts.
      return hasMemory ? ItemFailure("sends a header line of more than 100K") : .noMemory
    }
    if result.isOfHeaderLine {
      return ItemFailure("sends a header line with a carriage return in its name")
    }
    if result.isUntrusted { return .untrusted(result, address) }
    if result.words.contains("wrong version number") || result.words.contains("http request") {
      return ItemFailure("the port does not speak TLS")
    }
    if result.hasBrokenHandshake {
      return ItemFailure("the connection was closed during the TLS handshake", mayPass: true)
    }
    let words = withoutCredentials(result.words)
    // The first word begins a sentence, unless it is a name such as SSL or HTTP/2.
    let isName = words.prefix { $0 != " " }.dropFirst().contains { $0.isUppercase }
    let text = isName ? words : words.prefix(1).lowercased() + words.dropFirst()
    return ItemFailure(printable(text), mayPass: result.mayPass)
  }

  private static func untrusted(_ result: TransferResult, _ address: WebAddress) -> ItemFailure {
    let prefix = ["SSL certificate problem: ", "SSL: "].first { result.words.hasPrefix($0) } ?? ""
    let reason = String(result.words.dropFirst(prefix.count))
    let isUnknown = reason.contains("issuer") || reason.contains("self-signed")
    let help = isUnknown ? "; SSL_CERT_FILE can name a file with its authority" : ""
    let owner = result.isOfProxy ? "the proxy" : quoted(address.host)
    return ItemFailure(
      "the certificate of \(owner) is refused: \(printable(reason))\(help)")
  }

  /// True if there is memory: an allocation fails, if at all, because of a limit.
  private static var hasMemory: Bool {
    let memory = malloc(8 << 20)
    defer { free(memory) }
    return memory != nil
  }

  static let noMemory = ItemFailure("no memory for the transfer")

  static func system(_ error: SystemError) -> ItemFailure { ItemFailure(error.message) }
}

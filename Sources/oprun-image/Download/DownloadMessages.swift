// What can go wrong with a download, in words. All wording of this phase is here.

import Diagnostics

extension ItemFailure {
  static func badURL(_ url: String) -> ItemFailure {
    ItemFailure("not a URL of http or https: \(quoted(url))")
  }

  static func badRedirect(to target: String) -> ItemFailure {
    ItemFailure("redirects to \(quoted(target)), wanted: http or https")
  }

  static func tooManyRedirects(_ limit: Int) -> ItemFailure {
    ItemFailure("redirects more than \(limit) times")
  }

  static func noRedirectTarget(_ status: Int) -> ItemFailure {
    ItemFailure("answers \(status) and does not say where to go")
  }

  static func forbidden(_ host: String, _ address: Address, _ reservation: String) -> ItemFailure {
    let name = Address(host) == nil ? "\(quoted(host)) is \(address.text), " : "\(address.text) is "
    return ItemFailure("\(name)\(reservation); 'allow_private' or 'allow' would let it pass")
  }

  static func answer(_ head: ResponseHead, now: Int) -> ItemFailure {
    let status = head.status
    let mayPass = [408, 425, 429].contains(status) || (500...599).contains(status)
    let wait = head.retryAfter(now: now)
    if mayPass, let wait, wait > RetryPolicy.longestWait {
      return ItemFailure("answers \(status) and wants \(wait)s of patience, longer than 5 minutes")
    }
    let reason = reasons[status].map { " (\($0))" } ?? ""
    return ItemFailure("answers \(status)\(reason)", mayPass: mayPass, retryAfter: wait)
  }

  private static let reasons = [
    401: "unauthorized", 403: "forbidden", 404: "not found", 408: "request timeout", 410: "gone",
    429: "too many requests", 500: "internal server error", 502: "bad gateway",
    503: "service unavailable", 504: "gateway timeout",
  ]

  static func wrongRange(wanted: Int, found: String?) -> ItemFailure {
    ItemFailure(
      "sends another range than was asked for: from byte \(wanted) wanted, found "
        + (found.map(quoted) ?? "none"))
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

  static func wrongLength(wanted: Int, found: Int) -> ItemFailure {
    ItemFailure("ended after \(found) bytes, \(wanted) were announced", mayPass: true)
  }

  static func wrongHash(wanted: Digest, found: Digest) -> ItemFailure {
    ItemFailure("has the SHA-256 \(found.hexadecimal), wanted: \(wanted.hexadecimal)")
  }

  static func stalled(_ nanoseconds: Int64) -> ItemFailure {
    ItemFailure("no byte in \(shownDuration(nanoseconds))", mayPass: true)
  }

  static func tookTooLong(_ nanoseconds: Int64) -> ItemFailure {
    ItemFailure("not done after \(shownDuration(nanoseconds))", mayPass: true)
  }

  static func transfer(_ result: TransferResult) -> ItemFailure {
    let words = result.words.prefix(1).lowercased() + result.words.dropFirst()
    return ItemFailure(printable(words), mayPass: result.mayPass)
  }

  static let noMemory = ItemFailure("no memory for the transfer")

  static func system(_ error: SystemError) -> ItemFailure { ItemFailure(error.message) }
}

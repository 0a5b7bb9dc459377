// One attempt to get the content of a URL: redirects are followed here, hop by hop, so that each
// hop is checked and credentials are sent only where they belong.

import BuiltinSteps
import Diagnostics
import Glibc

/// The settings of all downloads of a step.
struct TransferSettings: Sendable {
  var headers: [(name: String, value: String)] = []
  var policy = AddressPolicy()
  var proxies = Proxies()
  var connectTimeout: Int64 = 10_000_000_000
  var limits = TransferLimits()
  var maxBytes = 10 << 30
}

/// A request for a content.
struct FetchRequest: Sendable {
  let url: String
  /// The hash of the URL and the headers.
  let key: Digest
  /// The validators of an existing content; if set, a response that nothing has changed is
  /// accepted.
  var validators = Validators()
}

/// The result of an attempt.
enum FetchAnswer: Sendable {
  /// The existing content is still valid.
  case unchanged(ContentFacts)
  /// The part file has the complete content.
  case content(ContentFacts)
}

struct ContentFacts: Hashable, Sendable {
  var validators: Validators
  var forbidsKeeping: Bool
  /// False if the content just ended, so that it may have been truncated.
  var isLengthKnown: Bool
}

struct Fetcher: Sendable {
  static let redirectLimit = 5

  let loop: TransferLoop
  let settings: TransferSettings
  let meter: Meter

  /// Blocks until the content is in the part file, or it is clear that it will not be.
  func fetch(_ request: FetchRequest, into part: PartFile) throws(ItemFailure) -> FetchAnswer {
    guard let first = WebAddress(request.url), first.isWeb else { throw .badURL(request.url) }
    var address = first
    var url = request.url
    let started = monotonicTime()
    for _ in 0...Self.redirectLimit {
      let exchange = Exchange(terms(request, address), into: part, meter)
      var transfer = TransferRequest(url: url, proxy: exchange.terms.proxy ?? "")
      transfer.headers = headers(for: request, part, withSecrets: address.origin == first.origin)
      transfer.mayUseNetrc = address.mayUseNetrc(after: first)
      let target = try perform(transfer, exchange, since: started)
      guard let target else { return try answer(of: exchange) }
      guard let next = WebAddress(target), next.isWeb else { throw .badRedirect(to: target) }
      url = first.completed(target, next)
      address = next
    }
    throw .tooManyRedirects(Self.redirectLimit)
  }

  private func terms(_ request: FetchRequest, _ address: WebAddress) -> ExchangeTerms {
    ExchangeTerms(
      key: request.key, address: address, maxBytes: settings.maxBytes, policy: settings.policy,
      proxy: settings.proxies.proxy(for: address))
  }

  /// Performs a request; returns the target of a redirect, if there is one. The time limit is for
  /// all requests of the attempt, which has started at the given time.
  private func perform(
    _ transfer: TransferRequest, _ exchange: Exchange, since started: Int64
  ) throws(ItemFailure) -> String? {
    try checkLiteral(exchange)
    var transfer = transfer
    transfer.connectTimeout = settings.connectTimeout
    var limits = settings.limits
    limits.total -= monotonicTime() - started
    let end = loop.perform(transfer, limits, to: exchange)
    exchange.close()
    switch end {
    case .noMemory: throw .noMemory
    case .stalled: throw .stalled(settings.limits.stall)
    case .tookTooLong: throw .tookTooLong(settings.limits.total)
    case .ended(let result, let target):
      try check(result, exchange)
      guard [301, 302, 303, 307, 308].contains(exchange.head.status) else { return nil }
      // libcurl provides the target only if the body was read to its end.
      let resolved = exchange.head["location"].flatMap {
        WebAddress.resolved($0, against: transfer.url)
      }
      guard let target = target ?? resolved else {
        throw .noRedirectTarget(exchange.head.status)
      }
      return target
    }
  }

  /// Checks a host that is an address, because a proxy connects for us and does not report addresses.
  private func checkLiteral(_ exchange: Exchange) throws(ItemFailure) {
    let terms = exchange.terms
    guard terms.proxy != nil, let address = Address(host: terms.address.host) else { return }
    let endpoint = Endpoint(address, port: UInt16(truncatingIfNeeded: terms.address.port))
    if let reservation = terms.policy.objection(to: endpoint, for: terms.address.authority) {
      throw .forbidden(terms.address, address, reservation)
    }
  }

  private func check(_ result: TransferResult, _ exchange: Exchange) throws(ItemFailure) {
    if let failure = exchange.failure { throw failure }
    if result.isSuccess { return }
    if let objection = exchange.objection, result.isRefusal { throw objection }
    // The body of an error page was not read to its end; its status says enough.
    if result.isRefusal, exchange.head.status >= 300 { return }
    throw .transfer(result, to: exchange.terms.address)
  }

  private func answer(of exchange: Exchange) throws(ItemFailure) -> FetchAnswer {
    let head = exchange.head
    let facts = ContentFacts(
      validators: head.isEncoded ? Validators() : head.validators,
      forbidsKeeping: head.forbidsKeeping, isLengthKnown: exchange.isLengthKnown)
    switch head.status {
    case 200, 206:
      if let failure = exchange.incompleteness { throw failure }
      return .content(facts)
    case 304: return .unchanged(facts)
    default: throw .answer(head, now: calendarTime())
    }
  }

  /// The headers for a request. Harmless ones are sent everywhere; any other may be a secret, and
  /// is sent only to its host.
  private func headers(
    for request: FetchRequest, _ part: PartFile, withSecrets: Bool
  ) -> [String] {
    var headers = settings.headers.filter {
      withSecrets || Disclosure.isHarmless(header: $0.name)
    }
    if let tag = request.validators.entityTag { headers.append(("If-None-Match", tag)) }
    if let date = request.validators.lastModified { headers.append(("If-Modified-Since", date)) }
    if request.validators.areMissing, part.size > 0, let origin = part.origin {
      headers.append(("Range", "bytes=\(part.size)-"))
      headers.append(("If-Range", origin.validator))
    }
    // libcurl takes `Name:` as a header that is not to be sent: CURLOPT_HTTPHEADER(3).
    return headers.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
  }
}

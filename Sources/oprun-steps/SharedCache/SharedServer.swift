// The server of a shared cache: makes requests to it, several at a time, and decides what its answers mean.

import Diagnostics
import Glibc

/// The settings for reaching the server.
struct SharedServerSettings {
  /// The URL before `/ac/…` and `/cas/…`, without a slash at its end.
  var url = ""
  /// `name:password` or a token; nil leaves it to the URL and to `.netrc`.
  var secret: String?
  var connectTimeout: Int64 = 5_000_000_000
  /// The longest time without progress.
  var stall: Int64 = 10_000_000_000
  /// The time for which the server may be slow.
  var slowness: Int64 = 30_000_000_000
}

/// One request before it is made.
struct SharedRequest {
  var path: String
  var method = TransferMethod.get
  var source: SentContent?
  var content: ReceivedContent?
  var memoryLimit = 0
}

final class SharedServer {
  private let settings: SharedServerSettings
  private let transfers: TransferSet
  /// The number of requests that are made at a time.
  private static let width = 8

  init(_ settings: SharedServerSettings) throws(SharedFailure) {
    guard let address = WebAddress(settings.url), address.isWeb, !settings.url.contains("?"),
      !settings.url.contains("#")
    else { throw SharedFailure("is not an http or https URL without a query") }
    guard let transfers = TransferSet(keeping: Self.width) else {
      throw SharedFailure("cannot be asked: out of memory")
    }
    self.settings = settings
    self.transfers = transfers
  }

  /// Makes the requests in their order and passes each response to `hear`. The first failure ends all of them.
  func perform(
    count: Int, _ make: (Int) throws(SharedFailure) -> SharedRequest?,
    _ hear: (Int, SharedRequest, SharedExchange) throws(SharedFailure) -> Void
  ) throws(SharedFailure) {
    typealias Running = (
      index: Int, request: SharedRequest, transfer: Transfer, exchange: SharedExchange
    )
    var running: [ObjectIdentifier: Running] = [:]
    defer { for one in running.values { transfers.remove(one.transfer) } }
    let pace = SharedPace(longest: settings.slowness)
    var next = 0
    while true {
      while running.count < Self.width, next < count {
        next += 1
        guard let request = try make(next - 1) else { continue }
        let (transfer, exchange) = try begin(request, pace)
        transfers.add(transfer)
        running[ObjectIdentifier(transfer)] = (next - 1, request, transfer, exchange)
      }
      for (transfer, result) in transfers.advance() {
        guard let one = running.removeValue(forKey: ObjectIdentifier(transfer)) else { continue }
        try check(result, one.exchange)
        pace.addRequest()
        try hear(one.index, one.request, one.exchange)
      }
      let now = monotonicTime()
      for one in running.values { try checkProgress(of: one.exchange, now) }
      if running.isEmpty, next >= count { return }
      try pace.check(now)
      if !running.isEmpty { transfers.wait(milliseconds: 50) }
    }
  }

  private func begin(
    _ request: SharedRequest, _ pace: SharedPace
  ) throws(SharedFailure) -> (Transfer, SharedExchange) {
    var transfer = TransferRequest(url: settings.url + request.path)
    transfer.method = request.method
    transfer.source = request.source
    transfer.connectTimeout = settings.connectTimeout
    if let secret = settings.secret {
      transfer.mayUseNetrc = false
      if secret.contains(":") {
        transfer.credentials = secret
      } else {
        transfer.headers.append("Authorization: Bearer \(secret)")
      }
    }
    // libcurl would wait for a second until the server allows a longer body.
    if request.source != nil { transfer.headers.append("Expect:") }
    guard let address = WebAddress(transfer.url) else { throw SharedFailure("is no URL") }
    let exchange = SharedExchange(
      address, into: request.content, memoryLimit: request.memoryLimit, pace: pace)
    request.source?.onRead = { [unowned exchange] count in exchange.note(count) }
    guard let made = Transfer(transfer, to: exchange) else {
      throw SharedFailure("cannot be asked: out of memory")
    }
    return (made, exchange)
  }

  private func check(
    _ result: TransferResult, _ exchange: SharedExchange
  ) throws(SharedFailure) {
    if let failure = exchange.failure { throw failure }
    if result.isSuccess { return }
    // The page about an error was not read to its end; its status says enough.
    if result.isRefusal, exchange.head.status >= 300 { return }
    throw SharedFailure(ItemFailure.transfer(result, to: exchange.address).message)
  }

  private func checkProgress(
    of exchange: SharedExchange, _ now: Int64
  ) throws(SharedFailure) {
    if now - exchange.latest > settings.stall {
      throw SharedFailure(ItemFailure.stalled(settings.stall).message)
    }
  }
}

/// The pace of requests that are made together. A server that is slower for a while is not worth
/// waiting for, however long it would go on: the sizes that it announces do not tell the time that
/// it takes.
final class SharedPace {
  private let longest: Int64
  private var began = monotonicTime()
  private var byteCount: Int64 = 0

  /// The lowest pace, in bytes per second.
  private static let least: Int64 = 256 << 10
  /// The number of bytes that a finished request counts as, because most of them are small.
  private static let requestCount: Int64 = 64 << 10

  /// `longest` is the number of nanoseconds for which the pace may be too low.
  init(longest: Int64) { self.longest = longest }

  func add(_ count: Int) { byteCount += Int64(count) }
  func addRequest() { byteCount += Self.requestCount }

  func check(_ now: Int64) throws(SharedFailure) {
    let time = now - began
    guard time > longest else { return }
    if byteCount < time / 1_000_000 * Self.least / 1000 {
      throw SharedFailure("is too slow: less than 256 KiB/s in \(shownDuration(longest))")
    }
    (began, byteCount) = (now, 0)
  }
}

// The server of a shared cache: makes requests to it, several at a time, and decides what its answers mean.

import Diagnostics
import Glibc

/// How the server is reached.
struct SharedServerSettings {
  /// The URL before `/ac/…` and `/cas/…`, without a slash at its end.
  var url = ""
  /// `name:password` or a token; nil leaves it to the URL and to `.netrc`.
  var secret: String?
  var connectTimeout: Int64 = 5_000_000_000
  /// The longest time without progress.
  var stall: Int64 = 10_000_000_000
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
  /// How many requests are made at a time.
  private static let width = 8
  /// A server that is slower, in bytes per second, is not worth waiting for.
  private static let leastSpeed: Int64 = 256 << 10
  private static let baseTime: Int64 = 30_000_000_000

  init(_ settings: SharedServerSettings) throws(SharedFailure) {
    guard let address = WebAddress(settings.url), address.isWeb, !settings.url.contains("?"),
      !settings.url.contains("#")
    else { throw SharedFailure("is no URL of http or https without a query") }
    guard let transfers = TransferSet(keeping: Self.width) else {
      throw SharedFailure("cannot be asked: out of memory")
    }
    self.settings = settings
    self.transfers = transfers
  }

  /// Makes the requests in their order; `hear` is told of each response. The first failure ends all of them.
  func perform(
    count: Int, _ make: (Int) throws(SharedFailure) -> SharedRequest?,
    _ hear: (Int, SharedRequest, SharedExchange) throws(SharedFailure) -> Void
  ) throws(SharedFailure) {
    typealias Running = (
      index: Int, request: SharedRequest, transfer: Transfer, exchange: SharedExchange
    )
    var running: [ObjectIdentifier: Running] = [:]
    defer { for one in running.values { transfers.remove(one.transfer) } }
    var next = 0
    while true {
      while running.count < Self.width, next < count {
        next += 1
        guard let request = try make(next - 1) else { continue }
        let (transfer, exchange) = try begin(request)
        transfers.add(transfer)
        running[ObjectIdentifier(transfer)] = (next - 1, request, transfer, exchange)
      }
      for (transfer, result) in transfers.advance() {
        guard let one = running.removeValue(forKey: ObjectIdentifier(transfer)) else { continue }
        try check(result, one.exchange)
        try hear(one.index, one.request, one.exchange)
      }
      let now = monotonicTime()
      for one in running.values { try checkTime(one.exchange, now) }
      if running.isEmpty, next >= count { return }
      if !running.isEmpty { transfers.wait(milliseconds: 50) }
    }
  }

  private func begin(
    _ request: SharedRequest
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
    let size = Int64(max(request.source?.size ?? 0, request.content?.size ?? request.memoryLimit))
    let exchange = SharedExchange(
      address, into: request.content, memoryLimit: request.memoryLimit,
      timeLimit: Self.baseTime + size / Self.leastSpeed * 1_000_000_000)
    request.source?.onRead = { [unowned exchange] in exchange.note() }
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

  private func checkTime(_ exchange: SharedExchange, _ now: Int64) throws(SharedFailure) {
    if now - exchange.latest > settings.stall {
      throw SharedFailure(ItemFailure.stalled(settings.stall).message)
    }
    if now - exchange.started > exchange.timeLimit {
      throw SharedFailure("is too slow: \(ItemFailure.tookTooLong(exchange.timeLimit).message)")
    }
  }
}

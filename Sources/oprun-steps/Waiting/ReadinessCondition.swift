// The conditions of `wait`, and how each is checked once. It does not know how often.

import CLinux
import Diagnostics
import Glibc

/// A condition that may become true after a while.
enum ReadinessCondition: Hashable, Sendable {
  case file(String)
  case tcp(host: String, port: String)
  case http(String)
  case command(String)

  /// The condition in words.
  var words: String {
    switch self {
    case .file(let path): "file \(quoted(path))"
    case .tcp(let host, let port): "tcp \(quoted("\(host):\(port)"))"
    case .http(let url): "http \(quoted(shownURL(url)))"
    case .command(let text): "command \(quoted(text))"
    }
  }

  /// True if libcurl checks the condition.
  var needsTransfers: Bool {
    if case .http = self { true } else { false }
  }

  /// Nil if the condition holds, otherwise why not. Returns by the deadline, in monotonic time.
  /// `loop` is for conditions that need transfers.
  func obstacle(_ loop: TransferLoop?, deadline: Int64) -> String? {
    switch self {
    case .file(let path): Files.exists(path) ? nil : "it does not exist"
    case .tcp(let host, let port): connectionObstacle(host, port, deadline)
    case .http(let url):
      loop.map { answerObstacle(url, $0, deadline) } ?? "no connection"
    case .command(let text): ProbeCommand.obstacle(text, deadline)
    }
  }
}

private func connectionObstacle(_ host: String, _ port: String, _ deadline: Int64) -> String? {
  do throws(ProbeFailure) {
    _ = try Connection(to: host, port, deadline: deadline)
    return nil
  } catch { return error.words }
}

/// Receives the status of a response and ignores its body.
private final class StatusReceiver: TransferReceiver, @unchecked Sendable {
  // read when the transfer has ended
  private(set) var head = ResponseHead()

  func take(headerLine: UnsafeRawBufferPointer) -> Bool { head.take(headerLine) }
  func take(body: UnsafeRawBufferPointer) -> Bool { false }
  func mayConnect(to endpoint: Endpoint) -> Bool { true }
  func hasReceived(_ byteCount: Int) -> Bool { true }
}

private func answerObstacle(_ url: String, _ loop: TransferLoop, _ deadline: Int64) -> String? {
  guard let address = WebAddress(url) else { return "no URL" }
  let receiver = StatusReceiver()
  let time = max(1_000_000, min(longestLook, deadline - monotonicTime()))
  let limits = TransferLimits(stall: time, total: time)
  let request = TransferRequest(url: url, connectTimeout: time)
  switch loop.perform(request, limits, to: receiver) {
  case .ended(let result, _):
    let status = receiver.head.status
    if status > 0 { return (200..<400).contains(status) ? nil : "answers \(status)" }
    return ItemFailure.transfer(result, to: address).message
  case .stalled, .tookTooLong: return "no answer"
  case .noMemory: return "no memory"
  }
}

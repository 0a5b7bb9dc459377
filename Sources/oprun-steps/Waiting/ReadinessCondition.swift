// What `wait` waits for, and how each is checked once. It does not know how often.

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

  /// Whether libcurl checks it.
  var needsTransfers: Bool {
    if case .http = self { true } else { false }
  }

  /// Nil if it is ready, otherwise why not. Returns by the deadline, in monotonic time. `loop` is
  /// for conditions that need transfers.
  func obstacle(_ loop: TransferLoop?, deadline: Int64) -> String? {
    switch self {
    case .file(let path): Files.exists(path) ? nil : "it does not exist"
    case .tcp(let host, let port): connectionObstacle(host, port, deadline)
    case .http(let url):
      loop.map { answerObstacle(url, $0, deadline) } ?? "no connection"
    case .command(let text): commandObstacle(text, deadline)
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

/// Runs a command. If it takes too long, it is killed with everything in its process group.
private func commandObstacle(_ text: String, _ deadline: Int64) -> String? {
  var child = pid_t()
  if let obstacle = start(text, &child) { return obstacle }
  let limit = min(monotonicTime() + longestLook, deadline)
  var status: Int32 = 0
  while waitpid(child, &status, WNOHANG) == 0 {
    if monotonicTime() >= limit {
      kill(-child, SIGKILL)
      waitpid(child, &status, 0)
      return "takes too long"
    }
    usleep(5_000)
  }
  let signal = status & 0x7f
  if signal != 0 { return "was killed by \(signalName(signal))" }
  let code = status >> 8 & 0xff
  return code == 0 ? nil : "exits with \(code)"
}

/// Starts a command; returns nil if it has started. Its output is discarded.
private func start(_ text: String, _ child: inout pid_t) -> String? {
  var actions = posix_spawn_file_actions_t()
  posix_spawn_file_actions_init(&actions)
  defer { posix_spawn_file_actions_destroy(&actions) }
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)
  var attributes = posix_spawnattr_t()
  posix_spawnattr_init(&attributes)
  defer { posix_spawnattr_destroy(&attributes) }
  posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
  let words: [UnsafeMutablePointer<CChar>?] = [
    strdup("/bin/sh"), strdup("-c"), strdup(text), nil,
  ]
  defer { for word in words { free(word) } }
  let error = posix_spawn(&child, "/bin/sh", &actions, &attributes, words, environ)
  return error == 0 ? nil : SystemError.reason(error)
}

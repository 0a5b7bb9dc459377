// A connection to a server, made within a time limit. It knows nothing about what is sent over it.

import CLinux
import Diagnostics
import Glibc
import OperationKit

/// Why something is not ready yet, for people.
struct ProbeFailure: Error, Hashable {
  let words: String

  init(_ words: String) { self.words = words }

  init(errno: Int32) { words = SystemError.reason(errno) }
}

/// The maximum duration of a single check.
let longestLook: Int64 = 10_000_000_000

/// A connected socket, which this owns.
struct Connection: ~Copyable {
  let descriptor: Int32

  /// Connects. Tries each address of the host; the reason of the last failure counts.
  init(to host: String, _ port: String, deadline: Int64) throws(ProbeFailure) {
    let deadline = min(deadline, monotonicTime() + longestLook)
    let lookup = try Lookup.ended(of: host, port, deadline)
    defer { withExtendedLifetime(lookup) {} }
    var obstacle = ProbeFailure("no address")
    var next = lookup.list
    while let entry = next {
      do throws(ProbeFailure) {
        descriptor = try Connection.connected(to: entry.pointee, deadline)
        return
      } catch { obstacle = error }
      next = entry.pointee.ai_next
    }
    throw obstacle
  }

  deinit { close(descriptor) }

  private static func connected(to entry: addrinfo, _ deadline: Int64) throws(ProbeFailure) -> Int32
  {
    let flags = Int32(CLINUX_CLOSE_ON_EXEC_SOCKET)
    let descriptor = socket(entry.ai_family, entry.ai_socktype | flags, entry.ai_protocol)
    guard descriptor >= 0 else { throw ProbeFailure(errno: errno) }
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    var error: Int32 = 0
    if connect(descriptor, entry.ai_addr, entry.ai_addrlen) != 0 {
      error = errno
      if error == EINPROGRESS {
        guard wait(for: descriptor, POLLOUT, deadline) else {
          close(descriptor)
          throw ProbeFailure("no answer")
        }
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length)
      }
    }
    guard error == 0 else {
      close(descriptor)
      throw ProbeFailure(errno: error)
    }
    return descriptor
  }

  /// True if the socket is ready for an event before the deadline.
  private static func wait(for descriptor: Int32, _ event: Int32, _ deadline: Int64) -> Bool {
    var waiting = pollfd(fd: descriptor, events: Int16(event), revents: 0)
    while true {
      let left = deadline - monotonicTime()
      let result = poll(&waiting, 1, Int32(max(1, left / 1_000_000)))
      if result >= 0 || errno != EINTR { return result == 1 }
    }
  }
}

/// A question to the name service, which cannot be interrupted.
private final class Lookup: @unchecked Sendable {  // passed on by `isDone`
  private(set) var list: UnsafeMutablePointer<addrinfo>?
  private var result = EAI_AGAIN
  private let isDone = Signal()

  deinit { if let list { freeaddrinfo(list) } }

  /// Asks on another thread, which is left to itself at the deadline.
  static func ended(
    of host: String, _ port: String, _ deadline: Int64
  ) throws(ProbeFailure) -> Lookup {
    let lookup = Lookup()
    // An address needs no name service.
    lookup.ask(host, port, AI_NUMERICHOST)
    if lookup.result == EAI_NONAME {
      guard Threads.start({ lookup.ask(host, port, 0) }) else { throw ProbeFailure("no thread") }
      // The first signal was that of the attempt above.
      lookup.isDone.wait()
      let left = max(0, deadline - monotonicTime()) / 1_000_000
      guard lookup.isDone.wait(milliseconds: Int(left)) else {
        throw ProbeFailure("the name service does not answer")
      }
    }
    guard lookup.result == 0 else {
      let words = gai_strerror(lookup.result).map { String(cString: $0) }
      throw ProbeFailure(words ?? "no address")
    }
    return lookup
  }

  private func ask(_ host: String, _ port: String, _ flags: Int32) {
    var hints = addrinfo()
    hints.ai_socktype = Int32(CLINUX_STREAM_SOCKET)
    hints.ai_flags = flags
    result = getaddrinfo(host, port, &hints, &list)
    isDone.send()
  }
}

// A connection to a server, made within a time limit. It knows nothing about what is sent over it.

import CLinux
import Diagnostics
import Glibc

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
    var hints = addrinfo()
    hints.ai_socktype = Int32(CLINUX_STREAM_SOCKET)
    var list: UnsafeMutablePointer<addrinfo>?
    let result = getaddrinfo(host, port, &hints, &list)
    guard result == 0 else {
      throw ProbeFailure(gai_strerror(result).map { String(cString: $0) } ?? "no address")
    }
    defer { freeaddrinfo(list) }
    var obstacle = ProbeFailure("no address")
    var next = list
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

  /// Whether the socket is ready for an event before the deadline.
  private static func wait(for descriptor: Int32, _ event: Int32, _ deadline: Int64) -> Bool {
    var waiting = pollfd(fd: descriptor, events: Int16(event), revents: 0)
    while true {
      let left = min(longestLook, deadline - monotonicTime())
      let result = poll(&waiting, 1, Int32(max(1, left / 1_000_000)))
      if result >= 0 || errno != EINTR { return result == 1 }
    }
  }
}

// A connection to a server, made within a time. It knows nothing of what is said over it.

import CLinux
import Diagnostics
import Glibc

/// Why something is not ready yet, for people.
struct Obstacle: Error, Hashable {
  let words: String

  init(_ words: String) { self.words = words }

  init(errno: Int32) { words = SystemError.reason(errno) }
}

/// No single look takes longer.
let longestLook: Int64 = 10_000_000_000

/// A connected socket, which it closes.
struct Connection: ~Copyable {
  let descriptor: Int32

  /// Tries each address of the host; the last one's obstacle counts.
  init(to host: String, _ port: String, deadline: Int64) throws(Obstacle) {
    var hints = addrinfo()
    hints.ai_socktype = Int32(CLINUX_STREAM_SOCKET)
    var list: UnsafeMutablePointer<addrinfo>?
    let result = getaddrinfo(host, port, &hints, &list)
    guard result == 0 else {
      throw Obstacle(gai_strerror(result).map { String(cString: $0) } ?? "no address")
    }
    defer { freeaddrinfo(list) }
    var obstacle = Obstacle("no address")
    var next = list
    while let entry = next {
      do throws(Obstacle) {
        descriptor = try Connection.connected(to: entry.pointee, deadline)
        return
      } catch { obstacle = error }
      next = entry.pointee.ai_next
    }
    throw obstacle
  }

  deinit { close(descriptor) }

  private static func connected(to entry: addrinfo, _ deadline: Int64) throws(Obstacle) -> Int32 {
    let flags = Int32(CLINUX_CLOSE_ON_EXEC_SOCKET)
    let descriptor = socket(entry.ai_family, entry.ai_socktype | flags, entry.ai_protocol)
    guard descriptor >= 0 else { throw Obstacle(errno: errno) }
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    var error: Int32 = 0
    if connect(descriptor, entry.ai_addr, entry.ai_addrlen) != 0 {
      error = errno
      if error == EINPROGRESS {
        guard wait(for: descriptor, POLLOUT, deadline) else {
          close(descriptor)
          throw Obstacle("no answer")
        }
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length)
      }
    }
    guard error == 0 else {
      close(descriptor)
      throw Obstacle(errno: error)
    }
    return descriptor
  }

  /// Whether the socket is ready for it before the deadline.
  private static func wait(for descriptor: Int32, _ event: Int32, _ deadline: Int64) -> Bool {
    var waiting = pollfd(fd: descriptor, events: Int16(event), revents: 0)
    while true {
      let left = min(longestLook, deadline - monotonicTime())
      let result = poll(&waiting, 1, Int32(max(1, left / 1_000_000)))
      if result >= 0 || errno != EINTR { return result == 1 }
    }
  }

  /// False if it was closed, broken or too slow.
  func send(_ text: String, deadline: Int64) -> Bool {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      guard Connection.wait(for: descriptor, POLLOUT, deadline) else { return false }
      let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 || errno == EINTR || errno == EAGAIN else { return false }
      rest = rest.dropFirst(max(0, count))
    }
    return true
  }

  /// What has come next; empty at the end.
  func receive(deadline: Int64) throws(Obstacle) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      guard Connection.wait(for: descriptor, POLLIN, deadline) else { throw Obstacle("no answer") }
      let count = read(descriptor, &buffer, buffer.count)
      if count >= 0 { return Array(buffer[..<count]) }
      if errno != EINTR, errno != EAGAIN { throw Obstacle(errno: errno) }
    }
  }
}

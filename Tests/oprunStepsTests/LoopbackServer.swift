// A server on loopback that sends whatever a test wants, valid or invalid: bytes, not HTTP.

import Foundation
import Glibc
import Synchronization

/// A server that answers each connection on a separate thread, request after request.
final class LoopbackServer: Sendable {
  struct Request: Sendable {
    let method: String
    /// The path; for a request to a proxy, the whole URL, or `host:port` for CONNECT.
    let path: String
    /// Names in lower case.
    let headers: [String: String]
    /// How many requests for this path came before.
    let number: Int
  }

  let port: Int
  private let listener: Int32
  private let seen = Mutex<[Request]>([])
  private let peak = Mutex<(now: Int, most: Int)>((0, 0))

  /// The handler writes the answer; the connection is closed afterwards unless it says to keep it.
  init(_ handler: @escaping @Sendable (Request, Connection) -> Void) throws {
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listener = listener
    let isListening = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && listen(listener, 128) == 0
          && getsockname(listener, $0, &length) == 0
      }
    }
    guard isListening else { throw POSIXError(.EADDRNOTAVAIL) }
    port = Int(UInt16(bigEndian: address.sin_port))
    Thread.detachNewThread { [weak self] in
      while true {
        let descriptor = accept(listener, nil, nil)
        guard descriptor >= 0 else { return }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4)
        guard let self else { return }
        Thread.detachNewThread { self.serve(Connection(descriptor), handler) }
      }
    }
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
  }

  var url: String { "http://127.0.0.1:\(port)" }

  /// All requests so far.
  var requests: [Request] { seen.withLock { $0 } }

  /// The maximum number of requests that were answered at the same time.
  var peakCount: Int { peak.withLock { $0.most } }

  private func serve(
    _ connection: Connection, _ handler: @Sendable (Request, Connection) -> Void
  ) {
    while let head = connection.readHead() {
      let request = note(head)
      peak.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
      handler(request, connection)
      peak.withLock { $0.now -= 1 }
      if !connection.isKept { break }
      connection.isKept = false
    }
    connection.end()
  }

  private func note(_ head: String) -> Request {
    let lines = head.components(separatedBy: "\r\n")
    let words = lines[0].components(separatedBy: " ")
    let path = words.dropFirst().first ?? ""
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 {
        headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
      }
    }
    return seen.withLock { seen in
      let number = seen.count { $0.path == path }
      let request = Request(method: words[0], path: path, headers: headers, number: number)
      seen.append(request)
      return request
    }
  }
}

/// A port of this machine at which nobody listens, and which nobody else gets as long as this exists.
final class ClosedPort {
  let number: Int
  private let socket: Int32

  init() throws {
    socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let socket = socket
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(socket, $0, length) == 0 && getsockname(socket, $0, &length) == 0
      }
    }
    number = Int(UInt16(bigEndian: address.sin_port))
    guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
  }

  deinit { close(socket) }
}

/// One connection of a client.
final class Connection: @unchecked Sendable {  // belongs to one thread
  private let descriptor: Int32
  var isKept = false

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  func readHead() -> String? {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while recv(descriptor, &byte, 1, 0) == 1 {
      bytes.append(byte)
      if bytes.suffix(4).elementsEqual([13, 10, 13, 10]) {
        return String(decoding: bytes, as: UTF8.self)
      }
    }
    return nil
  }

  /// Reads the body of a request.
  @discardableResult
  func skip(_ count: Int) -> [UInt8] {
    var body: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while body.count < count {
      let read = recv(descriptor, &piece, min(piece.count, count - body.count), 0)
      if read <= 0 { break }
      body += piece[..<read]
    }
    return body
  }

  /// False if the client has gone.
  @discardableResult
  func write(_ bytes: some Collection<UInt8>) -> Bool {
    let bytes = Array(bytes)
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes {
        send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      written += count
    }
    return true
  }

  @discardableResult
  func write(_ text: String) -> Bool { write(Array(text.utf8)) }

  /// Sends a whole response, after which the connection can be reused.
  func answer(_ status: String = "200 OK", _ headers: [String] = [], _ body: String = "") {
    let lines = ["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)"] + headers
    isKept = write(lines.joined(separator: "\r\n") + "\r\n\r\n" + body)
  }

  /// Passes bytes on to a port of this machine, and back, until one end closes.
  func tunnel(to port: Int) {
    let other = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { close(other) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    address.sin_port = UInt16(port).bigEndian
    let isConnected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(other, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    guard isConnected, write("HTTP/1.1 200 Connection established\r\n\r\n") else { return }
    var ends = [descriptor, other].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    while poll(&ends, 2, -1) > 0 {
      for (from, to) in [(0, 1), (1, 0)] where ends[from].revents != 0 {
        guard pass(from: ends[from].fd, to: ends[to].fd) else { return }
      }
    }
  }

  private func pass(from: Int32, to: Int32) -> Bool {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = recv(from, &bytes, bytes.count, 0)
    return count > 0 && Connection(to).write(bytes.prefix(count))
  }

  /// Waits until the client has closed the connection.
  func waitForEnd() {
    var byte: UInt8 = 0
    while recv(descriptor, &byte, 1, 0) > 0 {}
  }

  func end() {
    shutdown(descriptor, Int32(SHUT_RDWR))
    close(descriptor)
  }
}

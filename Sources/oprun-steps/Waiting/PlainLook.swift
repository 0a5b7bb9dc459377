// The status of an answer to a plain request, without libcurl, which takes longer to load than a server
// on this machine takes to answer. What is not plain is left to libcurl: TLS, proxies, credentials.

import BuiltinSteps
import Diagnostics
import Glibc

struct PlainLook: Hashable, Sendable {
  private let authority: String
  private let target: String
  private let host: HostAndPort

  /// The status line and all headers before it, of interim answers, are no longer.
  private static let byteLimit = 64 << 10

  /// Nil if the URL or the environment wants more than this.
  init?(_ url: String, environment: (String) -> String? = environmentValue) {
    let scheme = "http://"
    guard url.lowercased().hasPrefix(scheme), !Self.mayNeedMore(environment) else { return nil }
    let rest = url.dropFirst(scheme.count).prefix { $0 != "#" }
    let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
    authority = String(rest[..<end])
    target = rest[end...].hasPrefix("/") ? String(rest[end...]) : "/" + rest[end...]
    let isPlain = rest.utf8.allSatisfy { (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "\\") }
    let hasPort = HostAndPort(authority) != nil
    guard isPlain, let host = HostAndPort(hasPort ? authority : authority + ":80") else {
      return nil
    }
    self.host = host
  }

  private static func mayNeedMore(_ environment: (String) -> String?) -> Bool {
    let proxies = ["http_proxy", "all_proxy", "ALL_PROXY"].compactMap(environment)
    let netrc = environment("NETRC") ?? (environment("HOME") ?? "") + "/.netrc"
    return proxies.contains { !$0.isEmpty } || access(netrc, F_OK) == 0
  }

  func status(deadline: Int64) throws(Obstacle) -> Int {
    let connection = try Connection(to: host.host, String(host.port), deadline: deadline)
    let request = """
      GET \(target) HTTP/1.1\r\nHost: \(authority)\r\nUser-Agent: \(ownUserAgent)\r\nAccept: */*\r\n\
      Connection: close\r\n\r\n
      """
    guard connection.send(request, deadline: deadline) else {
      throw Obstacle("the connection was closed")
    }
    var bytes: [UInt8] = []
    while bytes.count <= Self.byteLimit {
      if let status = try Self.status(in: bytes) { return status }
      let more = try connection.receive(deadline: deadline)
      if more.isEmpty {
        throw Obstacle(bytes.isEmpty ? "the connection was closed" : "the answer is no HTTP")
      }
      bytes += more
    }
    throw Obstacle("the answer is no HTTP")
  }

  /// Of the first answer that is not an interim one (RFC 9110, 15.2); nil if that has not come yet.
  private static func status(in bytes: [UInt8]) throws(Obstacle) -> Int? {
    var isAtStart = true
    for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .dropLast()
    {
      let text = String(decoding: line.filter { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
      if isAtStart {
        let words = text.split(separator: " ")
        guard text.hasPrefix("HTTP/1."), words.count > 1, let status = Int(words[1]),
          (100...999).contains(status)
        else { throw Obstacle("the answer is no HTTP") }
        if status >= 200 || status == 101 { return status }
      }
      isAtStart = text.isEmpty
    }
    return nil
  }
}

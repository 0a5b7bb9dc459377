// The proxies that the user has set: connecting to them is allowed, whatever their addresses.

import Glibc

enum Proxies {
  /// The variables from which libcurl would take them.
  static let variables = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]

  /// The addresses of proxies, given their URLs. This asks the name service.
  static func endpoints(_ urls: [String]) -> Set<Endpoint> {
    var endpoints: Set<Endpoint> = []
    for url in urls where !url.isEmpty {
      guard let address = address(url) else { continue }
      let hasPort = url.split(separator: "@").last?.contains(":\(address.port)") ?? false
      let port = hasPort ? address.port : address.scheme == "https" ? 443 : 1080
      endpoints.formUnion(resolve(address.host, port))
    }
    return endpoints
  }

  static func isProxy(_ url: String) -> Bool {
    let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]
    guard let address = address(url) else { return false }
    return schemes.contains(address.scheme) && !address.host.isEmpty
  }

  /// The address of a proxy as libcurl parses it: without a scheme it is http, without a port 1080.
  private static func address(_ url: String) -> WebAddress? {
    let hasScheme = url.split(separator: "/", maxSplits: 1).first?.hasSuffix(":") ?? false
    return WebAddress(hasScheme ? url : "http://\(url)")
  }

  private static func resolve(_ host: String, _ port: Int) -> [Endpoint] {
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, String(port), nil, &list) == 0 else { return [] }
    defer { freeaddrinfo(list) }
    return sequence(first: list) { $0?.pointee.ai_next }.compactMap { entry in
      entry?.pointee.ai_addr.flatMap { Endpoint($0) }
    }
  }
}

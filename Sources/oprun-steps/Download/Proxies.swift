// Finds the proxy of a request, by the rules of libcurl. They are applied here, because the
// addresses of requested hosts are checked differently behind a proxy.

import BuiltinSteps
import Diagnostics
import Glibc

struct Proxies: Sendable {
  private var http: String?
  private var https: String?
  private var exceptions = ProxyExceptions("")

  /// No proxies.
  init() {}

  /// The proxies that the environment names.
  init(variable: (String) -> String?) {
    func first(of names: String...) -> String? {
      names.lazy.compactMap(variable).first { !$0.isEmpty }.map(Self.leavingNames)
    }
    // The one in capitals can be a header of a request in a CGI program, so it does not count.
    http = first(of: "http_proxy", "all_proxy", "ALL_PROXY")
    https = first(of: "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
    exceptions = ProxyExceptions(variable: variable)
  }

  /// One proxy for everything, apart from what the environment excepts.
  init(_ url: String, variable: (String) -> String?) {
    http = Self.leavingNames(url)
    https = http
    exceptions = ProxyExceptions(variable: variable)
  }

  /// The proxy for an address as libcurl wants it; nil if there is none.
  func proxy(for address: WebAddress) -> String? {
    exceptions.contain(address.host) ? nil : address.scheme == "https" ? https : http
  }

  static func isProxy(_ url: String) -> Bool {
    let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]
    // Without a scheme it is http.
    let hasScheme = url.split(separator: "/", maxSplits: 1).first?.hasSuffix(":") ?? false
    guard let address = WebAddress(hasScheme ? url : "http://\(url)") else { return false }
    return schemes.contains(address.scheme) && !address.host.isEmpty
  }

  /// Makes the proxy resolve names: with `socks4` and `socks5`, libcurl would resolve them itself,
  /// and not report the addresses.
  private static func leavingNames(_ url: String) -> String {
    let parts = url.split(separator: ":", maxSplits: 1)
    // `socks5:1080` is a host without a scheme.
    guard parts.count == 2, parts[1].hasPrefix("//") else { return url }
    switch parts[0].lowercased() {
    case "socks", "socks4": return "socks4a:\(parts[1])"
    case "socks5": return "socks5h:\(parts[1])"
    default: return url
    }
  }
}

/// The hosts that are contacted directly: names with everything under them, addresses, and blocks of
/// addresses.
private struct ProxyExceptions: Sendable {
  private let entries: [String]

  init(_ list: String) {
    entries = list.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }.map(String.init)
  }

  init(variable: (String) -> String?) {
    let lists = ["no_proxy", "NO_PROXY"].lazy.compactMap(variable)
    self.init(lists.first { !$0.isEmpty } ?? "")
  }

  /// `host` is in lower case, without brackets.
  func contain(_ host: String) -> Bool {
    if entries == ["*"] { return true }
    if let address = Address(host) { return entries.contains { Self.block($0, contains: address) } }
    let name = host.hasSuffix(".") ? host.dropLast() : host[...]
    return entries.contains { entry in
      var entry = entry[...]
      if entry.hasSuffix(".") { entry.removeLast() }
      if entry.hasPrefix(".") { entry.removeFirst() }
      return !entry.isEmpty && (name == entry || name.hasSuffix(".\(entry)"))
    }
  }

  private static func block(_ entry: String, contains address: Address) -> Bool {
    let parts = entry.filter { $0 != "[" && $0 != "]" }.split(separator: "/", maxSplits: 1)
    guard let first = parts.first, let block = Address(String(first)),
      block.bytes.count == address.bytes.count
    else { return false }
    let whole = address.bytes.count * 8
    guard let bits = parts.count > 1 ? Int(parts[1]) : whole, (0...whole).contains(bits) else {
      return false
    }
    return zip(block.bytes, address.bytes).enumerated().allSatisfy { index, pair in
      let ignored = max(0, min(8, (index + 1) * 8 - bits))
      return (pair.0 ^ pair.1) >> ignored == 0
    }
  }
}

extension Address {
  /// The address that a host stands for without any name service, however it is written: `0x7f.1`,
  /// `127.1.`, `localhost`. Nil for any other name.
  init?(host: String) {
    var name = Self.unfolded(host)
    while name.hasSuffix(".") { name.removeLast() }
    if name == "localhost" || name.hasSuffix(".localhost") { name = "127.0.0.1" }
    if let address = Address(name) {
      self = address
      return
    }
    var address = in_addr()
    guard inet_aton(name, &address) != 0 else { return nil }
    self.init(withUnsafeBytes(of: address) { Array($0) })
  }

  /// The host without escapes, and with the letters and digits to which IDNA maps their wide and
  /// decorated forms (RFC 5895).
  private static func unfolded(_ host: String) -> String {
    var text = String.UnicodeScalarView()
    for scalar in decoded(host).lowercased().unicodeScalars {
      switch scalar.value {
      case ..<0x80: text.append(scalar)
      case 0x3002, 0xFF61: text.append(".")
      case 0xFF01...0xFF5E:
        text.append(Unicode.Scalar(UInt8(truncatingIfNeeded: scalar.value - 0xFEE0)))
      default:
        let digit = scalar.properties.numericValue.flatMap { Int(exactly: $0) }
        guard let digit, (0...9).contains(digit) else {
          text.append(scalar)
          continue
        }
        text.append(contentsOf: String(digit).unicodeScalars)
      }
    }
    return String(text)
  }

  private static func decoded(_ host: String) -> String {
    var bytes: [UInt8] = []
    var rest = Array(host.utf8)[...]
    while let byte = rest.popFirst() {
      let digits = String(decoding: rest.prefix(2), as: UTF8.self)
      if byte == 0x25, digits.utf8.count == 2, let value = UInt8(digits, radix: 16) {
        rest.removeFirst(2)
        bytes.append(value)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

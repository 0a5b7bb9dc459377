// Decides which addresses may be connected to. It checks the address itself at each connection,
// because names can resolve to one address when they are checked and to another when they are used.

import Glibc

/// What downloads may connect to in addition to the public internet.
struct AddressPolicy: Sendable {
  var allowsPrivate = false
  /// The allowed hosts, as `host:port` in a URL, in lower case; they must match completely.
  var allowedHosts: Set<String> = []

  /// Nil if a transfer for this host and port may connect to the endpoint, otherwise what the
  /// endpoint is.
  func objection(to endpoint: Endpoint, for authority: String) -> String? {
    allowsPrivate || allowedHosts.contains(authority) ? nil : endpoint.address.reservation
  }
}

struct Endpoint: Hashable, Sendable {
  let address: Address
  let port: UInt16

  /// Nil for address families other than those of the internet.
  init?(_ socketAddress: UnsafePointer<sockaddr>) {
    switch Int32(socketAddress.pointee.sa_family) {
    case AF_INET:
      let bytes = UnsafeRawPointer(socketAddress).loadUnaligned(as: sockaddr_in.self)
      address = Address(withUnsafeBytes(of: bytes.sin_addr) { Array($0) })
      port = UInt16(bigEndian: bytes.sin_port)
    case AF_INET6:
      let bytes = UnsafeRawPointer(socketAddress).loadUnaligned(as: sockaddr_in6.self)
      address = Address(withUnsafeBytes(of: bytes.sin6_addr) { Array($0) })
      port = UInt16(bigEndian: bytes.sin6_port)
    default: return nil
    }
  }

  init(_ address: Address, port: UInt16) {
    self.address = address
    self.port = port
  }
}

/// An address of 4 or 16 bytes.
struct Address: Hashable, Sendable {
  let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Parses an address: `127.0.0.1`, `fe80::1`.
  init?(_ text: String) {
    var bytes = [UInt8](repeating: 0, count: 16)
    if inet_pton(AF_INET, text, &bytes) == 1 {
      self.bytes = Array(bytes.prefix(4))
    } else if inet_pton(AF_INET6, text, &bytes) == 1 {
      self.bytes = bytes
    } else {
      return nil
    }
  }

  var text: String {
    var buffer = [CChar](repeating: 0, count: 64)
    let family = bytes.count == 4 ? AF_INET : AF_INET6
    guard inet_ntop(family, bytes, &buffer, socklen_t(buffer.count)) != nil else { return "?" }
    return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// What the address is reserved for, such as `a private address`; nil if it is public.
  var reservation: String? {
    if bytes.count == 4 { return reservedRanges4.first { $0.contains(bytes) }?.words }
    return reservedRanges6.first { $0.contains(bytes) }?.words ?? embedded?.reservation
  }

  /// The IPv4 address that an IPv6 address leads to:
  private var embedded: Address? {
    if sixToFour.contains(bytes) { return Address(Array(bytes[2..<6])) }
    let isEmbedding = embeddingRanges.contains { $0.contains(bytes) } || isISATAP
    return isEmbedding ? Address(Array(bytes.suffix(4))) : nil
  }

  /// True if it is an ISATAP address. Any network can contain such hosts. The bit that says whether
  /// the address is unique is ignored.
  private var isISATAP: Bool {
    bytes[8] & 0xfd == 0 && bytes[9..<12].elementsEqual([0, 0x5e, 0xfe])
  }
}

/// A block of addresses that is not the public internet.
private struct ReservedRange: Sendable {
  let prefix: [UInt8]
  let length: Int
  let words: String

  init(_ text: String, _ length: Int, _ words: String = "") {
    prefix = Address(text)?.bytes ?? []
    self.length = length
    self.words = words
  }

  func contains(_ bytes: [UInt8]) -> Bool {
    for (index, byte) in prefix.enumerated() where index * 8 < length {
      let bits = min(8, length - index * 8)
      let mask = UInt8(truncatingIfNeeded: 0xff << (8 - bits))
      if byte & mask != bytes[index] & mask { return false }
    }
    return true
  }
}

// The registries of special-purpose addresses (RFC 6890 and later).
private let reservedRanges4 = [
  ReservedRange("0.0.0.0", 8, "an address of this machine"),
  ReservedRange("10.0.0.0", 8, "a private address"),
  ReservedRange("100.64.0.0", 10, "an address behind a provider's translation"),
  ReservedRange("127.0.0.0", 8, "an address of this machine"),
  ReservedRange("169.254.0.0", 16, "a link-local address"),
  ReservedRange("172.16.0.0", 12, "a private address"),
  ReservedRange("192.0.0.0", 24, "a reserved address"),
  ReservedRange("192.0.2.0", 24, "a reserved address"),
  ReservedRange("192.168.0.0", 16, "a private address"),
  ReservedRange("198.18.0.0", 15, "a reserved address"),
  ReservedRange("198.51.100.0", 24, "a reserved address"),
  ReservedRange("203.0.113.0", 24, "a reserved address"),
  ReservedRange("224.0.0.0", 4, "a multicast address"),
  ReservedRange("240.0.0.0", 4, "a reserved address"),
]

private let sixToFour = ReservedRange("2002::", 16)

private let embeddingRanges = [
  ReservedRange("::", 96),
  ReservedRange("::ffff:0:0", 96),
  ReservedRange("::ffff:0:0:0", 96),
  ReservedRange("64:ff9b::", 96),
]

private let reservedRanges6 = [
  ReservedRange("::", 127, "an address of this machine"),
  ReservedRange("64:ff9b:1::", 48, "a private address"),
  ReservedRange("100::", 64, "a reserved address"),
  ReservedRange("2001::", 23, "a reserved address"),
  ReservedRange("2001:db8::", 32, "a reserved address"),
  ReservedRange("3fff::", 20, "a reserved address"),
  ReservedRange("5f00::", 16, "a reserved address"),
  ReservedRange("fc00::", 7, "a private address"),
  ReservedRange("fe80::", 10, "a link-local address"),
  ReservedRange("fec0::", 10, "a private address"),
  ReservedRange("ff00::", 8, "a multicast address"),
]

// Numbers and pairs as people write them for built-in steps.

import Diagnostics

/// Parses digits, which may follow a minus.
func wholeNumber(_ text: some StringProtocol) -> Int? {
  let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
  guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
  return Int(text)
}

/// Parses a number, but not `007`, which many people take for an octal one.
func canonicalNumber(_ text: String) -> Int? {
  wholeNumber(text).flatMap { String($0) == text ? $0 : nil }
}

/// Parses `Name: value`; spaces around the value are ignored.
func pair(_ text: String) -> BuiltinValue? {
  guard let colon = text.firstIndex(of: ":"), colon > text.startIndex else { return nil }
  var value = text[text.index(after: colon)...]
  while value.first == " " || value.first == "\t" { value.removeFirst() }
  while value.last == " " || value.last == "\t" { value.removeLast() }
  return .pair(name: String(text[..<colon]), value: String(value))
}

func isSHA256(_ text: String) -> Bool {
  text.utf8.count == 64
    && text.utf8.allSatisfy { byte in
      (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte | 0x20)
    }
}

/// True if a string is a URL of http or https with a valid host. Whether the host exists is found
/// when the URL is used.
package func isWebURL(_ text: String) -> Bool {
  let lower = text.lowercased()
  guard let scheme = ["http://", "https://"].first(where: lower.hasPrefix),
    text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f })
  else { return false }
  let authority = text.dropFirst(scheme.count).prefix { !"/?#".contains($0) }
  let place = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
  guard let colon = place.lastIndex(of: ":"), !place.hasSuffix("]") else { return isHost(place) }
  let port = place[place.index(after: colon)...]
  return isHost(place[..<colon])
    && (port.isEmpty || wholeNumber(port).flatMap(UInt16.init(exactly:)) != nil)
}

/// True if the text can be the name or the address of a host; an IPv6 address is in brackets.
private func isHost(_ text: some StringProtocol) -> Bool {
  if text.hasPrefix("["), text.hasSuffix("]") {
    let address = text.dropFirst().dropLast().prefix { $0 != "%" }
    return address.contains(":")
      && address.utf8.allSatisfy { byte in
        (0x30...0x3a).contains(byte) || (0x61...0x66).contains(byte | 0x20) || byte == 0x2e
      }
  }
  return !text.isEmpty
    && text.unicodeScalars.allSatisfy { scalar in
      scalar.value > 0x20 && scalar.value != 0x7f && !"[]/@?#\\:".unicodeScalars.contains(scalar)
    }
}

/// A server as people write it: `localhost:8080`, `[::1]:80`.
package struct HostAndPort: Hashable, Sendable {
  /// The host in lower case, without brackets.
  package let host: String
  package let port: UInt16

  package init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":"),
      let port = wholeNumber(text[text.index(after: colon)...]),
      port > 0, let port = UInt16(exactly: port)
    else { return nil }
    let host = text[..<colon].lowercased()
    guard isHost(host) else { return nil }
    self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
    self.port = port
  }

  /// Host and port in the form that the address policy compares.
  package var authority: String { "\(host):\(port)" }
}

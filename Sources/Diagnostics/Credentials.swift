// Hides names, passwords and signatures in URLs, which must not appear in a message. It knows no
// scheme.

/// The replacement for text that is not shown.
package let maskedValue = "***"

/// Text that may contain URLs, in the form in which it may be shown: each word that can be a URL is
/// treated as one.
package func withoutCredentials(_ text: String) -> String {
  var result = ""
  var rest = text[...]
  while let boundary = rest.firstIndex(where: { $0.isWhitespace || $0 == "'" || $0 == "\"" }) {
    result += shown(String(rest[..<boundary]), isURL: false)
    result.append(rest[boundary])
    rest = rest[rest.index(after: boundary)...]
  }
  return result + shown(String(rest), isURL: false)
}

/// A URL in the form in which it may be shown: without the name and password before its host, and
/// with `***` for values of its query and fragment that give access. If the scheme is left out, it
/// begins with its host.
package func shownURL(_ url: String) -> String { shown(url, isURL: true) }

/// The text in the form in which it may be shown. `isURL` means that it is a URL even without a scheme.
private func shown(_ url: String, isURL: Bool) -> String {
  let mark = url.firstRange(ofText: "://")
  let start = mark?.upperBound ?? url.startIndex
  let (scheme, address) = (
    url[..<start], withoutUser(url[start...], isURL: isURL || mark != nil)
  )
  guard let mark = address.firstIndex(where: { $0 == "?" || $0 == "#" }) else {
    return scheme + address
  }
  var shown = scheme + address[..<mark]
  var isFragment = false
  var part = ""
  for character in address[mark...] {
    guard "?#&;".contains(character) else {
      part.append(character)
      continue
    }
    shown += shownParameter(part, isFragment: isFragment) + String(character)
    isFragment = isFragment || character == "#"
    part = ""
  }
  return shown + shownParameter(part, isFragment: isFragment)
}

/// The part after `://`, from the host on.
private func withoutUser(_ address: Substring, isURL: Bool) -> String {
  let end = address.firstIndex(where: { "/?#".contains($0) }) ?? address.endIndex
  if let sign = address[..<end].lastIndex(of: "@") {
    return String(address[address.index(after: sign)...])
  }
  guard isURL, let colon = address[..<end].firstIndex(of: ":"), !address.hasPrefix("[") else {
    return String(address)
  }
  let port = address[address.index(after: colon)..<end]
  if port.allSatisfy(\.isNumber) || port.containsText("${{") { return String(address) }
  // The password ends in something like a path: the URL is invalid, and the position of its host is
  // unknown.
  if let sign = address.lastIndex(of: "@") { return String(address[address.index(after: sign)...]) }
  return address[...colon] + maskedValue + String(address[end...])
}

/// One `name=value`, or its replacement.
private func shownParameter(_ text: String, isFragment: Bool) -> String {
  let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
  guard parts.count == 2 else {
    return isOpaque(text) || isFragment && text.contains("@") ? maskedValue : text
  }
  let givesAccess = isName(ofCredential: parts[0]) || isOpaque(parts[1]) || holdsUser(parts[1])
  return givesAccess && !parts[1].isEmpty ? "\(parts[0])=\(maskedValue)" : text
}

private func isName(ofCredential name: Substring) -> Bool {
  let whole = name.lowercased()
  if whole == "code" || credentialStems.contains(where: { whole.containsText($0) }) { return true }
  var words: [String] = [""]
  var isAfterLower = false
  for character in name {
    let isLetter = character.isLetter || character.isNumber
    if !isLetter || character.isUppercase && isAfterLower { words.append("") }
    if isLetter { words[words.count - 1] += character.lowercased() }
    isAfterLower = character.isLowercase
  }
  return words.contains { credentialWords.contains($0) }
}

private let credentialStems = [
  "token", "secret", "passw", "passphrase", "signature", "credential", "apikey", "accesskey",
  "authkey", "session", "bearer",
]

private let credentialWords: Set = [
  "key", "sig", "sign", "auth", "authorization", "pass", "pwd", "pw", "pin", "otp", "jwt", "sid",
  "hmac", "policy",
]

/// True if letters and digits are mixed over a greater length than in text written by people.
private func isOpaque(_ value: some StringProtocol) -> Bool {
  value.utf8.split { !(isLetter($0) || isDigit($0)) }.contains { run in
    run.count >= 20 && run.contains(where: isDigit) && run.contains(where: isLetter)
  }
}

private func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7a).contains(byte | 0x20) }

private func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

/// True if the value is a URL, perhaps encoded, with a name before its host.
private func holdsUser(_ value: Substring) -> Bool {
  let text = value.lowercased()
  return (text.containsText("://") || text.containsText("%3a%2f%2f"))
    && (text.contains("@") || text.containsText("%40"))
}

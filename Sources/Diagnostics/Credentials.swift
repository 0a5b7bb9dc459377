// Names and passwords in URLs, which nobody should read in a message.

/// Text with URLs in it, without the names and passwords that stand before their hosts.
package func withoutCredentials(_ text: String) -> String {
  var result = ""
  var run = ""
  // A URL begins with its host where the scheme is left out.
  var isHost = true
  func ended() -> String {
    isHost ? String(run.lastIndex(of: "@").map { run[run.index(after: $0)...] } ?? run[...]) : run
  }
  for character in text {
    guard " '/?#".contains(character) else {
      run.append(character)
      continue
    }
    result += ended()
    isHost = character == " " || character == "'" || character == "/" && result.hasSuffix("/")
    result.append(character)
    run = ""
  }
  return result + ended()
}

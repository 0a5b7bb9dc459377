// Makes file names from untrusted paths.

import Diagnostics

/// The name and the extension of the last component of a path, made fit for a file: nothing in them
/// leads to another directory, hides the file or moves a cursor.
func fileName(ofPath path: String) -> (name: String, ext: String) {
  let last = lastComponent(ofPath: path)
  var safe = String.UnicodeScalarView()
  for scalar in last.unicodeScalars {
    let isBad = escape(scalar) != nil || scalar == "\\" || ByteText.isStray(scalar)
    safe.append(isBad ? "_" : scalar)
  }
  if safe.first == "." { safe.replaceSubrange(...safe.startIndex, with: "_".unicodeScalars) }
  if safe.isEmpty { return ("index", "") }
  guard let dot = safe.lastIndex(of: "."), dot != safe.startIndex else {
    return (cut(safe[...], to: longestName), "")
  }
  let ext = cut(safe[safe.index(after: dot)...], to: longestExtension)
  return (cut(safe[..<dot], to: longestName - ext.utf8.count), ext)
}

/// A name has at most 255 bytes on Linux; those of a part file and of its record are longer.
private let longestName = 180
private let longestExtension = 30

private func cut(_ text: Substring.UnicodeScalarView, to byteCount: Int) -> String {
  var kept = String.UnicodeScalarView()
  var left = byteCount
  for scalar in text {
    left -= UTF8.width(scalar)
    if left < 0 { break }
    kept.append(scalar)
  }
  return String(kept)
}

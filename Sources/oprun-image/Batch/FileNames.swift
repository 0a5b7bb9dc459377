// Names of files from paths that strangers have written.

import Diagnostics

/// The name and the ending that the last part of a path has, fit for a file: nothing in it leads to
/// another folder, hides the file or moves a cursor.
func fileName(ofPath path: String) -> (name: String, ext: String) {
  let last = path.split(separator: "/").last ?? ""
  var safe = ""
  for scalar in last.unicodeScalars {
    safe.unicodeScalars.append(escape(scalar) == nil && scalar != "\\" ? scalar : "_")
    if safe.utf8.count >= 180 { break }
  }
  if safe.hasPrefix(".") { safe = "_" + safe.dropFirst() }
  if safe.isEmpty { return ("index", "") }
  guard let dot = safe.lastIndex(of: "."), dot != safe.startIndex else { return (safe, "") }
  return (String(safe[..<dot]), String(safe[safe.index(after: dot)...]))
}

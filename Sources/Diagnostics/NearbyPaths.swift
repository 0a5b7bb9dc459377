// The path that somebody means who mistypes one of the names in it.

import Glibc

extension Suggester {
  /// The path that was meant by one that leads nowhere: it has another name in the place of the first that does not
  /// exist. Nil if none is close, or if what follows does not exist there. `takes` chooses among paths, of which those
  /// of directories end with a slash.
  package func path(closestTo path: String, takes: (String) -> Bool) -> String? {
    let slash = UInt8(ascii: "/")
    var end = path.endIndex
    var parent: Substring
    repeat {
      end =
        path.utf8[..<end].lastIndex { $0 != slash }.map(path.utf8.index(after:)) ?? path.startIndex
      parent = path[..<end].lastIndex(of: "/").map { path[...$0] } ?? ""
      if parent.isEmpty || entry(at: String(parent)) != nil { break }
      end = parent.endIndex
    } while true
    let rest = String(path[end...])
    let isLast = rest.utf8.allSatisfy { $0 == slash }
    let names = entries(at: String(parent), showsHidden: true) { _ in isLast }.compactMap {
      (found) -> String? in
      let whole = isLast ? found : entry(at: "\(found.dropLast())\(rest)")
      guard let whole, takes(whole) else { return nil }
      return found.dropFirst(parent).split(separator: "/").first.map(String.init)
    }
    let close = closest(to: String(path[parent.endIndex..<end]), among: names)
    return close.map { "\(parent)\($0)\(rest)" }
  }
}

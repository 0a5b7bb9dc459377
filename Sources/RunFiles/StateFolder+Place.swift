// The current directory of a run relative to the state directory, so that it stays valid if a
// project is moved with its runs.

import Diagnostics
import Glibc

extension StateFolder {
  /// The current directory as runs record it: a path from the directory that holds the state directory, if one of
  /// the two is in the other, and otherwise an absolute path. Nil if they are the same, or if there is no current
  /// directory any more.
  package var currentPlace: String? {
    guard let here = FileIdentity(at: "."), let holder = FileIdentity(at: "..", in: descriptor)
    else {
      return nil
    }
    if here == holder { return nil }
    return pathUp(to: here) ?? pathDown(from: holder) ?? realPath(".")
  }

  /// The absolute path of a directory that was recorded in this way; nil if it no longer exists.
  package func directory(of place: String?) -> String? {
    guard let place, !place.hasPrefix("/") else {
      return realPath(place ?? self.path(of: ".."))
    }
    return realPath(self.path(of: "../" + place))
  }

  /// The path up to the directory, such as `..` or `../..`; nil if it is not above the directory
  /// that holds the state directory.
  private func pathUp(to here: FileIdentity) -> String? {
    var path = ".."
    var last = FileIdentity(at: "..", in: descriptor)
    while let next = FileIdentity(at: "../" + path, in: descriptor), next != last {
      if next == here { return path }
      path += "/.."
      last = next
    }
    return nil
  }

  /// The path of the current directory below another one; nil if it is not in there.
  private func pathDown(from holder: FileIdentity) -> String? {
    guard let names = realPath(".")?.split(separator: "/") else { return nil }
    var above = ".."
    for count in 1...max(1, names.count) {
      if FileIdentity(at: above) == holder { return names.suffix(count).joined(separator: "/") }
      above += "/.."
    }
    return nil
  }
}

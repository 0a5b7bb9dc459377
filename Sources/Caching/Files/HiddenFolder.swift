// The directory that no pattern looks into: the state directory, which changes in every run.

import Diagnostics
import Glibc
import RunFiles

struct HiddenFolder {
  let identity: FileIdentity
  /// The path without links; nil where there is no /proc.
  let path: String?

  /// Nil if the kernel does not say which one it is.
  init?(_ descriptor: Int32) {
    guard let identity = FileIdentity(of: descriptor) else { return nil }
    self.identity = identity
    path = Self.path(of: descriptor)
  }

  func isIt(_ status: stat) -> Bool { FileIdentity(status) == identity }

  /// Whether a path below an open directory leads to it, or to something in it.
  func holds(_ path: String, in root: Int32) -> Bool {
    guard let own = self.path else { return false }
    let place = openat(root, path, onlyAPlace | O_CLOEXEC)
    guard place >= 0 else { return false }
    defer { close(place) }
    return Self.path(of: place).map { $0.hasSameBytes(as: own) || $0.isBelow(own) } ?? false
  }

  /// Whether an absolute path leads to it, or to a directory around it.
  func isWithin(_ path: String) -> Bool {
    guard let own = self.path, let place = realPath(path) else { return false }
    return own.hasSameBytes(as: place) || own.isBelow(place)
  }

  private static func path(of descriptor: Int32) -> String? {
    FileInspector.target(of: "/proc/self/fd/\(descriptor)", in: AT_FDCWD)
  }
}

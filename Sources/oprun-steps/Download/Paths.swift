// Paths as Linux has them: bytes, in which a slash ends a component whatever follows it. For Swift's
// characters, a slash before a combining mark is none, and two spellings of a letter are equal.

import Diagnostics

private let slash = UInt8(ascii: "/")

/// Identifies a path, apart from links: two paths are equal if they consist of the same bytes, without
/// `.` and repeated slashes.
struct PathKey: Hashable, Sendable {
  private let isAbsolute: Bool
  private let components: [[UInt8]]

  init(_ path: String) {
    isAbsolute = path.utf8.first == slash
    components = path.utf8.split(separator: slash).map(Array.init).filter { $0 != [0x2E] }
  }
}

/// The directory of a path with its slash; "" means the one in which the program runs.
func folder(ofPath path: String) -> String {
  path.utf8.lastIndex(of: slash).map { String(path[..<path.utf8.index(after: $0)]) } ?? ""
}

/// The last component of a path; "" if there is none.
func lastComponent(ofPath path: String) -> String {
  path.utf8.split(separator: slash).last.flatMap { String(Substring($0)) } ?? ""
}

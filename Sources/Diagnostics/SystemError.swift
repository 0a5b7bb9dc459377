// A fault of the machine: a system call that failed.

import Glibc

/// A failed system call. The pipeline file is not at fault (that is a `Diagnostic`), nor are we.
package struct SystemError: Error, Hashable, Sendable {
  /// What was attempted: `cannot open 'build.log'`.
  package let action: String
  package let errno: Int32

  package init(_ action: String, errno: Int32) {
    self.action = action
    self.errno = errno
  }

  /// The whole message: `cannot open 'build.log': permission denied`.
  package var message: String { "\(action): \(SystemError.reason(errno))" }

  /// The system's words for an error, in lower case.
  package static func reason(_ errno: Int32) -> String {
    guard let text = strerror(errno) else { return "error \(errno)" }
    let words = String(cString: text)
    return words.prefix(1).lowercased() + words.dropFirst()
  }
}

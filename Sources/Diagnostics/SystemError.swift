// A fault of the machine: a system call that failed.

/// A failed system call. The pipeline file is not at fault (that is a `Diagnostic`), nor are we.
package struct SystemError: Error, Hashable, Sendable {
  /// What was tried, in words: `cannot open 'build.log'`.
  package let action: String
  package let errno: Int32

  package init(_ action: String, errno: Int32) {
    self.action = action
    self.errno = errno
  }
}

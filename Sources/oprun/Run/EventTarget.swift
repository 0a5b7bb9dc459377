// The target of `--events`: a file, a descriptor that the caller has opened, or standard output.

import Diagnostics
import Glibc
import Reporting

/// A descriptor for the events of a run.
struct EventTarget {
  let descriptor: Int32
  /// The name of a regular file, which keeps all text; nil for anything with a reader.
  let fileName: String?

  /// True if the words name standard output, which is then reserved for the events.
  static func isStandardOutput(_ words: String) -> Bool {
    words == "-" || number(words) == STDOUT_FILENO
  }

  /// True if the words name a file.
  static func isPath(_ words: String) -> Bool { words != "-" && !words.hasPrefix("fd:") }

  /// The number in `fd:3`.
  private static func number(_ words: String) -> Int32? {
    words.hasPrefix("fd:") ? Int32(words.dropFirst(3)) : nil
  }

  /// Throws if the descriptor is not open. Must be called before oprun opens any itself, so that
  /// its own descriptors are not taken for those of the caller.
  static func check(_ words: String) throws(UsageFailure) {
    guard words.hasPrefix("fd:") else { return }
    guard let number = number(words), number >= 0, fcntl(number, F_GETFD) >= 0 else {
      throw .closedEventDescriptor(words)
    }
    if number == STDERR_FILENO { throw .eventsAmongMessages }
    if fcntl(number, F_GETFL) & O_ACCMODE == O_RDONLY { throw .unwritableEventDescriptor(words) }
    if number > STDERR_FILENO { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
  }

  /// Opens the target. A file is emptied.
  init(_ words: String) throws(SystemError) {
    if Self.isStandardOutput(words) {
      descriptor = STDOUT_FILENO
    } else if let number = Self.number(words) {
      descriptor = number
    } else {
      descriptor = try Self.open(words)
    }
    var status = stat()
    let isFile = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    fileName = isFile ? words : nil
  }

  private static func open(_ path: String) throws(SystemError) -> Int32 {
    let file = openForWriting(path, O_TRUNC)
    guard file >= 0 else { throw unwritable(path, errno, what: "the events to ") }
    return file
  }
}

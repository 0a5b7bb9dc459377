// The program of the job's side: a copy of this one in the directory of the run, so that nothing need
// be installed on nodes, and an update of oprun does not change a run in progress.

import Diagnostics
import Glibc

extension NodeFiles {
  static let programName = "oprun"

  /// The path of the program, as jobs start it.
  var programPath: String { "\(path)/\(NodeFiles.programName)" }

  /// Copies this program, unless an earlier oprun of the same run has.
  func installProgram() throws(SystemError) {
    if faccessat(descriptor, NodeFiles.programName, X_OK, 0) == 0 { return }
    let action = "cannot copy oprun to \(quoted(programPath))"
    let source = try Descriptor.open("/proc/self/exe", O_RDONLY).get(action)
    let place = ".\(NodeFiles.programName).\(getpid())"
    unlinkat(descriptor, place, 0)
    let number = openat(
      descriptor, place, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o700)
    guard number >= 0 else { throw .last(action) }
    let isCopied = NodeFiles.copy(source.number, to: number)
    let isKept = isCopied && fchmod(number, 0o700) == 0 && fsync(number) == 0
    let reason = errno
    // While it is open for writing nobody can execute it.
    close(number)
    errno = reason
    if isKept, renameat(descriptor, place, descriptor, NodeFiles.programName) == 0 { return }
    let failure = SystemError.last(action)
    unlinkat(descriptor, place, 0)
    throw failure
  }

  /// `FICLONE` of <linux/fs.h>: shares the blocks where the file system can.
  private static let clone: UInt = 0x4004_9409

  private static func copy(_ source: Int32, to copy: Int32) -> Bool {
    if ioctl(copy, clone, source) == 0 { return true }
    var piece = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      let count = read(source, &piece, piece.count)
      if count == 0 { return true }
      if count < 0 {
        if errno == EINTR { continue }
        return false
      }
      guard Glibc.write(copy, piece, count) == count else { return false }
    }
  }
}

// A copy of this program in a directory that the nodes of a cluster see, so that nothing need be installed
// there, and an update of oprun does not change what is in progress.

import CLinux
package import Diagnostics
import Glibc
package import RunFiles

enum ProgramCopy {
  /// The program of built-in steps.
  static let helperName = "oprun-steps"

  /// Copies this program into an open directory, unless a copy of that name is there.
  static func make(named name: String, in folder: Int32, shownAs path: String) throws(SystemError) {
    try make(named: name, of: "/proc/self/exe", in: folder, shownAs: path)
  }

  /// Copies a program under a temporary name, which is then replaced: several may do that at once,
  /// also on other machines.
  static func make(
    named name: String, of program: String, in folder: Int32, shownAs path: String
  ) throws(SystemError) {
    if faccessat(folder, name, X_OK, 0) == 0 { return }
    let action = "cannot copy oprun to \(quoted(path))"
    let source = try Descriptor.open(program, O_RDONLY).get(action)
    let place = ".\(name).\(String(UInt64.random(in: 0...UInt64.max), radix: 36))"
    let number = openat(folder, place, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o700)
    guard number >= 0 else { throw .last(action) }
    let isCopied = copy(source.number, to: number)
    let isKept = isCopied && fchmod(number, 0o700) == 0 && fsync(number) == 0
    let reason = errno
    // While the copy is open for writing, nobody can execute it.
    close(number)
    errno = reason
    if isKept, renameat(folder, place, folder, name) == 0 { return }
    let failure = SystemError.last(action)
    unlinkat(folder, place, 0)
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
      guard writeFully(Array(piece.prefix(count)), to: copy) else { return false }
    }
  }
}

extension NodeFiles {
  static let programName = "oprun"

  /// The path of the program, as jobs start it.
  var programPath: String { "\(path)/\(NodeFiles.programName)" }

  /// Copies this program, unless an earlier oprun of the same run has.
  func installProgram() throws(SystemError) {
    try ProgramCopy.make(named: NodeFiles.programName, in: descriptor, shownAs: programPath)
  }
}

/// Copies this program, and that of built-in steps beside it if there is one, into a folder of the state directory, for
/// jobs that run whole pipelines; returns the path of the copy. Each build of oprun has a folder of its own, because
/// running jobs use it.
package func copyProgram(to state: StateFolder) throws(SystemError) -> String {
  let helper = neighbour(named: ProgramCopy.helperName)
  let hasHelper = access(helper, X_OK) == 0
  let name = "oprun-\(try age(of: "/proc/self/exe"))\(hasHelper ? "-\(try age(of: helper))" : "")"
  let shown = state.shown(name)
  guard mkdirat(state.descriptor, name, 0o700) == 0 || errno == EEXIST else {
    throw .last("cannot create \(quoted(shown))")
  }
  let folder = openat(state.descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
  guard folder >= 0 else { throw .last("cannot open \(quoted(shown))") }
  defer { close(folder) }
  if hasHelper {
    try ProgramCopy.make(
      named: ProgramCopy.helperName, of: helper, in: folder,
      shownAs: "\(shown)/\(ProgramCopy.helperName)")
  }
  let program = "\(shown)/\(NodeFiles.programName)"
  try ProgramCopy.make(named: NodeFiles.programName, in: folder, shownAs: program)
  return program
}

/// Identifies a build of a program.
private func age(of program: String) throws(SystemError) -> String {
  var status = stat()
  guard stat(program, &status) == 0 else { throw .last("cannot find \(quoted(program))") }
  let age = UInt64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ UInt64(status.st_mtim.tv_nsec)
  return String(age ^ UInt64(status.st_size) << 40, radix: 36)
}

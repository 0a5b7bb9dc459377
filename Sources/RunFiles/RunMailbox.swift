// Requests to a run from machines that its socket does not reach: files in its directory, on a file system
// that they share. It knows nothing of what they mean.

import Diagnostics
import Glibc

/// The directory of requests in the directory of a run: who asks writes `NAME.request`, and the run answers
/// with `NAME.answer`. Every file appears whole, and is removed by the one for whom it is.
package final class RunMailbox {
  /// The name of the directory; no step can have it.
  package static let folderName = "@requests"

  private let descriptor: Int32

  /// Opens the directory; nil if the run has none.
  package init?(in directory: RunDirectory) {
    descriptor = directory.open(RunMailbox.folderName)
    var status = stat()
    guard descriptor >= 0, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFDIR
    else {
      return nil
    }
  }

  /// Makes the directory; nil if that cannot be.
  package static func make(in directory: RunDirectory) -> RunMailbox? {
    guard directory.remove(folderName) || directory.removeFolder(folderName),
      (try? directory.makeFolder(folderName)) != nil
    else { return nil }
    return RunMailbox(in: directory)
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  // MARK: The run

  /// What is asked, by whom; the requests are removed, except those that cannot be read now. Longer ones than `longest`
  /// are not answered.
  package func takeRequests(longest: Int) -> [(name: String, user: UInt32, line: [UInt8])] {
    // Only what is opened anew is up to date over NFS.
    let folder = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return [] }
    let names = (namesOfFiles(owning: folder) ?? []).filter { $0.hasSuffix(".request") }
    return names.sorted().compactMap { file in
      guard let (bytes, user) = content(of: file, longest: longest) else {
        if ![EMFILE, ENFILE, ENOMEM].contains(errno) { unlinkat(descriptor, file, 0) }
        return nil
      }
      unlinkat(descriptor, file, 0)
      return (String(file.dropLast(".request".count)), user, bytes)
    }
  }

  /// Creates the file of an answer; the caller owns the descriptor, which is negative if there is none.
  package func beginAnswer(to name: String) -> Int32 { make(".\(name).answer") }

  /// Shows an answer, or gives it up.
  package func endAnswer(to name: String, isWhole: Bool) {
    let own = ".\(name).answer"
    if isWhole, renameat(descriptor, own, descriptor, "\(name).answer") == 0 { return }
    unlinkat(descriptor, own, 0)
  }

  /// The run is over. The directory stays as long as somebody has not taken an answer.
  package func end(in directory: RunDirectory) {
    _ = takeRequests(longest: 0)
    directory.remove(RunMailbox.folderName)
  }

  // MARK: Who asks

  /// Asks; returns the name of the request. Nil, with `errno`, if that cannot be.
  package func ask(_ line: [UInt8]) -> String? {
    let name = String(UInt64.random(in: 0...UInt64.max), radix: 36)
    let file = make(".\(name)")
    guard file >= 0 else { return nil }
    let isWritten = writeFully(line, to: file)
    close(file)
    if isWritten, renameat(descriptor, ".\(name)", descriptor, "\(name).request") == 0 {
      return name
    }
    let reason = errno
    unlinkat(descriptor, ".\(name)", 0)
    errno = reason
    return nil
  }

  /// Takes the answer; nil if there is none yet.
  package func takeAnswer(to name: String) -> [UInt8]? {
    guard let (bytes, _) = content(of: "\(name).answer", longest: .max) else { return nil }
    unlinkat(descriptor, "\(name).answer", 0)
    return bytes
  }

  /// Nobody waits for the answer any more.
  package func withdraw(_ name: String) {
    for ending in ["request", "answer"] { unlinkat(descriptor, "\(name).\(ending)", 0) }
  }

  // MARK: Files

  private func make(_ name: String) -> Int32 {
    let file = openat(
      descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    if file >= 0 { fchmod(file, 0o600) }
    return file
  }

  /// The content of a file; nil, with `errno`, if there is none that is wanted.
  private func content(of name: String, longest: Int) -> (bytes: [UInt8], owner: UInt32)? {
    let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    errno = EINVAL
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= longest
    else { return nil }
    guard let bytes = readFully(file, atMost: Int(status.st_size)), bytes.count == status.st_size
    else { return nil }
    return (bytes, status.st_uid)
  }
}

// Requests to a run from machines that its socket does not reach: files in its directory, on a file
// system that the machines share. The meaning of the requests is unknown here.

import Diagnostics
import Glibc

/// The directory of requests in the directory of a run: a client writes `NAME.request`, and the run
/// answers with `NAME.answer`. Every file appears whole, and is removed by its receiver.
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

  /// Makes the directory; nil if that is not possible.
  package static func make(in directory: RunDirectory) -> RunMailbox? {
    guard directory.remove(folderName) || directory.removeFolder(folderName),
      (try? directory.makeFolder(folderName)) != nil
    else { return nil }
    return RunMailbox(in: directory)
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  // MARK: The run

  /// Takes the requests, with the users who made them: they are removed, except those that cannot
  /// be read now. Requests longer than `longest` are not answered.
  package func takeRequests(longest: Int) -> [(name: String, user: UInt32, line: [UInt8])] {
    // Over NFS, only a directory that is opened anew is up to date.
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

  /// Shows an answer to the client, or discards it.
  package func endAnswer(to name: String, isWhole: Bool) {
    let own = ".\(name).answer"
    if isWhole, renameat(descriptor, own, descriptor, "\(name).answer") == 0 { return }
    unlinkat(descriptor, own, 0)
  }

  /// Removes the directory when the run is over; it stays if a client has not taken its answer.
  package func end(in directory: RunDirectory) {
    _ = takeRequests(longest: 0)
    directory.remove(RunMailbox.folderName)
  }

  // MARK: Who asks

  /// Writes a request and returns its name. Nil, with `errno`, if that is not possible.
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

  /// Removes a request and its answer, for which nobody waits any more.
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

  /// The content of a file and its owner; nil, with `errno`, if there is no acceptable file.
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

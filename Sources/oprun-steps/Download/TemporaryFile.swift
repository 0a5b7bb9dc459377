// Incomplete files: hidden next to their targets, locked by the process that writes them; leftovers
// of a killed process are removed by the next one that writes there.

import Diagnostics
import Glibc
import OperationKit
import Synchronization

enum TemporaryFile {
  private static let prefix = ".oprun-"
  private static let suffix = ".part"
  private static let number = Atomic<Int>(0)
  /// The directories in which this process has looked for leftovers.
  private static let lookedAt = Guarded<Set<PathKey>>([])

  /// A path that is different each time: `out/.oprun-4711-1.part` for `out/a.jpg`.
  static func path(beside path: String) -> String {
    let number = number.wrappingAdd(1, ordering: .relaxed).newValue
    return "\(folder(ofPath: path))\(prefix)\(getpid())-\(number)\(suffix)"
  }

  /// Creates and claims a new file with such a name. Existing files are skipped.
  static func make(beside path: String, mode: mode_t) throws(SystemError) -> OpenFile {
    while true {
      do throws(SystemError) {
        let file = try OpenFile(
          self.path(beside: path), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: mode,
          shownAs: path)
        if claim(file.descriptor) { return file }
      } catch {
        guard error.errno == EEXIST else { throw error }
      }
    }
  }

  /// Marks the file as in use, until all processes that share the descriptor have closed it. False
  /// if another process is just removing it. If the file system has no locks, no process removes it
  /// either.
  static func claim(_ descriptor: Int32) -> Bool {
    if flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK { return false }
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_nlink > 0
  }

  /// Removes the leftovers of killed processes from a directory, once in the life of this process.
  static func removeLeft(in folder: String) {
    guard lookedAt.withLock({ $0.insert(PathKey(folder)).inserted }) else { return }
    for name in Files.names(in: folder.isEmpty ? "." : folder) where isTemporary(name) {
      removeIfLeft(folder + name)
    }
  }

  private static func isTemporary(_ name: String) -> Bool {
    guard name.hasPrefix(prefix), name.hasSuffix(suffix) else { return false }
    let parts = name.dropFirst(prefix.count).dropLast(suffix.count).split(
      separator: "-", omittingEmptySubsequences: false)
    return parts.count == 2 && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy(\.isWholeNumber) }
  }

  private static func removeIfLeft(_ path: String) {
    guard let file = try? OpenFile.own(path, O_RDWR), file.tryLock(LOCK_EX) else { return }
    var named = stat()
    guard lstat(path, &named) == 0, named.st_ino == file.status.st_ino else { return }
    Files.remove(PartFile.recordName(beside: path))
    Files.remove(path)
  }
}

// Files that are not whole yet: hidden beside what they will be, locked by who writes them, and removed by
// the next who writes there if nobody does any more.

import Diagnostics
import Glibc
import OperationKit
import Synchronization

enum TemporaryFile {
  private static let prefix = ".oprun-"
  private static let suffix = ".part"
  private static let number = Atomic<Int>(0)
  /// Where this process has looked for what others have left.
  private static let lookedAt = Guarded<Set<String>>([])

  /// Another one each time: `out/.oprun-4711-1.part` for `out/a.jpg`.
  static func path(beside path: String) -> String {
    let number = number.wrappingAdd(1, ordering: .relaxed).newValue
    return "\(folder(of: path))\(prefix)\(getpid())-\(number)\(suffix)"
  }

  /// With its slash; "" is the one that the program runs in.
  static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
  }

  /// A new file of such a name, claimed. What others have put there is passed over.
  static func make(beside path: String, mode: mode_t) throws(SystemError) -> OpenFile {
    while true {
      do throws(SystemError) {
        let file = try OpenFile(
          self.path(beside: path), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: mode)
        if claim(file.descriptor) { return file }
      } catch {
        guard error.errno == EEXIST else { throw error }
      }
    }
  }

  /// Says that the file is in use, until all who share the descriptor have closed it. False if somebody
  /// was just removing it. Where there are no locks, nobody removes it either.
  static func claim(_ descriptor: Int32) -> Bool {
    if flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK { return false }
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_nlink > 0
  }

  /// Removes from a folder what processes that were killed have left, once in the life of this one.
  static func removeLeft(in folder: String) {
    guard lookedAt.withLock({ $0.insert(folder).inserted }) else { return }
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

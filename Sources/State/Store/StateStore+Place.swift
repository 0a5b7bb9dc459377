// Which directories a state database can be in, and with which journal: asked without opening it.

import Diagnostics
import Glibc
package import RunFiles

extension StateStore {
  /// Why no run can be recorded in a state directory, if that can be told without opening the
  /// database: it is opened only when something already runs. Not to be called while this process
  /// has the database open: closing any descriptor of it would give up SQLite's locks.
  package static func refusal(in folder: StateFolder) -> StoreFailure? {
    if case .unusable(let failure) = suitability(in: folder) { return failure }
    return writeRefusal(in: folder)
  }

  /// Why nothing can be written to the database; nil if that is not known. It opens nothing, so it may be called
  /// while the database is open.
  package static func writeRefusal(in folder: StateFolder) -> StoreFailure? {
    guard let (failure, advice) = refusal(to: "write", W_OK, in: folder) else { return nil }
    return StoreFailure(
      failure.message, help: "\(advice), or choose another directory with --state-dir")
  }

  /// Why the database cannot be read; nil if that is not known.
  static func readRefusal(in folder: StateFolder) -> StoreFailure? {
    refusal(to: "open", R_OK, in: folder).map { StoreFailure($0.message, help: $1) }
  }

  private static func refusal(
    to verb: String, _ access: Int32, in folder: StateFolder
  ) -> (SystemError, advice: String)? {
    guard faccessat(folder.descriptor, fileName, access, 0) != 0, errno != ENOENT else {
      return nil
    }
    let error = SystemError("cannot \(verb) \(quoted(folder.shown(fileName)))", errno: errno)
    var status = stat()
    let isForeign =
      errno == EACCES && fstatat(folder.descriptor, fileName, &status, AT_SYMLINK_NOFOLLOW) == 0
      && status.st_uid != geteuid()
    return (
      error,
      isForeign
        ? "run chown -R \(geteuid()) \(quoted(folder.path)) as root"
        : access == R_OK ? "make it readable" : "make it writable"
    )
  }

  /// The kind of journal that the database of a state directory has, or would get.
  package static func journal(in folder: StateFolder) -> JournalKind {
    if folder.fileSystem.network == nil, case .usable(let kind) = suitability(in: folder) {
      return kind
    }
    return .rollback
  }

  enum Suitability {
    case unusable(StoreFailure)
    /// The file can be a database of this oprun, or there is none yet. It has, or would get, this journal.
    case usable(JournalKind)
  }

  /// Whether the file can be a state database of this oprun. The same holds as for `refusal`.
  static func suitability(in folder: StateFolder) -> Suitability {
    if let failure = placeRefusal(folder) { return .unusable(failure) }
    let journal: JournalKind = folder.fileSystem.network == nil ? .log : .rollback
    // Opening a named pipe would wait for a writer.
    let file = openat(folder.descriptor, fileName, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else {
      return errno == ELOOP
        ? .unusable(StoreFailure("\(quoted(folder.shown(fileName))) is a link, wanted a file"))
        : .usable(journal)
    }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      return .unusable(StoreFailure("\(quoted(folder.shown(fileName))) is not a regular file"))
    }
    // The version is a big-endian number at byte 60 of the file. Byte 19 is 2 if there may be a log.
    var bytes = [UInt8](repeating: 0, count: 64)
    guard pread(file, &bytes, 64, 0) == 64, bytes.starts(with: "SQLite format 3".utf8) else {
      return .usable(journal)
    }
    let version = bytes[60...].reduce(0) { $0 << 8 | Int($1) }
    guard version > Schema.version else { return .usable(bytes[19] == 2 ? .log : .rollback) }
    return .unusable(.newer(version, than: Schema.version, folder))
  }

  static func refusePlace(_ folder: StateFolder) throws(StoreFailure) {
    if let failure = placeRefusal(folder) { throw failure }
  }

  /// Why no database can be in a directory, whether there is one or not. To ask for a state directory that does not exist
  /// yet, ask for the one that it would be made in.
  package static func placeRefusal(_ folder: StateFolder) -> StoreFailure? {
    // SQLite takes no path of a database that has more than 512 bytes with `-journal` behind it, and looks at the whole.
    let most = 512 - "-journal".utf8.count - "/\(fileName)".utf8.count
    if let length = folder.pathLength, length > most { return .tooLong(length, most, folder) }
    guard let kind = folder.fileSystem.network else { return nil }
    if let limit = folder.fileSystem.lockLimit { return .localLocks(kind, limit, folder) }
    return folder.lockFault.map { .noLocks(kind, $0, folder) }
  }
}

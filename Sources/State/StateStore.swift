// The state database of a project, `.oprun/state.db`: opened, made, migrated, replaced if it is
// damaged. It knows versions, and no row.

import Diagnostics
import Glibc
package import RunFiles

/// An open state database.
package final class StateStore {
  package static let fileName = "state.db"

  let database: Database
  package let folder: StateFolder
  /// The number of the inode of its file, and of the log that was opened with it; nil if there was none.
  let number: ino_t?
  let logNumber: ino_t?
  /// What a person should know about how it was opened.
  package private(set) var notices: [String] = []

  private init(_ database: Database, in folder: StateFolder) {
    self.database = database
    self.folder = folder
    number = Self.status(of: Self.fileName, in: folder)?.st_ino
    logNumber = Self.status(of: Self.logName, in: folder)?.st_ino
  }

  /// Opens the database of a state directory to look at it; nil if nothing was recorded there.
  package static func find(in folder: StateFolder) throws(StoreFailure) -> StateStore? {
    try refusePlace(folder)
    // An empty file is what a power failure leaves of a new one.
    guard let status = status(of: fileName, in: folder), status.st_size > 0 else { return nil }
    return try connect(folder, Schema.migrations)
  }

  /// Opens the database without changing anything in the directory; nil if there is none, or if it
  /// cannot be read like that.
  package static func look(in folder: StateFolder) -> StateStore? {
    let hasLog = faccessat(folder.descriptor, logName, F_OK, 0) == 0
    guard unsuitability(in: folder) == nil,
      !hasLog || faccessat(folder.descriptor, "\(fileName)-shm", F_OK, 0) == 0,
      // A database without a log is open for writing nowhere; opening it would make one.
      let database = try? Database(
        folder.path(of: fileName), hasLog ? .reading : .readingUnchanged),
      (try? database.number("PRAGMA user_version")) == Schema.version
    else { return nil }
    return StateStore(database, in: folder)
  }

  /// Opens the database to record a run, and makes it if there is none. One that is damaged is put
  /// aside.
  package static func make(in folder: StateFolder) throws(StoreFailure) -> StateStore {
    try make(in: folder, migrations: Schema.migrations)
  }

  static func make(
    in folder: StateFolder, migrations: [String]
  ) throws(StoreFailure) -> StateStore {
    try refusePlace(folder)
    var number: ino_t?
    do throws(StoreFailure) {
      let isNew = faccessat(folder.descriptor, fileName, F_OK, 0) != 0
      if isNew { try makeFile(in: folder) }
      number = status(of: fileName, in: folder)?.st_ino
      return try connect(folder, migrations, isNew: isNew)
    } catch {
      guard error.isDamage else { throw error }
      return try replace(number, in: folder)
    }
  }

  /// Lets a checkpoint wait for the disk from now on; called when the first records of a run are written.
  func beginSyncing() throws(StoreFailure) {
    try perform("open") { database throws(DatabaseFailure) in
      try database.execute("PRAGMA synchronous = NORMAL")
    }
  }

  /// Lets every commit wait for the disk from now on.
  func makeDurable() throws(StoreFailure) {
    try perform("open") { database throws(DatabaseFailure) in
      try database.execute("PRAGMA synchronous = FULL; PRAGMA wal_checkpoint(PASSIVE)")
    }
  }

  /// Puts a damaged database aside, and makes a new one. `damaged` is the number of its inode: if another process has
  /// replaced it meanwhile, that one's is opened.
  static func replace(
    _ damaged: ino_t?, in folder: StateFolder
  ) throws(StoreFailure) -> StateStore {
    // Freed when it is closed. Others lock the directory for purposes of their own, and file systems may have no
    // locks: there is at least the comparison.
    let lock = openat(folder.descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { if lock >= 0 { close(lock) } }
    for _ in 0..<200 {
      if lock < 0 || flock(lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK { break }
      usleep(10_000)
    }
    if let present = status(of: fileName, in: folder)?.st_ino, present != damaged {
      return try connect(folder, Schema.migrations)
    }
    let isEmpty = status(of: fileName, in: folder)?.st_size == 0
    let other = nameAside(in: folder)
    guard folder.rename(fileName, to: other) else {
      throw StoreFailure(
        SystemError(
          "cannot put the damaged \(quoted(folder.shown(fileName))) aside", errno: errno
        ).message)
    }
    // They belong to the damaged file, and would be applied to the new one.
    _ = folder.rename(logName, to: "\(other)-wal")
    folder.remove("\(fileName)-shm")
    try makeFile(in: folder)
    let store = try connect(folder, Schema.migrations, isNew: true)
    if isEmpty {
      folder.remove(other)
    } else {
      store.notices.append(
        "\(folder.shown(fileName)) was damaged: it is now \(folder.shown(other)), and a new history starts"
      )
    }
    return store
  }

  /// An unused name for a damaged database.
  private static func nameAside(in folder: StateFolder) -> String {
    let name = "\(fileName).damaged-\(time(nil))"
    var other = name
    var number = 1
    while faccessat(folder.descriptor, other, F_OK, AT_SYMLINK_NOFOLLOW) == 0 {
      number += 1
      other = "\(name)-\(number)"
    }
    return other
  }

  private static func connect(
    _ folder: StateFolder, _ migrations: [String], isNew: Bool = false
  ) throws(StoreFailure) -> StateStore {
    let newest = migrations.count + 1
    var version = newest
    do throws(DatabaseFailure) {
      let database = try Database(folder.path(of: fileName), .writing)
      version = try database.number("PRAGMA user_version") ?? 0
      if version < 1 { throw DatabaseFailure.noTables }
      if version <= newest {
        let store = StateStore(database, in: folder)
        if version < newest { try store.migrate(from: version, by: migrations) }
        // The beginning of a new log waits for the disk, which a new file does not do either. Records are read and
        // written one after the other, so few pages are needed again: the cache has 200 KiB instead of 2,000.
        let synchronous = isNew ? "OFF" : "NORMAL"
        try database.execute(
          "PRAGMA synchronous = \(synchronous); PRAGMA wal_autocheckpoint = 2000; PRAGMA cache_size = -200"
        )
        return store
      }
    } catch {
      throw StoreFailure(error, "open", folder)
    }
    throw .newer(version, than: newest, folder)
  }

  private func migrate(from version: Int, by migrations: [String]) throws(DatabaseFailure) {
    let backup = "\(Self.fileName).v\(version)"
    folder.remove(backup)
    let path = folder.path(of: backup).split(separator: "'", omittingEmptySubsequences: false)
    try database.execute("VACUUM INTO '\(path.joined(separator: "''"))'")
    try Schema.migrate(database, from: version, by: migrations)
    // An older oprun looks for the version in the file.
    try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    notices.append(
      "\(folder.shown(Self.fileName)) now has the format of this oprun (version \(migrations.count + 1)); "
        + "\(folder.shown(backup)) has the old format")
  }

  /// Makes the file with its tables under another name, so that nobody finds half of it.
  private static func makeFile(in folder: StateFolder) throws(StoreFailure) {
    let name = "\(fileName).\(getpid()).new"
    folder.remove(name)
    defer { folder.remove(name) }
    let file = openat(
      folder.descriptor, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else {
      throw StoreFailure(
        SystemError("cannot create \(quoted(folder.shown(fileName)))", errno: errno).message)
    }
    fchmod(file, 0o600)
    let error = writeAll(EmptyDatabase.bytes, to: file)
    close(file)
    guard error == 0 else {
      throw StoreFailure(
        SystemError("cannot create \(quoted(folder.shown(fileName)))", errno: error).message)
    }
    // Another oprun may have made one meanwhile: that one is as good.
    guard linkat(folder.descriptor, name, folder.descriptor, fileName, 0) == 0 || errno == EEXIST
    else {
      throw StoreFailure(
        SystemError("cannot create \(quoted(folder.shown(fileName)))", errno: errno).message)
    }
  }

  /// The errno of a failure, or 0. A disk that becomes full says so only to the next write.
  private static func writeAll(_ content: [UInt8], to file: Int32) -> Int32 {
    writeFully(content, to: file) ? 0 : errno
  }

  /// Does something with the database; failures are in words.
  func perform<Result>(
    _ action: String = "read", _ body: (Database) throws(DatabaseFailure) -> Result
  ) throws(StoreFailure) -> Result {
    do throws(DatabaseFailure) {
      return try body(database)
    } catch {
      throw StoreFailure(error, action, folder)
    }
  }

  /// Why no run can be recorded in a state directory, if that can be told without opening the
  /// database: it is opened only when something already runs. Not to be called while this process
  /// has the database open: closing any descriptor of it would give up SQLite's locks.
  package static func refusal(in folder: StateFolder) -> StoreFailure? {
    unsuitability(in: folder) ?? writeRefusal(in: folder)
  }

  /// Why nothing can be written to the database; nil if that is not known. It opens nothing, so it may be called
  /// while the database is open.
  package static func writeRefusal(in folder: StateFolder) -> StoreFailure? {
    guard faccessat(folder.descriptor, fileName, W_OK, 0) != 0, errno != ENOENT else { return nil }
    return StoreFailure(
      SystemError("cannot write \(quoted(folder.shown(fileName)))", errno: errno).message,
      help: "make it writable, or choose another directory with --state-dir")
  }

  /// Why the file cannot be a state database of this oprun; nil if it can.
  private static func unsuitability(in folder: StateFolder) -> StoreFailure? {
    do throws(StoreFailure) {
      try refusePlace(folder)
    } catch {
      return error
    }
    // Opening a named pipe would wait for a writer.
    let file = openat(folder.descriptor, fileName, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else {
      return errno == ELOOP
        ? StoreFailure("\(quoted(folder.shown(fileName))) is a link, wanted a file") : nil
    }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      return StoreFailure("\(quoted(folder.shown(fileName))) is not a regular file")
    }
    // The version is a big-endian number at byte 60 of the file.
    var bytes = [UInt8](repeating: 0, count: 64)
    guard pread(file, &bytes, 64, 0) == 64, bytes.starts(with: "SQLite format 3".utf8) else {
      return nil
    }
    let version = bytes[60...].reduce(0) { $0 << 8 | Int($1) }
    guard version > Schema.version else { return nil }
    return .newer(version, than: Schema.version, folder)
  }

  private static func refusePlace(_ folder: StateFolder) throws(StoreFailure) {
    // SQLite takes no path of a database that has more than 512 bytes with `-journal` behind it, and looks at the whole.
    if let whole = folder.wholePath {
      let most = 512 - "-journal".utf8.count - "/\(fileName)".utf8.count
      let length = whole.utf8.count
      if length > most { throw .tooLong(length, most, folder) }
    }
    if let kind = networkFileSystem(fileSystemNumber(of: folder.descriptor)) {
      throw .onNetwork(kind, folder)
    }
  }
}

/// The name of a file system that several machines may use at once, by its number in statfs(2).
func networkFileSystem(_ number: Int) -> String? {
  switch number {
  case 0x6969: "NFS"
  case 0x517B, 0xFF53_4D42, 0xFE53_4D42: "SMB"
  case 0x0102_1997: "9P"
  case 0x5346_414F: "AFS"
  case 0x00C3_6400: "Ceph"
  case 0x0BD0_0BD0: "Lustre"
  case 0x4750_4653: "GPFS"
  case 0x1983_0326: "BeeGFS"
  case 0x0116_1970: "GFS2"
  case 0x7461_636F: "OCFS2"
  default: nil
  }
}

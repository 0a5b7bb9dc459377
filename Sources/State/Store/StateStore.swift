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
  /// The kind of journal that keeps its transactions whole.
  package let journal: JournalKind
  /// Messages for people about how it was opened: it was migrated, or replaced because it was damaged.
  package private(set) var notices: [String] = []

  private init(_ database: Database, _ journal: JournalKind, in folder: StateFolder) {
    self.database = database
    self.journal = journal
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
    guard case .usable(let journal) = suitability(in: folder) else { return nil }
    let hasLog = faccessat(folder.descriptor, logName, F_OK, 0) == 0
    let mode: Database.Mode
    switch journal {
    // A rollback journal that a dead process has left is applied only by who may write.
    case .rollback: mode = .reading
    case .log where folder.fileSystem.network != nil: return nil
    case .log where hasLog:
      guard faccessat(folder.descriptor, "\(fileName)-shm", F_OK, 0) == 0 else { return nil }
      mode = .reading
    // A database without a log is open for writing nowhere; opening it would make one.
    case .log: mode = .readingUnchanged
    }
    guard let database = try? Database(folder.path(of: fileName), mode),
      (try? database.number("PRAGMA user_version")) == Schema.version
    else { return nil }
    return StateStore(database, journal, in: folder)
  }

  /// Opens the database to record a run, of this name if it has one, and makes it if there is none. One that is damaged
  /// is put aside.
  package static func make(
    in folder: StateFolder, for run: String? = nil
  ) throws(StoreFailure) -> StateStore {
    try make(in: folder, migrations: Schema.migrations, for: run)
  }

  static func make(
    in folder: StateFolder, migrations: [String], for run: String? = nil
  ) throws(StoreFailure) -> StateStore {
    try refusePlace(folder)
    var number: ino_t?
    do throws(StoreFailure) {
      let isThere = faccessat(folder.descriptor, fileName, F_OK, 0) == 0
      let isNew = isThere ? false : try makeFile(in: folder)
      number = status(of: fileName, in: folder)?.st_ino
      let store = try connect(folder, migrations, isNew: isNew)
      if !isNew { try store.examineIfMarked { store.hasRunInProgress(besides: run) } }
      return store
    } catch {
      guard error.isDamage else { throw error }
      return try replace(number, in: folder)
    }
  }

  /// Lets a checkpoint wait for the disk from now on; called when the first records of a run are written.
  func beginSyncing() throws(StoreFailure) {
    if journal == .rollback { return }
    try perform("open") { database throws(DatabaseFailure) in
      try database.execute("PRAGMA synchronous = NORMAL")
    }
  }

  /// Lets every commit wait for the disk from now on.
  func makeDurable() throws(StoreFailure) {
    if journal == .rollback { return }
    try perform("open") { database throws(DatabaseFailure) in
      try database.execute("PRAGMA synchronous = FULL; PRAGMA wal_checkpoint(PASSIVE)")
    }
  }

  /// Puts a damaged database aside, and makes a new one. `damaged` is the number of its inode: if another process has
  /// replaced it meanwhile, that one's is opened.
  static func replace(
    _ damaged: ino_t?, in folder: StateFolder
  ) throws(StoreFailure) -> StateStore {
    guard let aside = try putAside(damaged, in: folder) else {
      return try connect(folder, Schema.migrations)
    }
    let store = try connect(folder, Schema.migrations, isNew: aside.isReplaced)
    if aside.isEmpty {
      folder.remove(aside.name)
    } else {
      store.notices.append(
        "\(folder.shown(fileName)) was damaged: it is now \(folder.shown(aside.name)), and a new history starts"
      )
    }
    return store
  }

  /// Gives a damaged database another name, and makes a file in its place; nil if another process has done so.
  private static func putAside(
    _ damaged: ino_t?, in folder: StateFolder
  ) throws(StoreFailure) -> (name: String, isEmpty: Bool, isReplaced: Bool)? {
    // Only the process that has locked a byte of the damaged file, which SQLite does not use, puts it aside. Where file
    // systems have no locks, the inodes are at least compared. The file is closed before a database is opened, which
    // may be this one: SQLite would lose its own locks.
    let lock = openat(folder.descriptor, fileName, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    defer { if lock >= 0 { close(lock) } }
    for _ in 0..<200 {
      if lock < 0 || ByteLock.take(0, of: lock) != .heldByOther { break }
      usleep(10_000)
    }
    guard let found = Self.status(of: fileName, in: folder) else {
      // Another process has just put it aside, and makes one: this one is as good.
      _ = try makeFile(in: folder)
      return nil
    }
    if found.st_ino != damaged { return nil }
    let other = nameAside(in: folder)
    // These belong to the damaged file, and would be applied to one that another process makes in its place.
    for end in ["-wal", "-journal"] { _ = folder.rename(fileName + end, to: other + end) }
    folder.remove("\(fileName)-shm")
    guard folder.rename(fileName, to: other) else {
      throw StoreFailure(
        SystemError(
          "cannot put the damaged \(quoted(folder.shown(fileName))) aside", errno: errno
        ).message)
    }
    removeMark(of: found.st_ino, in: folder)
    return (other, found.st_size == 0, try makeFile(in: folder))
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
    let newest = Schema.version(after: migrations)
    var version = newest
    do throws(DatabaseFailure) {
      let (database, journal) = try open(folder, isNew: isNew)
      version = isNew ? EmptyDatabase.version : try database.number("PRAGMA user_version") ?? 0
      if version < 1 { throw DatabaseFailure.noTables }
      if version <= newest {
        // The first statement of a connection opens the log.
        try setUp(database, journal, isNew: isNew)
        let store = StateStore(database, journal, in: folder)
        if version < newest { try store.migrate(from: version, by: migrations) }
        return store
      }
    } catch {
      throw StoreFailure(error, "open", folder)
    }
    throw .newer(version, than: newest, folder)
  }

  private static func setUp(
    _ database: Database, _ journal: JournalKind, isNew: Bool
  ) throws(DatabaseFailure) {
    switch journal {
    case .log:
      // The beginning of a new log waits for the disk, which a new file does not do either. Records are read and
      // written one after the other, so few pages are needed again: the cache has 200 KiB instead of 2,000.
      let synchronous = isNew ? "OFF" : "NORMAL"
      try database.execute("PRAGMA synchronous = \(synchronous); PRAGMA cache_size = -200")
      database.setCheckpointDistance(2000)
    case .rollback: try database.setUpRollback()
    }
  }

  private func migrate(from version: Int, by migrations: [String]) throws(DatabaseFailure) {
    let backup = "\(Self.fileName).v\(version)"
    folder.remove(backup)
    try database.execute("VACUUM INTO \(Database.literal(folder.path(of: backup)))")
    try Schema.migrate(database, from: version, by: migrations)
    let newest = Schema.version(after: migrations)
    // An older oprun looks for the version in the file.
    try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    notices.append(
      "\(folder.shown(Self.fileName)) now has the format of this oprun (version \(newest)); "
        + "\(folder.shown(backup)) has the old format")
  }

  /// Makes the file with its tables under another name, so that nobody finds half of it. False if another oprun has made
  /// one meanwhile, which is as good.
  private static func makeFile(in folder: StateFolder) throws(StoreFailure) -> Bool {
    let name = "\(fileName).\(randomName()).new"
    defer { folder.remove(name) }
    let file = openat(
      folder.descriptor, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else {
      throw StoreFailure(
        SystemError("cannot create \(quoted(folder.shown(fileName)))", errno: errno).message)
    }
    fchmod(file, 0o600)
    let isShared = folder.fileSystem.network != nil
    let error = EmptyDatabase.withBytes(isShared ? .rollback : .log) {
      writeFully($0, to: file) ? 0 : errno
    }
    close(file)
    guard error == 0 else {
      throw StoreFailure(
        SystemError("cannot create \(quoted(folder.shown(fileName)))", errno: error).message)
    }
    if linkat(folder.descriptor, name, folder.descriptor, fileName, 0) == 0 { return true }
    guard errno == EEXIST else {
      throw StoreFailure(
        SystemError("cannot create \(quoted(folder.shown(fileName)))", errno: errno).message)
    }
    return false
  }

  /// Does something with the database; failures are in words.
  func perform<Result>(
    _ action: String = "read", _ body: (Database) throws(DatabaseFailure) -> Result
  ) throws(StoreFailure) -> Result {
    do throws(DatabaseFailure) {
      return try body(database)
    } catch {
      throw Self.failure(error, action, folder)
    }
  }
}

// The only owner of SQLite: a connection and its statements. It knows no table.

import CSQLite
import Diagnostics

/// A failed call of SQLite.
struct DatabaseFailure: Error, Hashable {
  /// The kinds of failures that are handled differently.
  enum Kind: Hashable {
    /// Another process holds the lock.
    case locked
    /// The file is no database, or is damaged.
    case damaged
    case full
    /// Every other failure, which the program does not expect.
    case other
  }

  /// The failure for a file without tables.
  static let noTables = DatabaseFailure(code: SQLITE_NOTADB, reason: "it has no tables")

  /// The failure for a database that others use.
  static let otherUsers = DatabaseFailure(code: SQLITE_BUSY, reason: "others use it")

  /// The failure for a run that another one goes on with.
  static func overtaken(by run: String, on host: String) -> DatabaseFailure {
    var failure = DatabaseFailure(
      code: SQLITE_ABORT, reason: "run \(run) on \(quoted(host)) goes on with this one")
    failure.successor = run
    return failure
  }

  /// The failure for a number that oprun cannot have written.
  static func impossible(_ number: Int) -> DatabaseFailure {
    DatabaseFailure(code: SQLITE_CORRUPT, reason: "it contains the impossible number \(number)")
  }

  /// The failure for a database of which `PRAGMA integrity_check` says this. A page that could not be read may be sound:
  /// the words are the only place where SQLite tells that from damage.
  static func unsound(_ words: String) -> DatabaseFailure {
    let code = words.split(separator: "=").last.flatMap { Int32($0) } ?? SQLITE_CORRUPT
    let isUnread =
      words.containsText("failed to get page ")
      || [SQLITE_IOERR, SQLITE_NOMEM].contains(code & 0xff)
    return DatabaseFailure(code: isUnread ? SQLITE_IOERR : SQLITE_CORRUPT, reason: words)
  }

  let code: Int32
  /// SQLite's own words, in lower case: `database or disk is full`.
  let reason: String
  /// The run that goes on with the one that was to be recorded.
  private(set) var successor: String?

  init(code: Int32, reason: String) {
    self.code = code
    self.reason = reason
  }

  var kind: Kind {
    switch code & 0xff {
    case SQLITE_BUSY, SQLITE_LOCKED: .locked
    case SQLITE_CORRUPT, SQLITE_NOTADB: .damaged
    case SQLITE_FULL: .full
    default: .other
    }
  }
}

/// A connection to a database file.
final class Database {
  enum Mode {
    case writing
    case reading
    /// Reading a file to which nobody writes: nothing is made beside it, and nothing is locked.
    case readingUnchanged
  }

  private let handle: OpaquePointer

  /// Whether the path leads to another file by now, so that everything written to this one is lost. Says nothing
  /// about its log.
  var isLost: Bool {
    var hasMoved: Int32 = 0
    return sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved) == SQLITE_OK
      && hasMoved != 0
  }

  /// Waits at most this long for another process that writes.
  static let patience: Int32 = 10_000

  private static let setsNothingAside: Void = csqlite_set_nothing_aside()

  init(_ path: String, _ mode: Mode) throws(DatabaseFailure) {
    Self.setsNothingAside
    var opened: OpaquePointer?
    let access =
      switch mode {
      case .writing: SQLITE_OPEN_READWRITE
      case .reading: SQLITE_OPEN_READONLY
      case .readingUnchanged: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
      }
    let name = mode == .readingUnchanged ? Self.unchangedFile(path) : path
    let code = sqlite3_open_v2(name, &opened, access | SQLITE_OPEN_NOMUTEX, nil)
    guard code == SQLITE_OK, let opened else {
      let failure = DatabaseFailure(code: code, reason: Self.words(opened, code))
      sqlite3_close_v2(opened)
      throw failure
    }
    handle = opened
    sqlite3_busy_timeout(handle, Self.patience)
    _ = csqlite_distrust_schema(handle)
    _ = csqlite_keep_log_on_close(handle)
  }

  deinit { sqlite3_close_v2(handle) }

  /// The address of a file that does not change, in SQLite's form.
  private static func unchangedFile(_ path: String) -> String {
    var address = "file:"
    for byte in path.utf8 {
      let isPlain =
        byte != UInt8(ascii: "%") && byte != UInt8(ascii: "?") && byte != UInt8(ascii: "#")
      if isPlain, byte < 0x80 {
        address.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        address += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
    }
    return address + "?immutable=1"
  }

  /// The log is copied back when a commit finds this many pages in it.
  func setCheckpointDistance(_ pageCount: Int32) {
    sqlite3_wal_autocheckpoint(handle, pageCount)
  }

  /// Whether a call waits for another process that writes.
  func setPatience(_ isPatient: Bool) {
    sqlite3_busy_timeout(handle, isPatient ? Self.patience : 0)
  }

  /// Runs statements that return nothing that is wanted.
  func execute(_ text: String) throws(DatabaseFailure) {
    let code = sqlite3_exec(handle, text, nil, nil, nil)
    if code != SQLITE_OK { throw failure(code) }
  }

  func prepare(_ text: String) throws(DatabaseFailure) -> Statement {
    var statement: OpaquePointer?
    let code = sqlite3_prepare_v2(handle, text, -1, &statement, nil)
    guard code == SQLITE_OK, let statement else { throw failure(code) }
    return Statement(statement, self)
  }

  /// The single number that a query gives; nil if it gives none.
  func number(_ text: String) throws(DatabaseFailure) -> Int? {
    let statement = try prepare(text)
    return try statement.next() ? try statement.number(0) : nil
  }

  /// The single text that a query gives.
  func text(_ query: String) throws(DatabaseFailure) -> String? {
    let statement = try prepare(query)
    return try statement.next() ? statement.text(0) : nil
  }

  /// A text as it stands in a statement.
  static func literal(_ text: String) -> String {
    var literal = "'"
    for character in text.unicodeScalars {
      literal.unicodeScalars.append(character)
      if character == "'" { literal.unicodeScalars.append(character) }
    }
    return literal + "'"
  }

  /// The number of the row that was inserted last.
  var lastRow: Int { Int(sqlite3_last_insert_rowid(handle)) }

  /// Does all of the body, or nothing.
  func transaction(
    _ body: () throws(DatabaseFailure) -> Void
  ) throws(DatabaseFailure) {
    try execute("BEGIN IMMEDIATE")
    do throws(DatabaseFailure) {
      try body()
      try execute("COMMIT")
    } catch {
      sqlite3_exec(handle, "ROLLBACK", nil, nil, nil)
      throw error
    }
  }

  fileprivate func failure(_ code: Int32) -> DatabaseFailure {
    DatabaseFailure(code: sqlite3_extended_errcode(handle), reason: Self.words(handle, code))
  }

  private static func words(_ handle: OpaquePointer?, _ code: Int32) -> String {
    guard let text = handle.map({ sqlite3_errmsg($0) }) ?? sqlite3_errstr(code) else {
      return "error \(code)"
    }
    let words = String(cString: text)
    let reason = words.prefix(1).lowercased() + words.dropFirst()
    // "disk I/O error" is said of a full disk, too.
    let cause = code & 0xFF == SQLITE_IOERR ? sqlite3_system_errno(handle) : 0
    return cause == 0 ? reason : "\(reason): \(SystemError.reason(cause))"
  }
}

/// A prepared statement. Places of values count from 1, columns from 0.
final class Statement {
  private let handle: OpaquePointer
  private let database: Database

  fileprivate init(_ handle: OpaquePointer, _ database: Database) {
    self.handle = handle
    self.database = database
  }

  deinit { sqlite3_finalize(handle) }

  @discardableResult
  func bind(_ place: Int32, _ number: Int?) -> Statement {
    if let number {
      sqlite3_bind_int64(handle, place, Int64(number))
    } else {
      sqlite3_bind_null(handle, place)
    }
    return self
  }

  @discardableResult
  func bind(_ place: Int32, _ text: String?) -> Statement {
    guard var text else {
      sqlite3_bind_null(handle, place)
      return self
    }
    text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { characters in
        // An empty text is not NULL.
        _ = csqlite_bind_text(handle, place, characters.baseAddress, Int32(characters.count))
        if characters.baseAddress == nil { _ = csqlite_bind_text(handle, place, "", 0) }
      }
    }
    return self
  }

  /// Runs a statement that gives no rows, and makes it ready for the next time.
  func run() throws(DatabaseFailure) {
    let code = sqlite3_step(handle)
    if code != SQLITE_DONE && code != SQLITE_ROW {
      let failure = database.failure(code)
      reset()
      throw failure
    }
    reset()
  }

  /// Goes to the next row; false after the last one.
  func next() throws(DatabaseFailure) -> Bool {
    let code = sqlite3_step(handle)
    if code == SQLITE_ROW { return true }
    let failure = code == SQLITE_DONE ? nil : database.failure(code)
    reset()
    if let failure { throw failure }
    return false
  }

  /// Makes it ready for the next time. Values that were bound are forgotten.
  func reset() {
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
  }

  /// A time in microseconds, a size, a count or an id. Throws if it is larger than oprun could have
  /// written, so two of these can be added, and microseconds be made nanoseconds.
  func number(_ column: Int32) throws(DatabaseFailure) -> Int? {
    guard let number = bits(column) else { return nil }
    guard number.magnitude <= Self.largestNumber else { throw .impossible(number) }
    return number
  }

  /// The status of a command, or the id of a process. Throws if it is something else.
  func int32(_ column: Int32) throws(DatabaseFailure) -> Int32? {
    guard let number = bits(column) else { return nil }
    guard let number = Int32(exactly: number) else { throw .impossible(number) }
    return number
  }

  /// A number of which all values are possible, such as a fingerprint.
  func bits(_ column: Int32) -> Int? {
    let number = sqlite3_column_int64(handle, column)
    // SQLite gives 0 for NULL, too.
    if number == 0, sqlite3_column_type(handle, column) == SQLITE_NULL { return nil }
    return Int(number)
  }

  /// The largest number that is expected: in microseconds, the time from 1970 until 2112.
  private static let largestNumber = 1 << 52

  func text(_ column: Int32) -> String? {
    guard let text = sqlite3_column_text(handle, column) else { return nil }
    let count = Int(sqlite3_column_bytes(handle, column))
    return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
  }
}

/// The version of SQLite.
package var databaseVersion: String { String(cString: sqlite3_libversion()) }

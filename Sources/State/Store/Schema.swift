// The tables, and how older databases become newer ones.

import Diagnostics

enum Schema {
  /// The version that this program writes, in `PRAGMA user_version`. It follows from the migrations.
  static var version: Int { version(after: migrations) }

  /// The version to which these migrations lead.
  static func version(after migrations: [String]) -> Int { migrations.count + 1 }

  /// The statements that make a database of version 1. They never change: what is new is a migration.
  private static let first = """
    CREATE TABLE run(
      id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, pipeline TEXT NOT NULL, file TEXT,
      request TEXT NOT NULL, resumed INTEGER, started INTEGER NOT NULL, duration INTEGER,
      exit_status INTEGER, stop TEXT, host TEXT NOT NULL, processors INTEGER NOT NULL,
      process INTEGER NOT NULL, cookie TEXT NOT NULL, mark TEXT, steps INTEGER NOT NULL,
      ok INTEGER, failed INTEGER, allowed INTEGER, kept INTEGER, log_bytes INTEGER);
    CREATE TABLE step(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
    CREATE TABLE result(
      run INTEGER NOT NULL, step INTEGER NOT NULL, place INTEGER NOT NULL, outcome INTEGER,
      cause TEXT, started INTEGER, duration INTEGER, attempts INTEGER, status INTEGER, detail TEXT,
      processor INTEGER, memory INTEGER, output INTEGER, written INTEGER, resolved INTEGER,
      origin INTEGER, PRIMARY KEY(run, step)) WITHOUT ROWID;
    CREATE TABLE command(
      run INTEGER NOT NULL, step INTEGER NOT NULL, role TEXT NOT NULL, started INTEGER,
      duration INTEGER, status INTEGER, detail TEXT, processor INTEGER, memory INTEGER,
      output INTEGER, PRIMARY KEY(run, step, role)) WITHOUT ROWID;
    CREATE TABLE output(
      run INTEGER NOT NULL, step INTEGER NOT NULL, name TEXT NOT NULL, value TEXT,
      PRIMARY KEY(run, step, name)) WITHOUT ROWID;
    CREATE TABLE note(name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
    """

  /// Makes the table of what was changed in runs from outside, unless it is there.
  static let changes = """
    CREATE TABLE IF NOT EXISTS change(
      id INTEGER PRIMARY KEY, run INTEGER NOT NULL, at INTEGER NOT NULL, user TEXT NOT NULL,
      action TEXT NOT NULL, words TEXT NOT NULL);
    """

  /// Makes the table of commands that ran elsewhere, unless it is there.
  static let placements = """
    CREATE TABLE IF NOT EXISTS placement(
      run INTEGER NOT NULL, step INTEGER NOT NULL, role TEXT NOT NULL, job TEXT NOT NULL,
      node TEXT, reason TEXT, PRIMARY KEY(run, step, role)) WITHOUT ROWID;
    """

  /// Makes the table of runs that repeat another one, unless it is there.
  static let repetitions = """
    CREATE TABLE IF NOT EXISTS repetition(run INTEGER PRIMARY KEY, repeats INTEGER NOT NULL);
    """

  /// Makes the table of what is known of few runs, unless it is there.
  static let facts = """
    CREATE TABLE IF NOT EXISTS fact(
      run INTEGER NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY(run, name)
    ) WITHOUT ROWID;
    """

  /// Whether there is a table that is made only when it is needed.
  static func has(_ table: String, in database: Database) throws(DatabaseFailure) -> Bool {
    let tables = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = '\(table)'"
    return try database.number(tables) == 1
  }

  /// The statements that lead from each version to the next one, the first of them from version 1
  /// to 2.
  static let migrations: [String] = []

  /// Makes the tables in an empty file: those of version 1, and then what the migrations make of them. Programs take
  /// `EmptyDatabase` instead, which is what this makes.
  static func make(
    in database: Database, by migrations: [String] = migrations
  ) throws(DatabaseFailure) {
    try database.execute("PRAGMA page_size = 1024; PRAGMA journal_mode = OFF")
    try database.transaction { () throws(DatabaseFailure) in
      try database.execute(first)
      try lead(database, from: 1, by: migrations)
    }
    try database.execute("PRAGMA journal_mode = WAL")
  }

  /// Brings a database to the newest version, in one transaction.
  static func migrate(
    _ database: Database, from version: Int, by migrations: [String]
  ) throws(DatabaseFailure) {
    try database.transaction { () throws(DatabaseFailure) in
      // Another oprun may have done it meanwhile.
      let found = try database.number("PRAGMA user_version") ?? version
      try lead(database, from: found, by: migrations)
    }
  }

  private static func lead(
    _ database: Database, from version: Int, by migrations: [String]
  ) throws(DatabaseFailure) {
    for (index, text) in migrations.enumerated() where index + 1 >= version {
      try database.execute(text)
    }
    try database.execute("PRAGMA user_version = \(Self.version(after: migrations))")
  }
}

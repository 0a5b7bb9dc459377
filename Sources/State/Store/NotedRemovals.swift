// Runs that have no rows any more, and whose directories are still to be removed: noted in the transaction that removes
// the rows. Nothing else tells such a directory from that of a run whose record was lost.

extension Database {
  fileprivate static let removal = "remove "

  func noteRemovals(of runs: [String]) throws(DatabaseFailure) {
    let note = try prepare("INSERT OR IGNORE INTO note(name) VALUES(?)")
    for run in runs { try note.bind(1, Self.removal + run).run() }
  }
}

extension StateStore {
  func notedRemovals() throws(StoreFailure) -> [String] {
    try perform { database throws(DatabaseFailure) in
      let rows = try database.prepare("SELECT name FROM note WHERE name GLOB ? ORDER BY name")
      rows.bind(1, Database.removal + "*")
      var runs: [String] = []
      while try rows.next() {
        if let name = rows.text(0) { runs.append(String(name.dropFirst(Database.removal.count))) }
      }
      return runs
    }
  }

  func forgetRemovals(of runs: [String]) throws(StoreFailure) {
    if runs.isEmpty { return }
    try perform("write") { database throws(DatabaseFailure) in
      try database.transaction { () throws(DatabaseFailure) in
        let note = try database.prepare("DELETE FROM note WHERE name = ?")
        for run in runs { try note.bind(1, Database.removal + run).run() }
      }
    }
  }
}

// A database that somebody has found damaged: marked for the next run, which reads all of it and, if that is so, puts
// it aside. docs/design-state.md.

import Diagnostics
import Glibc
package import RunFiles

extension StateStore {
  /// The name of the mark of a file that seems to be damaged. It has the number of its inode: of another file in its
  /// place it says nothing.
  private static func mark(of number: ino_t) -> String { "\(fileName).suspect-\(number)" }

  /// The failure of a call of SQLite in words. If it met damage, the file is marked: whoever met it may only read, or be
  /// in the middle of a run, of which the file has the rest. Damage that keeps the file from being opened needs no mark:
  /// the next run meets it, too.
  static func failure(
    _ failure: DatabaseFailure, _ action: String, _ folder: StateFolder
  ) -> StoreFailure {
    if failure.kind == .damaged, let number = status(of: fileName, in: folder)?.st_ino {
      let file = openat(
        folder.descriptor, mark(of: number), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
      if file >= 0 { close(file) }
    }
    return StoreFailure(failure, action, folder)
  }

  static func isMarked(_ number: ino_t, in folder: StateFolder) -> Bool {
    faccessat(folder.descriptor, mark(of: number), F_OK, AT_SYMLINK_NOFOLLOW) == 0
  }

  static func removeMark(of number: ino_t, in folder: StateFolder) {
    folder.remove(mark(of: number))
  }

  /// Opens the database for a run that begins; nil if there is none yet. One that is damaged is put aside. `run` is the
  /// name of the run itself, if it has one.
  package static func findForRun(
    named run: String?, in folder: StateFolder
  ) throws(StoreFailure) -> StateStore? {
    guard let status = status(of: fileName, in: folder), status.st_size > 0 else { return nil }
    return try make(in: folder, for: run)
  }

  /// Reads all of a database that somebody has found damaged, and throws if it is. A reader may have been wrong who read
  /// the file while another process wrote to it. As long as it is needed, which is asked before and after, nothing is done:
  /// without their database, runs in progress would end.
  func examineIfMarked(unless isNeeded: () -> Bool) throws(StoreFailure) {
    guard let number, Self.isMarked(number, in: folder), !isNeeded() else { return }
    do throws(StoreFailure) {
      try examine()
      Self.removeMark(of: number, in: folder)
    } catch {
      // A run may have begun meanwhile, and records into this file: the next run does it.
      if error.isDamage, isNeeded() { return }
      throw error
    }
  }

  /// Reads all of it; throws if something is damaged.
  private func examine() throws(StoreFailure) {
    try perform { database throws(DatabaseFailure) in
      let words = try database.text("PRAGMA integrity_check(1)") ?? ""
      // The first line may name the database.
      let verdict = words.split(separator: "\n").last.map(String.init) ?? ""
      if verdict != "ok" { throw DatabaseFailure.unsound(verdict) }
    }
    // Its pages may be whole, and have numbers that no run has written.
    for name in try runNames() {
      guard let run = try self.run(named: name) else { continue }
      _ = try earlierRun(named: name)
      _ = try (steps(of: run), allCommands(of: run), placements(of: run), changes(of: run))
    }
  }

  /// Whether other runs record into it.
  func hasRunInProgress(besides run: String?) -> Bool {
    folder.names(in: "runs").contains { $0 != run && folder.run(named: $0)?.isInUse == true }
  }
}

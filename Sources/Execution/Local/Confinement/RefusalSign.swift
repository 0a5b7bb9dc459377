// The words by which a line of a program's output says that something was refused. It knows no
// paths.

import Diagnostics

/// The kind of words in a line that may report a refusal.
enum RefusalSign {
  /// The words of the C library and of programs for errors that a confinement causes.
  case refused
  /// A path is not a directory.
  case blocked
  /// A file exists already, or is not what the program takes. No confinement causes such an error:
  /// only a placeholder in the place of an output does.
  case taken
  /// Ends of words of programs that do not say why they cannot open a file: `awk: can't open x.h`.
  case vague
  /// Git finds no repository: it says the same if it may not look at the one that there is.
  case noRepository

  private static let refusals = [
    "ermission denied", "EACCES", "Invalid cross-device link",
  ]
  private static let takenWords = ["File exists", "already exists", "not recognized"]
  private static let vagueWords = [
    "t open", "to open", "t read", "to read", "t load", "to load",
  ]

  init?(of line: Substring) {
    let has = { (words: String) in line.containsText(words) }
    if Self.refusals.contains(where: has) {
      self = .refused
    } else if Self.takenWords.contains(where: has) {
      self = .taken
    } else if has("ot a directory") {
      self = .blocked
    } else if has("not a git repository") {
      self = .noRepository
    } else if Self.vagueWords.contains(where: has) {
      self = .vague
    } else {
      return nil
    }
  }
}

// The candidates that a shell offers for a word.

/// A word that a shell may put in place of an unfinished one.
struct CompletionCandidate: Hashable {
  let word: String
  let description: String

  init(_ word: String, _ description: String = "") {
    self.word = word
    self.description = description
  }
}

// Words that runs print, and that are neither outcomes nor keys.

extension Explanation {
  static func runWords(_ word: String) -> [Explanation] {
    sentencesOfRunWords[word].map {
      [Explanation(kind: "a word in the output of runs", sentence: $0)]
    } ?? []
  }

  static let sentencesOfRunWords = [
    "kept":
      "In a resumed run: the step has the result that it had in the earlier run. It had succeeded there, it has not been "
      + "edited, and nothing that it depends on runs again.",
    "restored":
      "The step is up to date, and outputs that were missing or had been changed were put back from the cache.",
    "confined":
      "The command of a cached step reaches only the files that its 'cache' declares, and the programs and libraries of the "
      + "system.",
    "left":
      "Of a run: it has ended, and jobs of it go on in Slurm; 'oprun resume' waits for them. Of a step: it has such a job, or "
      + "was to run after one. Processes that are left behind were started by a command that has ended.",
  ]
}

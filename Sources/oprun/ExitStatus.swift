// The exit statuses that are decided here; a run's own comes from `RunEnd`.

enum ExitStatus {
  static let success: Int32 = 0
  /// Some step would run, with `--dry-run --exit-code`.
  static let wouldRun: Int32 = 1
  /// A file would change, with `fmt --check`.
  static let wouldChange: Int32 = 1
  /// `oprun doctor`: something that runs need is missing.
  static let unhealthy: Int32 = 1
  static let usage: Int32 = 2
  static let invalidPipeline: Int32 = 3
  static let emptySelection: Int32 = 4
  /// No such run is in progress.
  static let notInProgress: Int32 = 4
  /// A run in progress does not do what it was asked.
  static let refused: Int32 = 1
  /// Another process runs the run that is to be resumed, or holds the lock.
  static let inUse: Int32 = 5
  static let internalError: Int32 = 70
  /// The state directory or standard output could not be written.
  static let cannotWrite: Int32 = 74

  /// The statuses of a run that cannot start.
  static let ofUnstartedRun = [usage, invalidPipeline, internalError, cannotWrite]

  /// Every status and its meaning, for the reference.
  static let meanings: [(status: String, meaning: String)] = [
    ("0", "every step is ok, including allowed failures"),
    (
      "1",
      "a step failed (with `--strict` also an allowed failure), or its queue has width 0; with `--dry-run --exit-code`, something would run; with `fmt --check`, a file would change; a case of `oprun test` failed; a run in progress refused a request; or `oprun doctor` found that something is missing"
    ),
    (
      "2",
      "the command line or a parameter is wrong, a named step does not exist, or a secret is missing or cannot be used; nothing ran; or there is no recorded run to show or resume"
    ),
    ("3", "the pipeline is invalid or its file cannot be read; nothing ran"),
    (
      "4",
      "no step is named, and all are manual; nothing ran; or the named run is not in progress"
    ),
    (
      "5",
      "the run that is to be resumed is still running, or another run holds the lock (`--no-wait`)"
    ),
    ("70", "internal error, or the system refused something that a run needs"),
    ("74", "the state directory or standard output cannot be written"),
    ("124", "the run reached its time limit"),
    ("128 + N", "stopped by signal N: 130 by INT, 143 by TERM, 129 by HUP, 138 by USR1"),
  ]
}

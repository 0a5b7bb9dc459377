// The options `--from`, `--only`, `--skip` and `--failed`.

/// Part of a pipeline that is to run again.
package struct ResumeSelection: Hashable, Sendable {
  /// Steps that run again, with all that depends on them.
  package var from: [String] = []
  /// Steps that run again; nothing else does.
  package var only: [String] = []
  package var skipped: [String] = []
  /// Only steps that failed run.
  package var isOfFailed = false

  package init() {}
}

// The state after a wait for the lock of a pipeline: the lock, and the fact that time has passed.

import Diagnostics
import Pipelines
import Plans
import RunFiles

/// The lock of a pipeline that this process has waited for.
final class PipelineLock {
  private var held: (lock: StateLock, key: String)?
  /// True if files that were read before the wait may have changed.
  private var isStale = false

  /// Notes a wait after which the command begins again with the present files.
  func beginAgain(holding lock: StateLock, of key: String) {
    held = (lock, key)
    isStale = true
  }

  /// Takes the lock that was waited for, if it is that of this pipeline; another one is freed.
  func takeHeld(of key: String) -> StateLock? {
    defer { held = nil }
    return held?.key == key ? held?.lock : nil
  }

  /// Frees the lock, if it was not taken.
  func free() { held = nil }

  /// True, once, if the command is to begin again.
  func takeStale() -> Bool {
    defer { isStale = false }
    return isStale
  }
}

extension Tool {
  /// Performs a run, and does so again with the present files if it had to wait for the lock of the
  /// pipeline and they have changed since they were read.
  func withFreshView<Status>(
    _ body: () throws(UsageFailure) -> Status
  ) throws(UsageFailure) -> Status {
    while true {
      let status = try body()
      if !pipelineLock.takeStale() { return status }
    }
  }

  /// True if a file of the pipeline has changed since it was read.
  func hasChanged(_ plan: Plan) -> Bool {
    plan.sources.files.contains { file in
      file.path != Self.standardInputName && (try? readPipelineFile(file.path)) != file.bytes
    }
  }
}

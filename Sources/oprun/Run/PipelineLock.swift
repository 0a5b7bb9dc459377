// What a wait for the lock of a pipeline leaves behind: the lock, and the knowledge that time has passed.

import Diagnostics
import Pipelines
import Plans
import RunFiles

/// The lock of the pipeline of this process, once it was waited for.
final class PipelineLock {
  private var held: (lock: StateLock, key: String)?
  /// Whether what was read before the wait may be old.
  private var isStale = false

  /// Notes a wait after which the command begins again with what there is now.
  func beginAgain(holding lock: StateLock, of key: String) {
    held = (lock, key)
    isStale = true
  }

  /// The lock that was waited for, if it is that of this pipeline; another one is freed.
  func takeHeld(of key: String) -> StateLock? {
    defer { held = nil }
    return held?.key == key ? held?.lock : nil
  }

  /// Gives the lock back, if it was not used yet.
  func free() { held = nil }

  /// Whether the command is to begin again; true once.
  func takeStale() -> Bool {
    defer { isStale = false }
    return isStale
  }
}

extension Tool {
  /// Performs a run. If it had to wait for the lock of the pipeline, and what it had read is old since, it reads all of
  /// that again.
  func withFreshView<Status>(
    _ body: () throws(UsageFailure) -> Status
  ) throws(UsageFailure) -> Status {
    while true {
      let status = try body()
      if !pipelineLock.takeStale() { return status }
    }
  }

  /// Whether a file of the pipeline says something else than when it was read.
  func hasChanged(_ plan: Plan) -> Bool {
    plan.sources.files.contains { file in
      file.path != Self.standardInputName && (try? readPipelineFile(file.path)) != file.bytes
    }
  }
}

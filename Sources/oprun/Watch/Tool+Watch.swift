// `oprun watch`: runs a pipeline, and runs the affected part again when files change.

import Caching
import Diagnostics
import Execution
import Glibc
import Pipelines
import Plans
import Reporting

extension Tool {
  func watch(_ invocation: Invocation) throws(UsageFailure) -> Int32 {
    guard invocation.operands[0] != "-" else { throw .standardInputWatched }
    switch watchedPipeline(invocation, ReadPaths()) {
    case .failure(let exit): return exit.status
    case .success(let pipeline):
      do throws(SystemError) {
        return try Watcher(self, invocation, pipeline).perform()
      } catch {
        sayWhatIsRefused(error)
        return ExitStatus.internalError
      }
    }
  }

  private func sayWhatIsRefused(_ error: SystemError) {
    switch error.errno {
    case ENOSPC:
      say(
        error.action,
        help:
          "raise fs.inotify.max_user_watches, or declare 'inputs' of all steps, so that fewer are watched"
      )
    case EMFILE:
      say(
        error.action,
        help: "raise fs.inotify.max_user_instances, or end other programs that watch files")
    case ENOENT: say(error.action)
    default: say(error.message)
    }
  }

  /// The pipeline in its present state, and the files that it was read from.
  func watchedPipeline(
    _ invocation: Invocation, _ reads: ReadPaths
  ) -> Result<WatchedPipeline, ReportedFailure> {
    let path = invocation.operands[0]
    reads.note(path)
    let options = noting(reads, planningOptions(invocation, nil))
    guard let workspace = try? currentFolder(), var pipeline = load(path, options) else {
      return .failure(ReportedFailure(status: ExitStatus.invalidPipeline))
    }
    let secrets = pipeline.secrets
    let reading = readSecrets(of: &pipeline)
    return plan(invocation, pipeline, options, reading).map { plan in
      WatchedPipeline(
        plan, secrets, sources: reads.absolutePaths(below: workspace), workspace: workspace,
        state: FilePattern(path: stateDirectory(invocation), below: workspace).path)
    }
  }
}

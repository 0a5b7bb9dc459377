// Where a run keeps its files. The one place that turns an id into a path.

package import Scheduling

/// The folder of one run, `.oprun/runs/<run>`, and the names of the files in it.
package struct RunDirectory: Hashable, Sendable {
  /// Without a slash at the end; as given, or relative to where oprun was started.
  package let path: String

  package init(path: String) { self.path = path }

  /// The raw output of one command: `<step>.<attempt>.log`, `<step>.on_success.1.log`. A command
  /// that prints nothing leaves no log. Ids of steps hold no slash and do not start with a dot.
  package func log(of step: String, _ trial: Trial) -> String {
    file(step, trial, "log")
  }

  /// The file behind `OPRUN_OUTPUT`; it exists once the command writes to it.
  package func outputs(of step: String, _ trial: Trial) -> String {
    file(step, trial, "outputs")
  }

  private func file(_ step: String, _ trial: Trial, _ kind: String) -> String {
    switch trial {
    case .attempt(let number): "\(path)/\(step).\(number).\(kind)"
    case .hook(let hook, let index): "\(path)/\(step).\(hook.key).\(index).\(kind)"
    }
  }

  /// The step name in the logs of the run's own hooks; no step can have it.
  package static let runHookName = "@run"
}

extension HookKind {
  /// The key in the file: `on_success`.
  package var key: String {
    switch self {
    case .onSuccess: "on_success"
    case .onFailure: "on_failure"
    case .onCancel: "on_cancel"
    case .onComplete: "on_complete"
    }
  }
}

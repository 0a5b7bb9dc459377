// Hooks for tests that are not about a certain hook.

import Plans
import Scheduling

extension Hooks {
  /// One for each kind, with a limit of 40 s.
  static let ofEachKind: Hooks = {
    let second: Nanoseconds = 1_000_000_000
    let hook = HookCommand.known(.script(ScriptText("hook")), timeout: 40 * second)
    var hooks = Hooks()
    hooks.onSuccess = [hook]
    hooks.onFailure = [hook]
    hooks.onCancel = [hook]
    hooks.onComplete = [hook]
    return hooks
  }()
}

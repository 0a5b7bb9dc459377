// The names of keys in other tools: GitHub Actions, GitLab CI, Taskfile and Dagu. Such a key is
// unknown here, but its meaning is known.

extension StepKey {
  package static let elsewhere: [String: StepKey] = [
    "needs": .dependsOn, "deps": .dependsOn, "depends": .dependsOn,
    "script": .run, "cmd": .run, "cmds": .run, "command": .run, "commands": .run,
    "dir": .workingDir, "working-directory": .workingDir,
    "timeout-minutes": .timeout, "timeout_sec": .timeout,
    "continue-on-error": .allowFailure, "continue_on": .allowFailure,
    "ignore_error": .allowFailure,
    "strategy": .matrix, "parallel": .matrix,
    "variables": .env, "vars": .env,
    "retry_policy": .retry,
    "rules": .condition, "preconditions": .condition, "when": .condition,
    "resource_group": .mutex, "concurrency": .mutex,
    "after_script": .onComplete, "defer": .onComplete,
    "output": .outputs,
  ]
}

extension PipelineKey {
  package static let elsewhere: [String: PipelineKey] = [
    "jobs": .steps, "tasks": .steps, "stages": .steps,
    "variables": .params, "inputs": .params,
    "includes": .include, "max_active_steps": .maxParallel, "concurrency": .maxParallel,
    "dir": .workingDir, "timeout_sec": .timeout,
  ]

  package static let foreign: [String: ForeignFile] = [
    "schedule": .dagu, "handler_on": .dagu, "mail_on": .dagu, "max_active_runs": .dagu,
    "trigger": .azure, "pool": .azure, "kind": .drone, "agents": .buildkite,
  ]
}

// The names of keys in other tools: GitHub Actions, GitLab CI, Taskfile and Dagu. Such a key is
// unknown here, but its meaning is known. Messages and 'oprun explain' know the same ones.

import Diagnostics
import Scheduling

extension StepKey {
  package static let elsewhere: [String: StepKey] = [
    "needs": .dependsOn, "deps": .dependsOn, "depends": .dependsOn,
    "dependencies": .dependsOn, "requires": .dependsOn, "after": .dependsOn,
    "script": .run, "cmd": .run, "cmds": .run, "command": .run, "commands": .run,
    "sh": .run, "exec": .run,
    "dir": .workingDir, "working-directory": .workingDir, "cwd": .workingDir,
    "workdir": .workingDir, "directory": .workingDir,
    "timeout-minutes": .timeout, "timeout_sec": .timeout,
    "continue-on-error": .allowFailure, "continue_on": .allowFailure,
    "continue_on_error": .allowFailure,
    "ignore_error": .allowFailure, "ignore_errors": .allowFailure,
    "strategy": .matrix, "parallel": .matrix,
    "variables": .env, "vars": .env, "environment": .env,
    "retry_policy": .retry, "retries": .retry, "attempts": .retry, "max_retries": .retry,
    "desc": .description, "summary": .description, "label": .name, "title": .name,
    "sources": .cache, "generates": .cache,
    "rules": .condition, "when": .condition, "only": .condition,
    "on_error": .onFailure,
    "resource_group": .mutex, "concurrency": .mutex,
    "after_script": .onComplete, "defer": .onComplete,
    "output": .outputs, "params": .with, "parameters": .with,
    "services": .background, "healthcheck": .background, "for": .matrix,
    "interactive": .tty, "signal_on_stop": .stop, "stop_signal": .stop,
    "stop_grace_period": .stop,
  ]
}

extension RetryKey {
  package static let elsewhere: [String: RetryKey] = [
    "count": .limit, "times": .limit, "max": .limit, "attempts": .limit, "max_attempts": .limit,
    "retries": .limit, "interval": .delay, "interval_sec": .delay, "wait": .delay,
  ]
}

extension WaitKey {
  package static let elsewhere: [String: WaitKey] = [
    "port": .tcp, "host": .tcp, "url": .http, "path": .file, "run": .command, "cmd": .command,
    "interval": .every,
  ]
}

extension HookCommandKey {
  package static let elsewhere: [String: HookCommandKey] = [
    "script": .run, "cmd": .run, "command": .run, "commands": .run, "sh": .run,
  ]

  package static let advice = [
    "env": "a hook has the variables of its step, and a hook of the run those of 'env' at top level"
  ]
}

extension DependencyKey {
  package static let elsewhere: [String: DependencyKey] = [
    "id": .step, "job": .step, "task": .step, "name": .step, "condition": .when,
  ]
}

extension ParamKey {
  package static let elsewhere: [String: ParamKey] = [
    "choices": .choices, "options": .choices, "values": .choices, "allowed": .choices,
    "regex": .pattern, "desc": .description,
  ]
}

extension PipelineKey {
  package static let elsewhere: [String: PipelineKey] = [
    "jobs": .steps, "tasks": .steps, "stages": .steps,
    "variables": .params, "inputs": .params,
    "includes": .include, "max_active_steps": .maxParallel, "concurrency": .mutex,
    "dir": .workingDir, "timeout_sec": .timeout, "env_file": .dotenv,
    "failfast": .failurePolicy, "fail-fast": .failurePolicy,
    "environment": .env, "parallel": .maxParallel, "on_error": .onFailure,
  ]

  package static let foreign: [String: ForeignFile] = [
    "schedule": .dagu, "handler_on": .dagu, "mail_on": .dagu, "max_active_runs": .dagu,
    "trigger": .azure, "pool": .azure, "kind": .drone, "agents": .buildkite,
  ]
}

/// Keys of other tools for which no single key here has the same meaning.
package enum KeysElsewhere {
  /// The replacements for such keys.
  package static let advice: [String: String] = {
    let container =
      "steps are commands; one that starts a container is 'run: docker run --rm …'"
    let files = "files stay where they are from step to step, so nothing passes them on"
    let hooks =
      "these are keys, at top level and in steps: \(inWords(HookKind.allCases.map(\.key), last: "and"))"
    return [
      "image": container, "container": container, "docker": container,
      "artifacts": files, "upload": files, "persist": files,
      "extends":
        "keys for all steps stand in 'defaults'; keys for some of them in an anchor, which '<<' merges",
      "before_script":
        "write it at the beginning of 'run', or make it a step that others depend on",
      "stage":
        "the order comes from 'depends_on', from 'sequence: true', or from groups ('steps')",
      "handler_on": hooks, "handlers": hooks, "hooks": hooks,
      "preconditions":
        "a step that fails if they do not hold, which this one has in 'depends_on'; 'if' skips a step, and the run goes on",
      "ports":
        "steps use the ports of this machine; those of a container are options of 'docker run'",
      "volumes":
        "steps use the directories of this machine; those of a container are options of 'docker run'",
      "secrets":
        "declare it in 'secrets' at top level, and pass it on: env: {NAME: \"${{ secrets.NAME }}\"}",
      "interruptible":
        "a later run does not cancel one in progress; with 'mutex: pipeline' it waits for it",
    ]
  }()

  /// The replacements for conditions of other tools, such as the values of 'when'.
  static let conditions: [String: String] = {
    let (failure, success, always) = (
      "write 'if: failure()'", "leave it out: 'if: success()' is the default",
      "write 'if: always()'"
    )
    return [
      "on_failure": failure, "failure": failure, "failed": failure, "on_success": success,
      "success": success, "succeeded": success, "always": always, "manual": "write 'manual: true'",
    ]
  }()

  /// The replacements for words of other tools that are not keys.
  package static let words: [String: String] = [
    "GITHUB_ENV":
      "write NAME=VALUE to $OPRUN_OUTPUT, and in the steps that need it env: {NAME: \"${{ steps.ID.outputs.NAME }}\"}",
    "GITHUB_PATH":
      "set the variable in 'env', at top level or of a step: env: {PATH: \"/opt/bin:${{ env.PATH }}\"}",
    "GITHUB_OUTPUT":
      "write NAME=VALUE to $OPRUN_OUTPUT, which later steps read as steps.ID.outputs.NAME; outputs of the whole pipeline "
      + "get into the file with --outputs \"$GITHUB_OUTPUT\"",
    "expand":
      "a step that has 'map' in 'depends_on' waits for all instances of 'map'; the files are patterns in 'inputs', which "
      + "also find what earlier runs left",
    "checkpoint":
      "a matrix of an output of a step before: matrix: {sample: \"${{ steps.ID.outputs.samples }}\"}",
    "rule": "a step with 'cache: {inputs, outputs}'; the order comes from 'depends_on'",
    "wildcards":
      "a matrix: with matrix: {sample: [A, B]}, ${{ matrix.sample }} is the value of an instance",
  ]
}

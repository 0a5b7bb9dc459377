// From a step to a command: a plain value, made without querying the machine.

import Pipelines
import Plans
import Running
import Scheduling
import TestSupport
import Testing

@testable import Execution

@Suite(.blocking) struct CommandBuilderTests {
  private let folder = TemporaryRun()

  private func commands(_ pipeline: String, secrets: [String: String] = [:]) throws -> [Command] {
    let loaded = LoadedPipeline(path: "p.yml", bytes: Array(pipeline.utf8), files: .system)
    let plan = try loaded.plan(PlanningOptions())
    var options = RunOptions(runID: "r1", directory: folder.directory)
    options.secrets = Secrets(secrets)
    var builder = CommandBuilder(workspace: "/here", options: options)
    var machine = RunMachine(plan: plan)
    return plan.steps.indices.map { index in
      let key = CommandKey(operation: OperationID(index), role: .attempt(1))
      return builder.command(key, machine.command(of: key))
    }
  }

  private func words(_ variables: [EnvironmentVariable]) -> [String] {
    variables.map { "\($0.name)=\($0.value)" }
  }

  @Test func `everything that a step says is in its command`() throws {
    let command = try #require(
      try commands(
        """
        env: {A: "1"}
        steps:
          - id: "unit"
            run: "make x"
            env: {B: "2"}
            working_dir: sub
            stdin: text
            nice: 5
            log_limit: 2M
            orphans: allow
        """
      ).first)
    #expect(command.key == CommandKey(operation: OperationID(0), role: .attempt(1)))
    #expect(command.work == .script("make x", shell: ["/bin/sh", "-e"]))
    #expect(
      words(command.environment.variables) == [
        "PWD=/here/sub", "A=1", "B=2", "OPRUN=1", "OPRUN_RUN_ID=r1", "OPRUN_WORKSPACE=/here",
      ])
    #expect(
      words(command.variables) == [
        "OPRUN_STEP=unit", "OPRUN_ATTEMPT=1",
        "OPRUN_OUTPUT=\(folder.path(of: "unit.1.outputs"))",
      ])
    #expect(command.directory == "sub" && command.input == "text")
    #expect(command.limits == CommandLimits(logSize: 2 << 20, nice: 5))
    #expect(command.orphans == .allow)
    #expect([command.logName, command.outputsName] == ["unit.1.log", "unit.1.outputs"])
  }

  @Test func `steps with the same settings share their variables`() throws {
    let all = try commands(
      """
      env: {A: "1"}
      steps:
        - {id: a, run: x}
        - {id: b, run: y, env: {B: "2"}}
        - {id: c, run: z}
      """)
    #expect(all[0].environment === all[2].environment)
    #expect(all[0].environment !== all[1].environment)
  }
}

// What a step runs, and the copies of its settings that late values change.

import Diagnostics
import Scheduling
import Testing

@testable import Plans

struct WorkTests {
  @Test func `what is only shown takes no more room than what is run`() {
    #expect(MemoryLayout<Work>.size == MemoryLayout<Action>.size)
    #expect(MemoryLayout<PlannedStep>.size == 56)
  }

  @Test func `late work is shown, but is not to be had for running`() {
    let late = Work.late(shown: ShownCommand(.arguments(["echo", "${{ steps.a.outputs.b }}"])))
    #expect(late.shown?.text == "echo '${{ steps.a.outputs.b }}'")
    #expect(late.shown?.script == nil && late.known == nil)
    #expect(Work.none.shown == nil && Work.none.known == nil)
    #expect(Work.known(.script("x")).shown?.script == "x")
  }

  @Test func `a step that is not known cannot become ready`() async {
    await #expect(processExitsWith: .failure) {
      _ = ReadyStep(step(.late(shown: ShownCommand(.script("echo ${{ run.id }}")))))
    }
    await #expect(processExitsWith: .failure) { _ = ReadyStep(step(.none)) }
  }

  @Test func `a step that is refused keeps its hooks and is tried once`() {
    let ready = ReadyStep(refusedWith: unusual)
    #expect(ready.action == nil)
    #expect(ready.settings.retry == RetryPolicy())
    #expect(changedFields(unusual, ready.settings) == ["retry"])
  }
}

private func step(_ work: Work) -> PlannedStep {
  PlannedStep(id: "a", span: Span(start: 0, end: 0), work: work, settings: StepSettings())
}

/// Settings in which each field differs from its default.
private let unusual: StepSettings = {
  var retry = RetryPolicy()
  retry.limit = 3
  var stop = StopSequence()
  stop.signal = 2
  var hooks = Hooks()
  for kind in HookKind.allCases { hooks[kind] = [.known(.script("\(kind)"))] }
  var cache = CacheSettings()
  cache.inputs = ["a"]
  var slurm = SlurmRequest()
  slurm.partition = "p"
  return StepSettings(
    name: "name", environment: [EnvironmentVariable(name: "A", value: "1")],
    workingDirectory: "folder", shell: ["/bin/bash"], standardInput: "input", timeout: 5,
    retry: retry, allowFailure: .exitCodes([3]), stop: stop, logLimit: 7, nice: 9,
    usesTerminal: true, hasUntrustedOutput: true, orphans: .warn, sharesJobs: true,
    hooks: hooks, outputs: [], capturesOutput: true, cache: cache, slurm: slurm)
}()

private func fields(of settings: StepSettings) -> [(name: String, value: String)] {
  Mirror(reflecting: settings).children.map { child in
    (child.label ?? "?", String(reflecting: child.value))
  }
}

/// The names of fields that differ.
private func changedFields(_ left: StepSettings, _ right: StepSettings) -> [String] {
  zip(fields(of: left), fields(of: right)).compactMap { left, right in
    left.value == right.value ? nil : left.name
  }
}

struct SettingsCopyTests {
  @Test func `the sample sets every field`() {
    let all = fields(of: unusual).map(\.name)
    #expect(all.count >= 14)
    #expect(changedFields(StepSettings(), unusual) == all)
  }

  @Test func `a copy without changes keeps every field`() {
    #expect(changedFields(unusual, unusual.with(StepSettings.Changes())) == [])
  }

  @Test func `a change changes its field and no other`() {
    var copies: [String: StepSettings.Changes] = [:]
    for child in Mirror(reflecting: StepSettings.Changes()).children {
      let name = child.label ?? "?"
      var changes = StepSettings.Changes()
      switch name {
      case "environment": changes.environment = [EnvironmentVariable(name: "B", value: "2")]
      case "workingDirectory": changes.workingDirectory = "other"
      case "standardInput": changes.standardInput = "other"
      case "allowFailure": changes.allowFailure = .always
      case "cache": changes.cache = CacheSettings()
      case "retry": changes.retry = RetryPolicy()
      case "name": changes.name = "other"
      default: Issue.record("the change '\(name)' is not tried")
      }
      copies[name] = changes
    }
    #expect(copies.count == 7)
    for (name, changes) in copies {
      #expect(!changes.isEmpty, "\(name)")
      #expect(changedFields(unusual, unusual.with(changes)) == [name])
    }
  }
}

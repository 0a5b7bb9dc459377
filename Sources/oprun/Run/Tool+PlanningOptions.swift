// What planning is told besides the file: by the command line, and about this machine.

import Diagnostics
import Execution
import Pipelines
import Plans
import Processors
import Scheduling

extension Tool {
  func planningOptions(
    _ invocation: Invocation, _ resumed: ResumedRun?
  ) -> PlanningOptions {
    var options = PlanningOptions(
      processorCount: availableProcessorCount,
      maxParallel: invocation.count(Options.jobs),
      failurePolicy: failurePolicy(invocation),
      timeout: invocation.duration(Options.timeout),
      selection: Array(invocation.operands.dropFirst()))
    let jobs = jobOptions(invocation)
    if jobs.usesInherited { options.automaticWidth = jobs.inherited.jobs }
    options.executor = executor(invocation, resumed)
    // What is watched runs here.
    if invocation.tracedStep != nil { options.executor = .local }
    options.memory = physicalMemory
    setParameters(of: &options, invocation)
    if let resumed {
      options.parameters = resumed.parameters(with: options.parameters)
      options.prefersDefaults = true
    }
    return options
  }

  /// How the run shares slots with the make that started oprun, and with those in its steps.
  func jobOptions(_ invocation: Invocation) -> JobOptions {
    var options = JobOptions()
    options.inherited = inheritedJobserver
    options.isOn = invocation.text(Options.jobserver).map { $0 == "on" }
    options.hasOwnWidth = invocation.count(Options.jobs) != nil
    return options
  }

  private func failurePolicy(_ invocation: Invocation) -> FailurePolicy? {
    if let word = invocation.text(Options.failurePolicy) {
      return FailurePolicy.allCases.first { $0.word == word }
    }
    return invocation.isOn(Options.failFast) ? .cancel : nil
  }

  /// The options for a listing, in which parameters may be unknown.
  func listingOptions(_ invocation: Invocation) -> PlanningOptions {
    var options = PlanningOptions()
    options.processorCount = availableProcessorCount
    options.demandsAllParameters = false
    options.showsEveryStep = true
    setParameters(of: &options, invocation)
    return options
  }

  func setParameters(of options: inout PlanningOptions, _ invocation: Invocation) {
    options.parameters = invocation.assignments(Options.param).map {
      ParameterArgument(name: $0.name, value: $0.value)
    }
    options.rest = invocation.arguments
    setSurroundings(of: &options)
  }

  /// Sets what planning may use in addition to the file.
  func setSurroundings(of options: inout PlanningOptions) {
    options.inherited = InheritedVariables(
      value: { inheritedVariable($0) }, names: { Array(inheritedEnvironment().values.keys) })
    options.files = .system
    options.host = hostFacts()
    options.workspace = currentDirectory()
  }
}

// `oprun resume --detach` while nothing has changed: a regular look at the jobs needs no new run.

import Diagnostics
import Execution
import Plans
import State

extension Tool {
  /// Says that the jobs of a run that was left go on, if they all do and nothing else could begin:
  /// then there is no new run. Returns nil if there is something to do, or if that is not certain.
  func sayContinuing(_ resumed: ResumedRun, _ planned: PlannedPipeline) -> Int32? {
    let (earlier, invocation) = (resumed.earlier, planned.invocation)
    let options = [Options.executor, Options.until, Options.param, Options.jobs]
    guard invocation.isOn(Options.detach), earlier.wasLeft, earlier.exitStatus == 0,
      resumed.selection == ResumeSelection(), !options.contains(where: invocation.isGiven),
      !RunRecorders.writesFiles(invocation),
      earlier.request.steps == Array(invocation.operands.dropFirst()),
      // Changes of the files of a cached step are not examined here.
      !planned.plan.steps.contains(where: { $0.settings.cache != nil }),
      earlier.hasAll(of: planned.plan, planned.reading.secrets.masker),
      let count = resumed.openWork?.continuingJobs()
    else { return nil }
    let jobs = count == 1 ? "1 job" : "\(count) jobs"
    say("\(jobs) of run \(earlier.name) \(count == 1 ? "continues" : "continue") in Slurm")
    return ExitStatus.success
  }
}

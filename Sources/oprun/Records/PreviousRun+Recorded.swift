// Finds the run with which a report compares.

import Reporting
import Scheduling
import State

/// The run of the same file before the one with this name, or before one that is about to start. If
/// it cannot be read, it is left out: a report without it is complete.
func previousRun(before name: String?, of place: PipelinePlace, in store: StateStore)
  -> PreviousRun?
{
  guard let run = try? store.runBefore(name, of: place), let duration = run.duration,
    let steps = try? store.steps(of: run)
  else { return nil }
  return PreviousRun(
    name: run.name, times: (Nanoseconds(run.started) * 1000, Nanoseconds(duration) * 1000),
    exitStatus: run.exitStatus ?? 0,
    steps: steps.compactMap { step in
      guard !step.isGroup, let ending = step.ending else { return nil }
      let time = step.started == nil ? nil : step.duration.map { Nanoseconds($0) * 1000 }
      return PreviousRun.Step(id: step.name, ending: ending, duration: time)
    })
}

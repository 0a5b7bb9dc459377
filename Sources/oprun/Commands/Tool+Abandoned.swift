// What a run has left in Slurm whose oprun died: the next one ends it, or `oprun cancel` does.

import Diagnostics
import Execution
import Glibc
import Plans
import Reporting
import RunFiles
import State

extension Tool {
  /// Ends what must not go on beside the resumed run. Returns an exit status if it goes on.
  func endAbandoned(_ run: EarlierJobs?, _ kind: AbandonedWork.Kind) -> Int32? {
    guard let run else { return nil }
    let found: AbandonedWork?
    do throws(SystemError) {
      found = try AbandonedWork(of: run, kind)
    } catch {
      sayUnknown(error, run.runID)
      return ExitStatus.cannotWrite
    }
    guard let work = found else {
      run.removeFilesIfDone()
      return nil
    }
    switch work.end() {
    case .ended(0): return nil
    case .ended(let count):
      say(
        "\(counted(count)) that \(run.runID) had left in Slurm \(count == 1 ? "was" : "were") ended"
      )
      return nil
    case .unknown(let words):
      say(
        "run \(run.runID) may have left steps on other nodes, but Slurm cannot be asked: "
          + "\(words)")
      return nil
    case .goesOn(let words):
      say(
        "steps and jobs of run \(run.runID) may continue in Slurm: \(words)",
        help: "try again when Slurm answers; 'scancel' ends jobs and steps by their numbers")
      return ExitStatus.inUse
    }
  }

  /// Ends jobs that the resumed run does not take over, because its steps run elsewhere.
  func endJobs(of resumed: ResumedRun?) -> Int32? {
    endAbandoned(resumed?.earlierJobs, .stepsAndJobs)
  }

  /// Looks at what the run that is resumed has left in Slurm, before anything is done or shown. Returns an exit status if
  /// that cannot be read; throws if the run needs Slurm to know of it.
  func checkJobs(
    of resumed: ResumedRun?, _ plan: Plan, _ invocation: Invocation
  ) throws(UsageFailure) -> Int32? {
    guard let jobs = resumed?.earlierJobs else { return nil }
    let isOpen: Bool
    do throws(SystemError) {
      isOpen = try jobs.isOpen()
    } catch {
      sayUnknown(error, jobs.runID)
      return ExitStatus.cannotWrite
    }
    if isOpen, plan.slurm == nil, !invocation.isGiven(Options.executor) {
      throw .hasJobs(jobs.runID, invocation.command)
    }
    return nil
  }

  private func sayUnknown(_ error: SystemError, _ run: String) {
    say("\(error.message): what run \(run) has left in Slurm is unknown")
  }

  /// Ends jobs that the resumed run does not take over, because something that their steps depend on runs again. If one
  /// goes on, the new run does not begin, and its directory is removed.
  func endOutdated(
    _ resumed: ResumedRun?, _ resumption: Resumption?, _ directory: RunDirectory
  ) -> Int32? {
    guard let jobs = resumed?.earlierJobs, let resumption else { return nil }
    let steps: Set<String>
    do throws(SystemError) {
      steps = resumption.outdated(among: try jobs.openSteps())
    } catch {
      sayUnknown(error, jobs.runID)
      directory.removeAll()
      return ExitStatus.cannotWrite
    }
    guard !steps.isEmpty, let status = endAbandoned(jobs, .jobs(of: steps)) else { return nil }
    directory.removeAll()
    return status
  }

  /// `oprun cancel` of a run whose oprun died. Returns nil if that has left nothing.
  func cancelAbandoned(_ directory: RunDirectory, _ invocation: Invocation) -> Int32? {
    let name = directory.path.split(separator: "/").last.map { String($0) } ?? directory.path
    let found: AbandonedWork?
    do throws(SystemError) {
      let run = EarlierJobs(runID: name, folder: directory.path)
      found = try AbandonedWork(of: run, .stepsAndJobs)
    } catch {
      sayUnknown(error, name)
      return ExitStatus.refused
    }
    guard let work = found, directory.takeClaim() else { return nil }
    switch work.end() {
    case .ended(0): return nil
    case .ended(let count):
      let message =
        "\(counted(count)) that run \(name) had left in Slurm \(count == 1 ? "was" : "were") ended"
      if invocation.isOn(Options.json) {
        output.write("{\"protocol\":\(ControlRequest.version),\"oprun\":")
        output.write(json: "\(version)")
        output.write(",\"ok\":true,\"run\":")
        output.write(json: name)
        output.write(",\"message\":")
        output.write(json: message)
        output.write("}\n")
      } else {
        output.write("\(message)\n")
      }
      return ExitStatus.success
    case .goesOn(let words), .unknown(let words):
      say(
        "steps and jobs of run \(name) may continue in Slurm: \(words)",
        help: "try again when Slurm answers")
      return ExitStatus.refused
    }
  }

  private func counted(_ count: Int) -> String {
    count == 1 ? "1 step or job" : "\(count) steps and jobs"
  }
}

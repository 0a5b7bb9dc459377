// The jobs that a run has left in Slurm whose oprun died: the next run ends them, or `oprun cancel`
// does.

import Diagnostics
import Execution
import Glibc
import Plans
import Reporting
import RunFiles
import State

extension Tool {
  /// Ends jobs that must not go on beside the resumed run. Returns an exit status if some go on.
  func endAbandoned(_ open: OpenWork?, _ kind: AbandonedWork.Kind) -> Int32? {
    guard let open else { return nil }
    let run = open.run
    let found: AbandonedWork?
    do throws(SystemError) {
      found = try AbandonedWork(of: open, kind)
    } catch {
      say(.unreadable(error.message), of: run.runID)
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

  /// Ends jobs that the resumed run does not take over, because its steps run elsewhere. Returns an
  /// exit status if some go on.
  func endJobs(of resumed: ResumedRun?) -> Int32? {
    endAbandoned(resumed?.openWork, .stepsAndJobs)
  }

  /// Throws if the run needs Slurm to find out about the jobs that the resumed run has left there.
  func checkJobs(
    of resumed: ResumedRun?, _ plan: Plan, _ invocation: Invocation
  ) throws(UsageFailure) {
    guard let work = resumed?.openWork, !work.isEmpty, plan.slurm == nil,
      !invocation.isGiven(Options.executor)
    else { return }
    throw .hasJobs(work.run.runID, invocation.command)
  }

  /// Refuses to leave out a step whose job goes on: nobody would wait for it, and other steps would
  /// run beside it.
  func sayLeftOut(of resumed: ResumedRun, _ planned: PlannedPipeline) -> Int32? {
    guard let work = resumed.openWork, work.mayHaveJobs else { return nil }
    let resumption = resumed.resumption(for: planned.plan, planned.reading.secrets)
    let steps = resumption.leftOut(among: work.unfinishedSteps).sorted()
    guard let first = steps.first else { return nil }
    let run = work.run.runID
    let name = first.hasPrefix("#") ? "a step" : quoted(first)
    say(
      "run \(run) has jobs of \(steps.count == 1 ? name : "\(steps.count) steps") that would be left out",
      help: "without the selection, 'oprun resume \(run)' waits for them; 'oprun cancel \(run)' "
        + "ends them")
    return ExitStatus.inUse
  }

  /// Ends jobs that the resumed run does not take over, because a dependency of their steps runs
  /// again. If a job goes on, the new run does not begin, and its directory is removed.
  func endOutdated(
    _ resumed: ResumedRun?, _ resumption: Resumption?, _ directory: RunDirectory
  ) -> Int32? {
    guard let work = resumed?.openWork, let resumption else { return nil }
    let steps = resumption.outdated(among: work.steps)
    guard !steps.isEmpty, let status = endAbandoned(work, .jobs(of: steps)) else { return nil }
    directory.removeAll()
    return status
  }

  /// Performs `oprun cancel` for a run that is over. Returns nil if that run has left nothing.
  func cancelAbandoned(_ directory: RunDirectory, _ invocation: Invocation) -> Int32? {
    let name = directory.name
    guard let work = abandonedWork(directory) else { return nil }
    if let successor = otherInProgress(of: directory) {
      say(
        "run \(successor), which goes on with run \(name), has its jobs",
        help: "'oprun cancel \(successor)' ends that run, with its jobs")
      return ExitStatus.refused
    }
    if !directory.takeClaim() {
      guard let failure = directory.lockFailure else { return nil }
      say("\(failure.message): whether another oprun resumes the run is unknown")
      return ExitStatus.refused
    }
    switch work {
    case .failure(let unknown):
      say(unknown, of: name)
      return ExitStatus.refused
    case .success(.jobs(let jobs)): return cancel(jobs, of: name, invocation)
    case .success(.results(let open)):
      let count = open.giveUp()
      let jobs = count == 1 ? "the result of 1 job" : "the results of \(count) jobs"
      return sayCancelled(
        "\(jobs) of run \(name), which no run has taken, will be taken by none", name, invocation)
    case .success(.copy(let run)):
      run.settle()
      return sayCancelled(
        "run \(name) is a copy: its jobs go on, and are not those of this directory any more", name,
        invocation)
    }
  }

  /// A run in progress that goes on with this one, or with an earlier one that this one went on with.
  private func otherInProgress(of directory: RunDirectory) -> String? {
    guard let state = directory.state, let store = (try? StateStore.find(in: state)) ?? nil,
      let first = try? store.predecessors(of: directory.name).last ?? directory.name,
      let successors = try? store.successors(of: first)
    else { return nil }
    return successors.map(\.name).first { $0 != directory.name && store.isInUse($0) }
  }

  private enum Abandoned {
    case jobs(AbandonedWork)
    case results(OpenWork)
    case copy(EarlierJobs)
  }

  /// The jobs that a finished run has left; nil if there are none.
  private func abandonedWork(_ directory: RunDirectory) -> Result<Abandoned, OpenWork.Unknown>? {
    let run = EarlierJobs(runID: directory.name, folder: directory.path)
    guard let state = directory.state else { return nil }
    let store = (try? StateStore.find(in: state)) ?? nil
    do throws(OpenWork.Unknown) {
      let open = try openWork(of: directory.name, in: state, store)
      do throws(SystemError) {
        if let work = try AbandonedWork(of: open, .stepsAndJobs) { return .success(.jobs(work)) }
      } catch {
        return .failure(.unreadable(error.message))
      }
      return open.isEmpty ? nil : .success(.results(open))
    } catch {
      switch error {
      case .lost:
        // Only the database can tell that files are gone.
        guard let store, let earlier = try? store.predecessors(of: run.runID) else {
          return .failure(error)
        }
        return .success(
          .jobs(AbandonedWork(ofLost: run, after: earlier.map { store.folder.jobs(of: $0) })))
      case .copied: return .success(.copy(run))
      case .unreadable: return .failure(error)
      }
    }
  }

  private func cancel(
    _ work: AbandonedWork, of name: String, _ invocation: Invocation
  ) -> Int32? {
    switch work.end() {
    case .ended(0): return nil
    case .ended(let count):
      return sayCancelled(
        "\(counted(count)) that run \(name) had left in Slurm \(count == 1 ? "was" : "were") ended",
        name, invocation)
    case .goesOn(let words), .unknown(let words):
      say(
        "steps and jobs of run \(name) may continue in Slurm: \(words)",
        help: "try again when Slurm answers")
      return ExitStatus.refused
    }
  }

  private func sayCancelled(_ message: String, _ run: String, _ invocation: Invocation) -> Int32 {
    if invocation.isOn(Options.json) {
      output.write("{")
      output.write(field: "protocol", isFirst: true)
      output.write(decimal: ControlRequest.version)
      output.write(field: "oprun")
      output.write(json: "\(version)")
      output.write(field: "ok")
      output.write("true")
      output.write(field: "run")
      output.write(json: run)
      output.write(field: "message")
      output.write(json: message)
      output.write("}\n")
    } else {
      output.write("\(message)\n")
    }
    return ExitStatus.success
  }

  private func counted(_ count: Int) -> String {
    count == 1 ? "1 step or job" : "\(count) steps and jobs"
  }
}

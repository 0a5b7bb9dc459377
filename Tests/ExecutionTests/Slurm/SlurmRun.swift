// A pipeline whose steps run in a Slurm without machines, in virtual time, and the whole run as one string.

import Masking
import Pipelines
import Plans
import RunFiles
import Running
import Scheduling

@testable import Execution

/// The real loop runs a real plan.
final class SlurmRun {
  let slurm: FakeSlurm
  let folder: TemporaryRun
  /// Its files are needed as long as this run lasts.
  private let earlier: SlurmRun?
  private let waiting: VirtualWaiting
  private let chronicle: Chronicle
  private let loop: RunLoop

  /// `earlier` is the run that is resumed, whose Slurm goes on; by `path`, if that is another one than its own. Names of
  /// jobs do not show the secret.
  init(
    _ pipeline: String, id: String = "r1",
    signals: [(second: Nanoseconds, signal: Int32)] = [],
    slurm settings: String = "{submit_rate: 1000/s}",
    outages: [Range<Nanoseconds>] = [], after earlier: SlurmRun? = nil, path: String? = nil,
    secret: String? = nil, memory: (any RunMemory)? = nil, observer: (any RunObserver)? = nil,
    isDetached: Bool = false
  ) throws {
    let text = "executor: slurm\nslurm: \(settings)\n" + pipeline
    let loaded = LoadedPipeline(path: "p.yml", bytes: Array(text.utf8), files: .system)
    let plan = try loaded.plan(PlanningOptions()).leavingWidthsToSlurm()
    // A run that does not end is ended.
    waiting = VirtualWaiting(signals: signals + [(3000, 2), (3001, 2), (3002, 2)])
    folder = TemporaryRun()
    self.earlier = earlier
    chronicle = Chronicle(plan)
    slurm = earlier?.slurm ?? FakeSlurm()
    slurm.outages = outages
    slurm.beginTime()
    var options = RunOptions(runID: id, directory: folder.directory)
    options.memory = memory
    options.isDetached = isDetached
    var parts = SlurmParts(
      plan: plan.slurm ?? SlurmPlan(), runID: id, directory: folder.directory,
      folder: folder.directory.path, workspace: "/work space", secrets: [], secretVariables: [],
      earlier: earlier.map {
        EarlierJobs(
          runID: $0.loop.options.runID, folder: path ?? $0.folder.directory.path)
      })
    parts.masker = secret.flatMap { Masker(secrets: [Array($0.utf8)]) }
    parts.copiesProgram = false
    let executor = MixedExecutor(
      local: LateExecutor(folder.directory), slurm: SlurmExecutor(parts, slurm, waiting))
    loop = RunLoop(
      plan, options,
      RunParts(waiting: waiting, executor: executor, workspace: "/work space", seed: 1),
      observers: [chronicle] + [observer].compactMap(\.self))
  }

  /// What it has left open.
  var jobs: EarlierJobs {
    EarlierJobs(runID: loop.options.runID, folder: folder.directory.path)
  }

  /// Every event as `second:what`, separated by blanks.
  func timeline() -> String {
    _ = loop.run()
    return chronicle.words.joined(separator: " ") + (waiting.isStuck ? " STUCK" : "")
  }
}

extension EarlierJobs {
  func isOpen() throws -> Bool { !(try OpenWork(of: self).isEmpty) }

  var mayHaveJobs: Bool { (try? OpenWork(of: self).mayHaveJobs) ?? true }

  func openSteps() throws -> [String: Set<String>] { try OpenWork(of: self).steps }
}

// Makes the executor of a run: with Slurm only if the plan has a step for it.

import CLinux
import Diagnostics
import Glibc
package import Masking
package import Plans
import Running
import Scheduling

/// True if steps of the run are jobs of their own.
package func hasJobs(_ plan: Plan) -> Bool {
  plan.slurm.map { $0.mode == .job || Allocation.own == nil } ?? false
}

extension SlurmParts {
  /// The parts of a run; nil if none of its steps runs in Slurm.
  init?(_ plan: Plan, _ options: RunOptions, workspace: String) {
    guard let slurm = plan.slurm else { return nil }
    self.init(
      plan: slurm, runID: options.runID, directory: options.directory,
      folder: options.folder(from: workspace), workspace: workspace,
      secrets: options.secrets.allValues,
      secretVariables: SlurmVariables(masker: options.secrets.masker).secret,
      earlier: options.earlierJobs?.absolute(in: workspace))
    masker = options.secrets.masker
  }

  /// The executor of a run in which some steps run in Slurm, and the others with `local`.
  func executor(beside local: LocalProcesses, _ waiting: KernelWaiting) -> any Executor {
    if plan.mode != .job, let allocation = Allocation.own {
      return AllocationExecutor(local, self, allocation, waiting)
    }
    let caller = SlurmProcesses(
      waiting, environment: SlurmVariables(masker: masker).passed)
    return MixedExecutor(local: local, slurm: SlurmExecutor(self, caller, waiting))
  }
}

/// The inherited variables, divided by whether Slurm may see them.
package struct SlurmVariables {
  /// The environment of Slurm's commands, and so of jobs: `NAME=value`.
  private(set) var passed: [String] = []
  /// The variables that hold a secret.
  package private(set) var secret: [EnvironmentVariable] = []

  package init(masker: Masker?) {
    for (name, value) in inheritedEnvironment().values.sorted(by: { $0.key < $1.key }) {
      if directsSlurm(variable: name) || name == Cookie.variable { continue }
      if masker?.finds(in: value) == true {
        secret.append(EnvironmentVariable(name: name, value: value))
      } else {
        passed.append("\(name)=\(value)")
      }
    }
  }
}

/// True if a variable gives options to the commands of Slurm, or describes the job that oprun runs
/// in. Variables by which the commands find the cluster and identify themselves are none of these.
package func directsSlurm(variable name: String) -> Bool {
  !["SLURM_CONF", "SLURM_CONF_SERVER", "SLURM_JWT"].contains(name)
    && ["SLURM_", "SBATCH_", "SQUEUE_", "SCANCEL_"].contains { name.hasPrefix($0) }
}

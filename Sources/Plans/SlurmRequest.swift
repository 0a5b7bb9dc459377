// The requests of steps' jobs to Slurm, and the settings of a run for Slurm, as plain values.

package import Scheduling

/// The place in which the attempts of a step run.
package enum StepExecutor: String, CaseIterable, Sendable {
  /// Processes of the machine on which oprun runs.
  case local
  /// Jobs of Slurm.
  case slurm
}

/// A resource that a step can take from a pool here, or ask Slurm for.
package enum SlurmResource: String, CaseIterable, Sendable {
  case cpus, memory, gpus, time, tmp
}

/// The request of a step's job to Slurm.
package struct SlurmRequest: Hashable, Sendable {
  /// The reaction to the failure of a step's node.
  package enum NodeFailure: String, CaseIterable, Sendable {
    case retry, fail
  }

  package var partition: String?
  package var account: String?
  package var qos: String?
  package var reservation: String?
  package var constraint: String?
  /// Further options of `sbatch`, one word each.
  package var extra: [String] = []
  package var onNodeFailure = NodeFailure.retry
  /// The number of times that the step is submitted again if nothing was learned about its job.
  package var infrastructureRetries = 3
  /// The amounts in millionths: processors, GiB, GPUs, hours, GiB.
  package var resources: [SlurmResource: Int64] = [:]

  package init() {}

  /// The memory in MiB; 0 if none is requested.
  package var memory: Int {
    resources[.memory].map { Int(clamping: SlurmResource.memory.mebibytes($0)) } ?? 0
  }

  /// The options of `sbatch` for the request. Amounts that Slurm counts in whole numbers are rounded up.
  package var options: [String] {
    let named = [
      ("partition", partition), ("account", account), ("qos", qos), ("reservation", reservation),
      ("constraint", constraint),
    ]
    let amounts = SlurmResource.allCases.compactMap { resource in
      resources[resource].map { resource.option($0) }
    }
    return named.compactMap { name, value in value.map { "--\(name)=\($0)" } } + amounts
      + [onNodeFailure == .retry ? "--requeue" : "--no-requeue"] + extra
  }
}

extension SlurmResource {
  /// The option of `sbatch` for an amount in millionths.
  fileprivate func option(_ amount: Int64) -> String {
    switch self {
    case .cpus: "--cpus-per-task=\(max(1, wholes(amount)))"
    case .memory: "--mem=\(mebibytes(amount))M"
    case .gpus: "--gpus=\(max(1, wholes(amount)))"
    case .time: "--time=\(max(1, minutes(amount)))"
    case .tmp: "--tmp=\(mebibytes(amount))M"
    }
  }

  private func wholes(_ amount: Int64) -> Int64 {
    amount / 1_000_000 + (amount % 1_000_000 > 0 ? 1 : 0)
  }

  /// An amount in millionths of a GiB as mebibytes; the amount may be one millionth too large.
  fileprivate func mebibytes(_ amount: Int64) -> Int64 {
    let (wholes, rest) = amount.quotientAndRemainder(dividingBy: 1_000_000)
    return max(1, wholes * 1024 + (rest * 1024 + 998_976) / 1_000_000)
  }

  /// An amount in millionths of an hour as minutes. Seconds are rounded first, because a millionth
  /// of an hour is not a whole second.
  private func minutes(_ amount: Int64) -> Int64 {
    let (hours, rest) = amount.quotientAndRemainder(dividingBy: 1_000_000)
    return hours * 60 + ((rest * 3600 + 500_000) / 1_000_000 + 59) / 60
  }
}

/// The number of jobs that may run at once, among all that claim a pool.
package struct SlurmWidth: Hashable, Sendable {
  package let pool: PoolID
  package let count: Int

  package init(pool: PoolID, count: Int) {
    self.pool = pool
    self.count = count
  }
}

/// How the steps of a run get to Slurm, and what they request.
package struct SlurmPlan: Hashable, Sendable {
  /// The way in which steps get to nodes.
  package enum Mode: String, CaseIterable, Sendable {
    /// Steps run on the nodes of the job that oprun is in; if it is in none, they are jobs.
    case auto
    /// Each attempt of a step is a job.
    case job
    /// Steps run on the nodes of the job that oprun is in.
    case allocation
  }

  package var mode = Mode.auto
  /// The number of jobs that may be in Slurm's queue at the same time.
  package var maxQueued = 200
  /// The least time between two submissions.
  package var submitInterval: Nanoseconds = 100_000_000
  /// The least time between two looks at the queue.
  package var poll: Nanoseconds = 5_000_000_000
  /// The longest time until the result of a job is seen here after its end.
  package var fileWait: Nanoseconds = 60_000_000_000
  /// The pools of resources that steps request from Slurm.
  package var pools: [PoolID: SlurmResource] = [:]
  /// The number of steps claiming a pool that may run at once, where Slurm itself enforces that.
  package var widths: [PoolID: Int] = [:]
  /// The highest priority of a step that Slurm runs.
  package var highestPriority: Int16 = 0

  package init() {}

  /// The limit, enforced by Slurm, among those of the claims; nil if there is none.
  package func width(claiming claims: [Claim]) -> SlurmWidth? {
    if widths.isEmpty { return nil }
    return claims.lazy.compactMap { claim in
      widths[claim.pool].map { SlurmWidth(pool: claim.pool, count: $0) }
    }.first
  }

  /// The request of a step, with its claims added.
  package func request(_ request: SlurmRequest, claiming claims: [Claim]) -> SlurmRequest {
    var request = request
    for claim in claims {
      if let resource = pools[claim.pool] {
        request.resources[resource, default: 0] += claim.amount
      }
    }
    return request
  }
}

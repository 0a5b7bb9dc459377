// What the job of a step asks of Slurm, and how a run deals with Slurm, as plain values.

package import Scheduling

/// Where the attempts of a step run.
package enum StepExecutor: String, CaseIterable, Sendable {
  /// Processes of the machine on which oprun runs.
  case local
  /// Jobs of Slurm.
  case slurm
}

/// An amount that a step can take from a pool here, or ask Slurm for.
package enum SlurmResource: String, CaseIterable, Sendable {
  case cpus, memory, gpus, time, tmp
}

/// What the job of a step asks for.
package struct SlurmRequest: Hashable, Sendable {
  /// What becomes of a step whose node has failed.
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
  /// How often the step is submitted again if nothing was learned about its job.
  package var infrastructureRetries = 3
  /// The amounts in millionths: processors, GiB, GPUs, hours, GiB.
  package var resources: [SlurmResource: Int64] = [:]

  package init() {}

  /// The memory in MiB; 0 if it asks for none.
  package var memory: Int {
    resources[.memory].map { Int(clamping: SlurmResource.memory.mebibytes($0)) } ?? 0
  }

  /// The options of `sbatch` for all of this. What Slurm counts in whole numbers is rounded up.
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

  /// The mebibytes of so many millionths of a GiB, which may be one millionth too many.
  fileprivate func mebibytes(_ amount: Int64) -> Int64 {
    let (wholes, rest) = amount.quotientAndRemainder(dividingBy: 1_000_000)
    return max(1, wholes * 1024 + (rest * 1024 + 998_976) / 1_000_000)
  }

  /// The minutes of so many millionths of an hour: of seconds, of which a millionth of an hour is too few.
  private func minutes(_ amount: Int64) -> Int64 {
    let (hours, rest) = amount.quotientAndRemainder(dividingBy: 1_000_000)
    return hours * 60 + ((rest * 3600 + 500_000) / 1_000_000 + 59) / 60
  }
}

/// A number of jobs that may run at once, of all that claim a pool.
package struct SlurmWidth: Hashable, Sendable {
  package let pool: PoolID
  package let count: Int

  package init(pool: PoolID, count: Int) {
    self.pool = pool
    self.count = count
  }
}

/// How the steps of a run reach Slurm, and what they ask for.
package struct SlurmPlan: Hashable, Sendable {
  /// How steps get to nodes.
  package enum Mode: String, CaseIterable, Sendable {
    /// Steps run on the nodes of the job that oprun is in; they are jobs if it is in none.
    case auto
    /// Each attempt of a step is a job.
    case job
    /// Steps run on the nodes of the job that oprun is in.
    case allocation
  }

  package var mode = Mode.auto
  /// How many jobs may be in Slurm's queue at the same time.
  package var maxQueued = 200
  /// The least time between two submissions.
  package var submitInterval: Nanoseconds = 100_000_000
  /// The least time between two looks at the queue.
  package var poll: Nanoseconds = 5_000_000_000
  /// How long a result may take to be seen here when its job has ended.
  package var fileWait: Nanoseconds = 60_000_000_000
  /// The pools that stand for what steps ask Slurm for.
  package var pools: [PoolID: SlurmResource] = [:]
  /// How many of the steps that claim a pool may run at once, where Slurm itself keeps to that.
  package var widths: [PoolID: Int] = [:]
  /// The highest priority of a step that Slurm runs.
  package var highestPriority: Int16 = 0

  package init() {}

  /// The limit among those of the claims that Slurm keeps.
  package func width(claiming claims: [Claim]) -> SlurmWidth? {
    if widths.isEmpty { return nil }
    return claims.lazy.compactMap { claim in
      widths[claim.pool].map { SlurmWidth(pool: claim.pool, count: $0) }
    }.first
  }

  /// The request of a step with what it claims.
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

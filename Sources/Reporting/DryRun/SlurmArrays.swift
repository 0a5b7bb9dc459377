// Finds the steps of a matrix that Slurm gets as one array.

import Plans
import Scheduling

/// The arrays that instances of matrices with equal requests become.
struct SlurmArrays {
  private var options: [OperationID: String] = [:]

  private static let longest = 1000

  init(_ plan: Plan) {
    guard let slurm = plan.slurm else { return }
    let widths = plan.leavingWidthsToSlurm().slurm
    for group in plan.groups.values where group.kind == .matrix {
      let requests = group.members.compactMap { member in
        plan.steps[member.index].settings.slurm.map {
          (member, slurm.request($0, claiming: plan.graph[member].claims))
        }
      }
      let counts = Dictionary(requests.map { ($1, 1) }, uniquingKeysWith: +)
      for (member, request) in requests {
        let most = min(counts[request] ?? 0, slurm.maxQueued, Self.longest)
        if most < 2 { continue }
        let width = widths?.width(claiming: plan.graph[member].claims)?.count
        let limit = width.flatMap { $0 < most ? "%\($0)" : nil } ?? ""
        options[member] = "--array=0-\(most - 1)\(limit)"
      }
    }
  }

  /// The option of `sbatch`; nil for a step that is a job of its own.
  func option(of operation: OperationID) -> String? { options[operation] }
}

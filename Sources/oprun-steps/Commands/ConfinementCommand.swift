// `oprun-steps confinement`: what the processes that decode images can and cannot do on this
// machine. Nothing relies on documentation: a worker tries everything.

import CConfinement
import Diagnostics
import OperationKit
import Synchronization

extension Program {
  func confinement() -> Int32 {
    let found = Mutex<Result<ImageAnswer, ImageFailure>>(.failure(.cancelled))
    do throws(SystemError) {
      let workers = try Workers.start(count: 1, readable: [], modules: [])
      let request = ImageRequest(job: .tryConfinement, limits: ImageLimits())
      let operation = BlockOperation()
      workers.perform(request, []) { answer in
        found.withLock { $0 = answer }
        operation.start()
      }
      operation.waitUntilFinished()
      workers.stop()
    } catch {
      errors.write("oprun-steps: \(error.message)\n")
      return ExitStatus.internalError
    }
    guard
      case .success(.confinement(let layers, let version, let refusals)) = found.withLock({ $0 })
    else {
      errors.write("oprun-steps: the process for images did not answer\n")
      return ExitStatus.internalError
    }
    output.write(ConfinementReport(layers: layers, version: version, refusals: refusals).text)
    return refusals.contains(0) ? ExitStatus.failure : ExitStatus.success
  }
}

struct ConfinementReport {
  let layers: Int
  let version: Int
  /// The errno of each attempt; 0 for one that worked.
  let refusals: [Int]

  /// The attempts in the order of `confinement_attempt`.
  static let attempts = [
    "open a file for reading", "make a file", "list a directory", "connect to this machine",
    "start a process", "run another program", "signal its parent", "trace its parent",
    "map 8 GiB of memory",
  ]

  var text: String {
    let landlock = has(confinement_files) ? "yes, version \(version)" : "no: the kernel has none"
    let layers = [
      "landlock      \(landlock)",
      "seccomp       \(has(confinement_calls) ? "yes" : "no: not on this kernel or machine")",
      "capabilities  \(has(confinement_capabilities) ? "none" : "kept")",
    ]
    let attempts = zip(Self.attempts, refusals).map { attempt, refusal in
      "\(refusal == 0 ? "POSSIBLE" : "refused ")  \(attempt)"
    }
    return (layers + [""] + attempts).joined(separator: "\n") + "\n"
  }

  private func has(_ layer: confinement_layer) -> Bool { layers & Int(layer.rawValue) != 0 }
}

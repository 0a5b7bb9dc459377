// The secrets of a pipeline: reading them, hiding them, and what is wrong with them.

import Diagnostics
import Execution
import Glibc
import Masking
import Pipelines
import Plans
import Reporting

extension Tool {
  /// The secrets that are available. From now on nothing that is written contains one.
  func readSecrets(of pipeline: inout LoadedPipeline) -> SecretReading {
    let sources = pipeline.secrets
    if !sources.isEmpty { closeMemory() }
    let reading = SecretReading(of: sources)
    guard let masker = reading.secrets.masker else { return reading }
    mask(masker)
    pipeline.renewMessages()
    return reading
  }

  /// Masks whatever is written from now on.
  func mask(_ masker: Masker) {
    output.masker = masker
    errors.masker = masker
    hideBeforeCutting(masker.mask)
  }

  /// The secrets; nil if one is missing or cannot be used, which has been reported.
  func secrets(of planned: PlannedPipeline) -> Secrets? {
    do throws(SecretFailure) {
      return try planned.reading.complete()
    } catch {
      var log = DiagnosticLog()
      for fault in error.faults {
        guard let name = fault.name, let place = planned.pipeline.place(ofSecret: name) else {
          say(fault.message, help: fault.help)
          continue
        }
        log.report(Diagnostic(fault.message, at: place, help: fault.help))
      }
      say(log.sorted(), in: planned.pipeline.sources)
      return nil
    }
  }
}

extension PlanningOptions {
  /// The same options, with which no value that contains a secret gets into a command.
  func refusing(_ secrets: Secrets) -> PlanningOptions {
    guard secrets.masker != nil else { return self }
    var options = self
    options.secretHeld = secrets.name(heldBy:)
    return options
  }
}

extension SecretReading {
  /// Reads secrets from files and the environment of oprun.
  init(of sources: [SecretSource]) {
    self.init(sources) { name in
      getenv(name).map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
    }
  }
}

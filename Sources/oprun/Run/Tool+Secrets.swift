// The secrets that a run needs; their faults are reported where the file declares them.

import Diagnostics
import Execution
import Pipelines
import Reporting

extension Tool {
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

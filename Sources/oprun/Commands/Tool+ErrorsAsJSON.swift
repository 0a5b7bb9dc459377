// Errors for programs, which read standard output: lines like those of 'validate --format json', also for
// what has no place in a file.

import Diagnostics
import Pipelines
import Reporting

extension Invocation {
  /// Standard output is for events.
  var writesEventsToOutput: Bool {
    text(Options.events).map(EventTarget.isStandardOutput) ?? false
      || text(Options.output) == OutputMode.json.rawValue
  }
}

extension Tool {
  /// Writes an error that has no place in a file.
  func writeJSON(_ message: String, help: String?, file: String?, isEvent: Bool = false) {
    var fields = isEvent ? ["\"event\":\"error\""] : []
    if let file { fields.append("\"file\":\(jsonString(file))") }
    fields += ["\"severity\":\"error\"", "\"message\":\(jsonString(message))"]
    if let help { fields.append("\"help\":\(jsonString(help))") }
    output.write("{\(fields.joined(separator: ","))}\n")
  }

  /// Tells a program that waits for the events of a run why there are none.
  func writeEvents(of failure: PlanningFailure) {
    switch failure {
    case .invalid(let diagnostics, let sources):
      for diagnostic in diagnostics {
        let object = render([diagnostic], in: sources, format: .json, color: false, columns: nil)
        output.write("{\"event\":\"error\",\(object.dropFirst())")
      }
    case .unknownStep(let message):
      writeJSON(message, help: nil, file: nil, isEvent: true)
    case .emptySelection(let message, let help):
      writeJSON(message, help: help, file: nil, isEvent: true)
    case .badParameters(let faults):
      for message in faults.messages { writeJSON(message, help: nil, file: nil, isEvent: true) }
    }
  }
}

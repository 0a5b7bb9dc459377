// Errors for programs, which read standard output: lines like those of 'validate --format json',
// also for errors without a place in a file.

import Diagnostics
import Pipelines
import Reporting

extension Invocation {
  /// True if standard output is for events.
  var writesEventsToOutput: Bool {
    text(Options.events).map(EventTarget.isStandardOutput) ?? false
      || text(Options.output) == OutputMode.json.rawValue
  }
}

extension Tool {
  /// Writes an error that has no place in a file.
  func writeJSON(_ message: String, help: String?, file: String?, isEvent: Bool = false) {
    output.isFormat = true
    output.write(isEvent ? "{\"event\":\"error\"," : "{")
    if let file {
      output.write(field: "file", isFirst: true)
      output.write(json: file)
      output.write(",")
    }
    output.write("\"severity\":\"error\"")
    output.write(field: "message")
    output.write(json: message)
    if let help {
      output.write(field: "help")
      output.write(json: help)
    }
    output.write("}\n")
  }

  /// Tells a program that waits for the events of a run why there are none.
  func writeEvents(of failure: PlanningFailure) {
    switch failure {
    case .invalid(let diagnostics, let sources):
      for diagnostic in diagnostics {
        let object = render([diagnostic], in: sources, format: .json)
        output.isFormat = true
        output.write(own: "{\"event\":\"error\",\(object.dropFirst())")
      }
    case .unknownSteps(let steps):
      for step in steps { writeJSON(step.message, help: step.help, file: nil, isEvent: true) }
    case .emptySelection(let message, let help):
      writeJSON(message, help: help, file: nil, isEvent: true)
    case .badParameters(let faults):
      for message in faults.messages { writeJSON(message, help: nil, file: nil, isEvent: true) }
    }
  }
}

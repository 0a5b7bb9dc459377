// How these tests make plans: from a text to a plan or the rendered errors.

import Diagnostics
import Pipelines
import Plans
import Scheduling
import Testing

/// The result for a text.
enum Planned {
  case plan(Plan)
  case errors(String)
  case noSelection(String)
  case badParameters(String)
}

func planned(_ bytes: [UInt8], _ options: PlanningOptions = PlanningOptions()) -> Planned {
  do throws(PlanningFailure) {
    return .plan(try makePlan(path: "pipeline.yml", bytes: bytes, options: options))
  } catch {
    switch error {
    case .invalid(let diagnostics, let sources):
      return .errors(render(diagnostics, in: sources))
    case .unknownSteps(let steps):
      let lines = steps.map { $0.message + ($0.help.map { "; \($0)" } ?? "") }
      return .noSelection(lines.joined(separator: "\n"))
    case .emptySelection(let message, _): return .noSelection(message)
    case .badParameters(let faults):
      return .badParameters(faults.messages.map { $0 + "\n" }.joined())
    }
  }
}

/// The plan of a text that must be valid.
func plan(
  _ text: String, _ options: PlanningOptions = PlanningOptions(),
  sourceLocation: SourceLocation = #_sourceLocation
) throws -> Plan {
  switch planned(Array(text.utf8), options) {
  case .plan(let plan): return plan
  case .errors(let text), .noSelection(let text), .badParameters(let text):
    Issue.record(Comment(rawValue: text), sourceLocation: sourceLocation)
    throw Unplanned()
  }
}

struct Unplanned: Error {}

/// The rendered errors of a text that must be invalid.
func errors(_ text: String) -> String { errors(Array(text.utf8)) }

func errors(_ bytes: [UInt8]) -> String {
  switch planned(bytes) {
  case .plan: "no errors"
  case .errors(let text), .noSelection(let text), .badParameters(let text): text
  }
}

/// Only the messages: `3:5: wrong`.
func messages(_ text: String) -> [String] { messages(Array(text.utf8)) }

func messages(_ bytes: [UInt8]) -> [String] {
  var options = PlanningOptions()
  options.demandsAllParameters = false
  options.files = PipelineFiles { path, _ in .success(exampleFiles[path].map { Array($0.utf8) }) }
  do throws(PlanningFailure) {
    _ = try makePlan(path: "p", bytes: bytes, options: options)
    return []
  } catch {
    guard case .invalid(let diagnostics, let sources) = error else { return ["no selection"] }
    return render(diagnostics, in: sources, format: .short).split(separator: "\n").map {
      String($0).replacing("p:", with: "", maxReplacements: 1).replacing(
        " error:", with: "", maxReplacements: 1)
    }
  }
}

/// A pipeline of one step `a` with these additional lines.
func step(_ lines: String) -> String {
  let lines = lines.split(separator: "\n", omittingEmptySubsequences: false)
  return "steps:\n  - id: a\n" + lines.map { "    \($0)\n" }.joined()
}

extension Plan {
  /// The edges as `from>to`, with the condition where it is not `ok`.
  var edges: [String] {
    steps.indices.flatMap { index in
      graph.dependencies(of: OperationID(index)).map { edge in
        let condition = edge.condition == .ok ? "" : ":\(edge.condition)"
        return "\(steps[edge.from.index].id)>\(steps[index].id)\(condition)"
      }
    }
  }
}

// Why edited steps of a resumed run run again: another value of a parameter counts as an edit of
// all steps that use it.

import Diagnostics
import Execution
import Expressions
import Pipelines
import Plans
import Scheduling
import State

/// The parameters whose values differ from those of an earlier run.
private struct ChangedParameters {
  let names: [String]
  /// The pipeline with the values of that run; nil if none has changed, or if the file no longer accepts them.
  let before: Plan?

  /// Compares with a request: that of the resumed run, or of one before or after it whose results count.
  init(since request: RunRequest, _ resumed: ResumedRun, _ planned: PlannedPipeline) {
    let given = Set(planned.invocation.assignments(Options.param).map(\.name))
    names = planned.plan.parameters.filter { parameter in
      let name = parameter.name
      if request.secretParameters.contains(name) { return given.contains(name) }
      let values = [request.parameters, planned.options.parameters].map { arguments in
        (arguments.last { $0.name == name }?.value ?? parameter.defaultValue).map(ExactText.init)
      }
      return values[0] != values[1]
    }.map(\.name)
    if names.isEmpty {
      before = nil
    } else {
      var options = planned.options.refusing(planned.reading.secrets)
      options.parameters = resumed.parameters(of: request)
      before = try? planned.pipeline.plan(options)
    }
  }

  /// The reason for steps that were edited.
  var edited: String {
    names.isEmpty || before != nil
      ? "edited since that run" : "edited since that run, or changed by '--param'"
  }

  /// The reason for steps that other values of parameters have changed.
  var words: String {
    let shown = inWords(names.map(quoted), last: "and")
    return names.count == 1
      ? "parameter \(shown) has changed, which commands get as $\(parameterVariable(names[0]))"
      : "parameters \(shown) have changed, which commands get as $OPRUN_PARAM_…"
  }
}

extension Tool {
  /// The edited steps by the reason: what has changed each since the run in which it ran.
  func reasonsOfEdited(
    _ foreseen: Foresight, _ resumed: ResumedRun, _ planned: PlannedPipeline
  ) -> [(reason: String, operations: [OperationID])] {
    var reasons: [(reason: String, operations: [OperationID])] = []
    func add(_ reason: String, _ operations: [OperationID]) {
      if let known = reasons.firstIndex(where: { $0.reason == reason }) {
        reasons[known].operations = (reasons[known].operations + operations).sorted()
      } else {
        reasons.append((reason, operations))
      }
    }
    for (run, operations) in foreseen.editedByRun {
      // The request of a run that was removed is replaced by that of the resumed run.
      let request = (try? resumed.store.request(ofRun: run)) ?? nil
      let parameters = ChangedParameters(
        since: request ?? resumed.earlier.request, resumed, planned)
      let changed = parameters.before.map { foreseen.edited(onlySince: $0) } ?? []
      add(parameters.edited, operations.filter { !changed.contains($0) })
      add(parameters.words, operations.filter(changed.contains))
    }
    return reasons
  }
}

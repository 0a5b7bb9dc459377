// The front door of this module: the bytes of a pipeline file in, a plan or its diagnostics out.

package import Diagnostics
import Expressions
package import Plans
package import Scheduling

/// What the command line adds to the file.
package struct PlanningOptions: Sendable {
  /// What `max_parallel: auto` stands for.
  package var processorCount: Int
  /// `-j`: the width of the default queue, whatever the file says.
  package var maxParallel: Int?
  /// `--fail-fast`: in place of the file's `failure_policy`.
  package var failurePolicy: FailurePolicy?
  /// `--timeout`: in place of the file's.
  package var timeout: Nanoseconds?
  /// Ids of steps to run, with all that they need; empty means what the file says: its `default`, or
  /// every step that is not manual.
  package var selection: [String]
  /// Where nothing is selected every step is in the plan: for listings.
  package var showsEveryStep = false
  /// Values for the pipeline's parameters. The last of several for one counts.
  package var parameters: [ParameterArgument] = []
  /// Variables that oprun inherited: `OPRUN_PARAM_<NAME>` counts where no argument does.
  package var environment: [String: String] = [:]
  /// Those of them whose value is not UTF-8: to be refused where they are used.
  package var undecodable: [String: TextDecodingFailure] = [:]
  /// A required parameter without a value is a failure; else its value is unknown.
  package var demandsAllParameters = true
  package var host = HostFacts()
  package var files = PipelineFiles.none
  /// Answers the name of a secret that a text holds. Called for values that are put into commands.
  package var secretHeld: (@Sendable (String) -> String?)?
  /// Variables that are secrets, in any of the files; the value says whether one must be there.
  var secretVariables: [String: Bool] = [:]

  package init(
    processorCount: Int = 1, maxParallel: Int? = nil, failurePolicy: FailurePolicy? = nil,
    timeout: Nanoseconds? = nil, selection: [String] = []
  ) {
    self.processorCount = processorCount
    self.maxParallel = maxParallel
    self.failurePolicy = failurePolicy
    self.timeout = timeout
    self.selection = selection
  }
}

/// Why there is no plan.
package enum PlanningFailure: Error {
  /// The file is at fault: everything that was found, sorted by place. Exit status 3.
  case invalid([Diagnostic], SourceMap)
  /// The selection names a step that is not there, or nothing is selected. Exit status 4.
  case emptySelection(message: String, help: String? = nil)
  /// Parameters have wrong values or none, one message for each. Exit status 2.
  case badParameters(ParameterFaults)
}

/// A pipeline that was read, with all files that belong to it. What is wrong with them is told by
/// `plan`.
package struct LoadedPipeline {
  private let path: String
  private let bytes: [UInt8]
  private let files: PipelineFiles
  private var loader: PipelineLoader

  /// `path` is what messages call the file.
  package init(path: String, bytes: [UInt8], files: PipelineFiles) {
    var loader = PipelineLoader(files: files)
    loader.load(path: path, bytes: bytes)
    self.path = path
    self.bytes = bytes
    self.files = files
    self.loader = loader
  }

  /// Makes what is said about the files anew, when it is known what must not be shown.
  package mutating func renewMessages() {
    guard !loader.log.isEmpty else { return }
    self = LoadedPipeline(path: path, bytes: bytes, files: files)
  }

  /// What is declared, as far as the files could be read.
  package var secrets: [SecretSource] { loader.models.secrets }

  package func plan(_ options: PlanningOptions) throws(PlanningFailure) -> Plan {
    let sources = loader.sources
    if loader.isCutShort {
      var log = loader.log
      throw .invalid(log.sorted(), sources)
    }
    // Spans count over all files, one after the other.
    let text = sources.files.count == 1 ? bytes : sources.joined
    return try text.withUnsafeBufferPointer { (text) throws(PlanningFailure) -> Plan in
      try makePlan(path: path, loader, SourceText(text, start: 0).remembering, options)
    }
  }
}

/// Turns the text of a pipeline file into a plan. `path` is what messages call the file.
package func makePlan(
  path: String, bytes: [UInt8], options: PlanningOptions
) throws(PlanningFailure) -> Plan {
  try LoadedPipeline(path: path, bytes: bytes, files: options.files).plan(options)
}

private func makePlan(
  path: String, _ loader: PipelineLoader, _ text: SourceText, _ options: PlanningOptions
) throws(PlanningFailure) -> Plan {
  var log = loader.log
  var faults = ParameterFaults()
  var options = options
  options.secretVariables = loader.models.secretVariables
  let inputs = PipelineInputs(root: loader.models[0], options: options, log: &log, faults: &faults)
  var planner = Planner(loader.models, text, inputs, options: options, log: log)
  guard planner.log.isEmpty else { throw .invalid(planner.log.sorted(), loader.sources) }
  guard faults.isEmpty else { throw .badParameters(faults) }
  let isKept = try planner.selection(path: path)
  var builder = PlanBuilder(planner, loader.sources, isKept)
  let plan = builder.plan(path: path, isKept)
  guard builder.log.isEmpty else {
    throw .invalid(builder.log.sorted(), loader.sources)
  }
  return plan
}

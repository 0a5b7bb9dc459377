// The entry point of this module: from the bytes of a pipeline file to a plan or its diagnostics.

package import Diagnostics
import Expressions
package import Plans
package import Scheduling

/// The options that the command line adds to the file.
package struct PlanningOptions: Sendable {
  /// The value of `max_parallel: auto`.
  package var processorCount: Int
  /// The width of the default queue where the file says `auto` or nothing; nil means the number of
  /// processors.
  package var automaticWidth: Int?
  /// The width of the default queue from `-j`, whatever the file says.
  package var maxParallel: Int?
  /// The executor of steps, from `--executor`.
  package var executor: StepExecutor?
  /// The memory of this machine in bytes, if it is known.
  package var memory: Int?
  /// The policy from `--fail-fast`, which replaces the file's `failure_policy`.
  package var failurePolicy: FailurePolicy?
  /// The time limit from `--timeout`, which replaces the file's.
  package var timeout: Nanoseconds?
  /// The ids of the steps to run, along with everything they need; empty means the choice of the
  /// file: its `default`, or every step that is not manual.
  package var selection: [String]
  /// True for listings: if nothing is selected, every step is in the plan.
  package var showsEveryStep = false
  /// The values for the pipeline's parameters. If one has several values, the last one wins.
  package var parameters: [ParameterArgument] = []
  /// The arguments after `--`, for the parameter that takes them; empty if there are none.
  package var rest: [String] = []
  /// The variables that oprun inherited: `OPRUN_PARAM_<NAME>` is used if there is no argument.
  /// A value that is not UTF-8 is refused where it is used.
  package var inherited = InheritedVariables()
  /// True if such variables count only for parameters that must be given: the other parameters of a
  /// resumed run had their defaults.
  package var prefersDefaults = false
  /// True if a required parameter without a value is a failure; otherwise its value is unknown.
  package var demandsAllParameters = true
  package var host = HostFacts()
  /// The absolute path of the directory that oprun was started in, if it is known.
  package var workspace: String?
  package var files = PipelineFiles.none
  /// Returns the name of a secret that a string contains. Called for values that are inserted into
  /// commands.
  package var secretHeld: (@Sendable (String) -> String?)?
  /// The variables that are secrets in any of the files; the value says whether one is required.
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
  /// The file is at fault; the diagnostics are all faults that were found, sorted by location. Exit status 3.
  case invalid([Diagnostic], SourceMap)
  /// The selection names steps that do not exist. Exit status 2.
  case unknownSteps([UnknownStep])
  /// Nothing is selected. Exit status 4.
  case emptySelection(message: String, help: String? = nil)
  /// Parameters have wrong values or none, one message for each. Exit status 2.
  case badParameters(ParameterFaults)
}

/// A name of the selection that no step has.
package struct UnknownStep: Hashable, Sendable {
  package let name: String
  package let message: String
  /// The id of the step with the closest name.
  package let closest: String?
  /// The names of the existing instances, if the name is like that of one.
  package let instances: String?

  package var help: String? { instances ?? didYouMean(closest) }
}

/// A pipeline that was read, with all its files. `plan` reports their faults.
package struct LoadedPipeline {
  private let path: String
  private let bytes: [UInt8]
  private let files: PipelineFiles
  private var loader: PipelineLoader

  /// Reads a pipeline; `path` is the name of the file in messages.
  package init(path: String, bytes: [UInt8], files: PipelineFiles) {
    var loader = PipelineLoader(files: files)
    loader.load(path: path, bytes: bytes)
    self.path = path
    self.bytes = bytes
    self.files = files
    self.loader = loader
  }

  /// Makes the messages about the files again, once it is known what must be hidden in them.
  package mutating func renewMessages() {
    guard !loader.log.isEmpty else { return }
    self = LoadedPipeline(path: path, bytes: bytes, files: files)
  }

  package var sources: SourceMap { loader.sources }
  var models: [PipelineModel] { loader.models }

  /// The declared secrets, as far as the files could be read.
  package var secrets: [SecretSource] { loader.models.secrets }

  /// The location of a secret's declaration, if possible of one that requires it.
  package func place(ofSecret name: String) -> Span? {
    let declared = loader.models.flatMap(\.secrets).filter { $0.name == name }
    return (declared.first(where: \.source.isRequired) ?? declared.first)?.span
  }

  /// The steps as they are written; nil if the pipeline has several files.
  package var writtenSteps: WrittenSteps? {
    guard loader.sources.files.count == 1, let model = loader.models.first else { return nil }
    return WrittenSteps(places: model.stepPlaces, file: bytes)
  }

  /// The paths of the files that were read, the pipeline's first.
  package var paths: [String] { loader.sources.files.map(\.path) }

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

/// Turns the text of a pipeline file into a plan. `path` is the name of the file in messages.
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
  let builder = PlanBuilder(planner, loader.sources, isKept)
  let plan = builder.plan(path: path, isKept)
  builder.checkDeclarations(of: plan)
  guard builder.log.isEmpty else {
    throw .invalid(builder.log.sorted(), loader.sources)
  }
  return plan
}

// The settings that a pipeline use gets from outside: from the file around it, and from the step
// that uses it. docs/design-planning.md, “Pipeline uses”.

import Expressions
import Plans
import Scheduling

struct Surroundings {
  /// The pipeline use of the file around it; nil if it is a whole file.
  var enclosing: PipelineUse?
  /// True if its steps are inside of the step: they see everything that the step sees.
  var isGroup = false
  /// Variables that groups give to their steps; they override the defaults of the file.
  var environment: [VariableModel] = []
  /// The directories in which relative paths of its steps start, each relative to the one before.
  var directories: [GivenText] = []
  /// True if an enclosing step, rather than the file, specifies the directory.
  var hasGivenDirectory = false
  /// True if an enclosing group specifies the directory: then the defaults of the file do not.
  var hasGroupDirectory = false
  /// The queue of the enclosing groups, which overrides the defaults of the file.
  var groupQueue: Reference?
  /// The queue of the step that uses the file, which does not override them.
  var fileQueue: Reference?
  /// The pools for the widths of the enclosing pipelines.
  var pools: [PoolID] = []
  /// The executor that the enclosing files specify.
  var executor: StepExecutor?
  var request = SlurmRequest()

  init() {}

  /// Makes the surroundings of the root pipeline.
  init(root model: PipelineModel) {
    if let directory = model.workingDirectory { directories = [GivenText(text: directory)] }
  }
}

/// The settings of a step for the pipeline that it uses.
private struct Given {
  let environment: [VariableModel]
  /// The directory of the included file that contains the step.
  let base: GivenText?
  let directory: GivenText?
  let queue: Reference?
}

extension Planner {
  /// The surroundings of the pipeline that a step uses; `number` is that of the pipeline use.
  mutating func surroundings(
    _ uses: UsesModel, _ model: PipelineModel, at address: StepAddress, number: Int
  ) -> Surroundings {
    let outer = pipelines[address.pipeline].surroundings
    var result = Surroundings()
    result.isGroup = uses.kind == .group
    result.enclosing = enclosing(uses.kind, at: address)
    result.pools = outer.pools
    result.executor = pipelines[address.pipeline].executor
    result.request = pipelines[address.pipeline].request
    let given = given(at: address, number: number)
    result.environment = merged(outer.environment, given.environment)
    result.hasGivenDirectory = outer.hasGivenDirectory || given.directory != nil
    let start = given.base.map { [$0] } ?? outer.directories
    let base = given.directory.map { start + [$0] } ?? start
    if result.isGroup {
      result.directories = base
      result.hasGroupDirectory = outer.hasGroupDirectory || given.directory != nil
      result.groupQueue = given.queue ?? outer.groupQueue
      result.fileQueue = outer.fileQueue
      return result
    }
    result.fileQueue = given.queue ?? outer.groupQueue ?? outer.fileQueue
    if result.hasGivenDirectory {
      result.directories = base.map { handedOver($0, at: address, number) }
    } else {
      result.directories = result.enclosing?.surroundings.directories ?? []
    }
    if let directory = model.workingDirectory {
      result.directories.append(GivenText(text: directory))
    }
    return result
  }

  private func enclosing(_ kind: UsesModel.Kind, at address: StepAddress) -> PipelineUse? {
    var use = pipelines[address.pipeline]
    switch kind {
    case .builtIn, .file: return nil
    case .group: return use
    case .section:
      while let enclosing = use.enclosing { use = enclosing }
      return use
    }
  }

  /// The settings of the step, with everything inserted that is known.
  private mutating func given(
    at address: StepAddress, number: Int
  ) -> Given {
    let pipeline = pipelines[address.pipeline]
    var environment: [VariableModel] = []
    var base: GivenText?
    var directory: GivenText?
    let settings = pipeline.settings(ofStep: address.step)
    for setting in settings < 0 ? [] : pipeline.model.settings[Int(settings)] {
      switch setting {
      case .environment(let variables):
        environment += variables.map { given($0, at: address, number) }
      case .workingDirectory(let path):
        directory = handedOver(GivenText(text: path), at: address, number)
      case .baseDirectory(let path):
        base = handedOver(GivenText(text: path), at: address, number)
      case .shell, .standardInput, .timeout, .early, .retry, .allowFailure, .allowFailureIf, .stop,
        .logLimit, .nice, .tty, .untrustedOutput, .orphans, .jobserver, .hook, .outputs, .cache,
        .executor, .slurm:
        break
      }
    }
    let attributes = pipeline.model.steps[address.step].attributes
    let placement = attributes < 0 ? -1 : pipeline.model.attributes[Int(attributes)].placement
    let queue =
      placement < 0 ? nil : known(pipeline.model.placements[Int(placement)], at: address).queue
    return Given(environment: environment, base: base, directory: directory, queue: queue)
  }

  private mutating func given(
    _ variable: VariableModel, at address: StepAddress, _ number: Int
  ) -> VariableModel {
    let text = handedOver(GivenText(text: variable.value), at: address, number)
    return VariableModel(
      name: variable.name, span: variable.span, value: text.text, giver: text.giver)
  }

  /// A text of the step itself, for the steps of another scope.
  private mutating func handedOver(
    _ text: GivenText, at address: StepAddress, _ number: Int
  ) -> GivenText {
    guard text.giver < 0, text.text.template != nil else { return text }
    do throws(EvaluationFailure) {
      let folded = try values(at: address).fold(text.text)
      return GivenText(text: folded, giver: folded.template == nil ? -1 : Int32(number))
    } catch {
      report(error)
      return GivenText(text: .plain(""))
    }
  }
}

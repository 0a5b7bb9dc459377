// What a pipeline use has from outside: from the file that it stands in, and from the step that uses it.
// docs/design-planning.md, “Pipeline uses”.

import Expressions
import Plans
import Scheduling

struct Surroundings {
  /// The pipeline use in whose file it stands; nil for that of a whole file.
  var enclosing: PipelineUse?
  /// Its steps stand in the step: they see what that sees.
  var isGroup = false
  /// Variables that groups give to their steps: they win over the defaults of the file.
  var environment: [VariableModel] = []
  /// Where relative paths of its steps start: one path after the other.
  var directories: [GivenText] = []
  /// Whether a step around it, rather than the file, says where it runs.
  var hasGivenDirectory = false
  /// The same for the groups that it is in: then the defaults of the file do not say it.
  var hasGroupDirectory = false
  /// The queue of the groups that it is in, which wins over the defaults of the file.
  var groupQueue: Reference?
  /// The queue of the step that uses the file, which does not.
  var fileQueue: Reference?
  /// Widths of the pipelines that it is in.
  var pools: [PoolID] = []
  /// What the files around it say about where steps run.
  var executor: StepExecutor?
  var request = SlurmRequest()

  init() {}

  /// Makes the surroundings of the root pipeline.
  init(root model: PipelineModel) {
    if let directory = model.workingDirectory { directories = [GivenText(text: directory)] }
  }
}

/// What a step says of the pipeline that it uses.
private struct Given {
  let environment: [VariableModel]
  /// The directory of an included file that the step is in.
  let base: GivenText?
  let directory: GivenText?
  let queue: Reference?
}

extension Planner {
  /// What the step gives to the pipeline that it uses; `number` is that of the pipeline use.
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

  /// What the step says, with everything put in that is known.
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

  /// A text of the step's own, for the steps of another scope.
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

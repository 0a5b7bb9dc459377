// A pipeline as it is written: every value has its type, names are not looked up, defaults are not
// filled in.

import Diagnostics
import Expressions
import Plans
import Scheduling

/// The content of a file. Steps are kept small; parts that only a few of them have are stored separately.
struct PipelineModel {
  var name: String?
  var description: String?
  /// The locations of the keys that a file has at most once.
  var written: [PipelineKey: Span] = [:]
  /// The keys whose values are of the wrong type, which is reported: the names that they declare are not known.
  var unreadable: Set<String> = []
  var includes: [Reference] = []
  var dotenv: [Reference] = []
  /// The variables from the files of `dotenv`, once they are read.
  var fileVariables: [VariableModel] = []
  var params: [ParamModel] = []
  var vars: [VarModel] = []
  var environment: [VariableModel] = []
  var secrets: [SecretModel] = []
  /// The outputs that a step which uses this pipeline gets.
  var outputs: [OutputModel] = []
  var width: QueueWidth?
  var queues: [QueueModel] = []
  var resources: [ResourceModel] = []
  /// The executor of steps that do not specify one.
  var executor: StepExecutor?
  var slurm: SlurmModel?
  var defaultSettings: [Setting] = []
  var defaultPlacement = PlacementModel()
  var failurePolicy = FailurePolicy.continue
  var sharedCache = SharedCacheAddress()
  /// The location of the name of the shared cache's secret.
  var cacheSecretSpan: Span?
  /// True if runs of the pipeline wait for each other.
  var isExclusive = false
  var timeout: Nanoseconds?
  var earlyTimeout: EarlyValue?
  var shell: [String]?
  var workingDirectory: Text?
  /// True if the steps run in sequence; nil means as in the pipeline around this one.
  var sequence: Bool?
  /// The first step of the sequence of each step of an included file; −1 if its file has no
  /// sequence, `unsaid` if the file does not say. Empty if no file says.
  var sequenceStarts: [Int32] = []
  /// The steps that run when none is named; nil means every step that is not manual.
  var defaultSteps: [Reference]?
  var hasManualSteps = false
  var hooks: [HookKind: [HookModel]] = [:]

  var steps: [StepModel] = []
  /// The positions of the steps in the file; none if several files were merged.
  var stepPlaces = StepPlaces()
  /// The dependencies of all steps, in file order.
  var dependencies: [DependencyModel] = []
  /// Actions whose text does not appear in the file unchanged.
  var actions: [CommandModel] = []
  /// The uses of steps that use something instead of running a command.
  var uses: [UsesModel] = []
  /// The attributes of steps that set more than id, command and edges.
  var attributes: [AttributesModel] = []
  /// The distinct lists of settings; only those in pure ASCII are certain to be distinct.
  var settings: [[Setting]] = []
  var descriptions: [String] = []
  var placements: [PlacementModel] = []
  /// The parts that only a few steps have: conditions, matrices, `wait_for`.
  var controlFlows: [ControlFlowModel] = []
  /// The steps inside of steps, until they are linked.
  var groups: [PipelineModel] = []
  /// The pipelines for `uses: '#name'`, until they are linked.
  var sections: [SectionModel] = []
  /// The number of generated steps, which come after all others: commands of `vars`.
  private(set) var varStepCount = 0

  static let maxStepCount = 1_000_000
  static let maxDependencyCount = 4_000_000
  static let maxVarCount = 1000

  /// The steps of the file.
  var writtenSteps: Range<Int> { 0..<(steps.count - varStepCount) }

  var hasVarSteps: Bool { varStepCount > 0 }

  func isVarStep(_ step: Int) -> Bool { step >= steps.count - varStepCount }

  /// Adds the steps that run the commands of `vars`, each only if it is needed. Called after all
  /// files are merged.
  mutating func addVarSteps() {
    for index in vars.indices {
      guard case .command(let command) = vars[index].source else { continue }
      hasManualSteps = true
      vars[index].step = steps.count
      varStepCount += 1
      settings.append([])
      attributes.append(
        AttributesModel(isManual: true, settings: Int32(truncatingIfNeeded: settings.count - 1)))
      actions.append(command)
      steps.append(
        StepModel(
          id: WrittenText(vars[index].span),
          action: .kept(Int32(truncatingIfNeeded: actions.count - 1)),
          firstDependency: Int32(truncatingIfNeeded: dependencies.count),
          attributes: Int32(truncatingIfNeeded: attributes.count - 1)))
    }
  }

  var hasTimeout: Bool { timeout != nil || earlyTimeout != nil }

  static let unsaid: Int32 = -2

  var isSequence: Bool { sequence ?? false }
  var hasSequence: Bool { isSequence || !sequenceStarts.isEmpty }

  /// The first step of the sequence that a step belongs to; nil if it belongs to none.
  func sequenceStart(of step: Int) -> Int? {
    if step < sequenceStarts.count, sequenceStarts[step] != Self.unsaid {
      return sequenceStarts[step] < 0 ? nil : Int(sequenceStarts[step])
    }
    return isSequence ? 0 : nil
  }

  /// The range of a step's own dependencies in `dependencies`.
  func dependencyRange(of step: Int) -> Range<Int> {
    let isLast = step + 1 == steps.count
    let end = isLast ? dependencies.count : Int(steps[step + 1].firstDependency)
    return Int(steps[step].firstDependency)..<end
  }
}

enum QueueWidth: Hashable {
  case automatic
  case count(Int)
  case early(EarlyValue)
}

struct QueueModel: NamedModel {
  let name: String
  let span: Span
  var width = QueueWidth.automatic
  var startsSuspended = false
}

struct ResourceModel: NamedModel {
  let name: String
  let span: Span
  /// The capacity in millionths; nil if the written value is not an amount.
  var capacity: Int64?
  /// An expression in place of the capacity.
  var early: EarlyValue?
}

/// A pipeline in the file of another one.
struct SectionModel: NamedModel {
  let name: String
  let span: Span
  var model: PipelineModel
}

/// A member of `vars`.
struct VarModel: NamedModel {
  enum Source {
    case value(ValueModel)
    /// The value is the text that the command prints.
    case command(CommandModel)
  }

  let name: String
  let span: Span
  let source: Source
  /// The number of the step that runs the command.
  var step: Int?

  var templates: [Template] {
    switch source {
    case .value(let value): value.templates
    case .command(let command): command.templates
    }
  }
}

struct SecretModel: NamedModel {
  let span: Span
  let source: SecretSource

  var name: String { source.name }
}

/// One step; it takes 28 bytes and contains no string.
struct StepModel {
  /// The location of the id in the file.
  var id: WrittenText
  var action: ActionModel
  var firstDependency: Int32
  /// An index into `PipelineModel.attributes`; −1 means none.
  var attributes: Int32 = -1
}

/// The attributes of a step beyond id, command and edges; −1 means none.
struct AttributesModel {
  var label: Text?
  var isManual = false
  /// An index into `PipelineModel.descriptions`.
  var description: Int32 = -1
  /// An index into `PipelineModel.settings`.
  var settings: Int32 = -1
  /// An index into `PipelineModel.placements`.
  var placement: Int32 = -1
  /// An index into `PipelineModel.controlFlows`.
  var controlFlow: Int32 = -1

  /// True if no setting of the command is among them.
  var isPlain: Bool { label == nil && settings < 0 }
}

/// A string that is in the file byte for byte, at most 65,535 bytes long.
struct WrittenText {
  private let start: UInt32
  private let byteCount: UInt16

  init(_ span: Span) {
    start = span.start
    byteCount = UInt16(clamping: span.end - span.start)
  }

  var span: Span { Span(start: Int(start), end: Int(start) + Int(byteCount)) }
}

/// The action of a step.
enum ActionModel {
  /// A script that is in the file byte for byte.
  case written(start: UInt32, byteCount: UInt32)
  /// An index into `PipelineModel.actions`.
  case kept(Int32)
  /// An index into `PipelineModel.uses`.
  case uses(Int32)

  /// The action of a step whose own was reported as wrong.
  static let none = ActionModel.written(start: 0, byteCount: 0)
}

/// An edge by name. It takes 8 bytes.
struct DependencyModel {
  let step: WrittenText
  let condition: EdgeCondition
  let traits: Traits

  struct Traits: OptionSet {
    let rawValue: UInt8

    /// The edge counts only if the dependency is in the selected graph.
    static let optional = Traits(rawValue: 1)
    /// The edge has no `when`.
    static let implicit = Traits(rawValue: 2)
    /// The edge has `match: matrix`.
    static let matched = Traits(rawValue: 4)
  }
}

/// A name, and its location.
struct Reference {
  let name: String
  let span: Span
}

/// The settings of a step for when it runs; nil for those that are not written.
struct PlacementModel {
  var queue: Reference?
  var priority: Int16?
  var mutex: Text?
  /// True if other runs on the machine share the mutex.
  var isMutexOfHost = false
  var claims: [ClaimModel]?
  var expected: Nanoseconds?
  var isService = false
  var executor: StepExecutor?
  /// Expressions in place of values; those for resources are in addition to `claims`.
  var early: [EarlyValue] = []
}

struct ClaimModel {
  let resource: Reference
  /// The amount in millionths.
  let amount: Int64
  let amountSpan: Span
}

/// One command of a hook.
struct HookModel: Hashable {
  let command: CommandModel
  var timeout = HookCommand.defaultTimeout
}

/// One setting of a step or `defaults` about how a command runs. A list of these is small if there
/// are few, and most steps have few.
enum Setting: Hashable {
  case environment([VariableModel])
  case workingDirectory(Text)
  /// The directory to which working directories of steps of included files are relative.
  case baseDirectory(Text)
  case shell([String])
  case standardInput(Text)
  case timeout(Nanoseconds)
  /// An expression in place of a value.
  indirect case early(EarlyValue)
  indirect case retry(RetryPolicy)
  case allowFailure(AllowFailure)
  case allowFailureIf(Expression)
  indirect case stop(StopSequence)
  case logLimit(Int)
  case nice(Int32)
  case tty(Bool)
  case untrustedOutput(Bool)
  case orphans(OrphanAction)
  case jobserver(Bool)
  case hook(HookKind, [HookModel])
  case outputs([OutputDeclaration])
  indirect case cache(CacheModel)
  case executor(StepExecutor)
  indirect case slurm(SlurmModel)
}

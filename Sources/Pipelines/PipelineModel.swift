// A pipeline as it is written: every value has its type, names are not looked up, defaults are not
// filled in.

import Diagnostics
import Expressions
import Plans
import Scheduling

/// The file's content. Steps are kept small, and what few of them have is kept aside.
struct PipelineModel {
  var name: String?
  /// Where the keys that a file has once at most are written.
  var written: [PipelineKey: Span] = [:]
  var includes: [Reference] = []
  var dotenv: [Reference] = []
  /// From the files of `dotenv`, once they are read.
  var fileVariables: [VariableModel] = []
  var params: [ParamModel] = []
  var environment: [VariableModel] = []
  var secrets: [SecretModel] = []
  /// What a pipeline that uses this one gets back.
  var outputs: [OutputModel] = []
  var width: QueueWidth?
  var queues: [QueueModel] = []
  var resources: [ResourceModel] = []
  var defaultSettings: [Setting] = []
  var defaultPlacement = PlacementModel()
  var failurePolicy = FailurePolicy.continue
  var timeout: Nanoseconds?
  var shell: [String]?
  var workingDirectory: Text?
  var isSequence = false
  var hooks: [HookKind: [CommandModel]] = [:]

  var steps: [StepModel] = []
  /// Of all steps, in file order.
  var dependencies: [DependencyModel] = []
  /// Actions whose text does not stand in the file as it is.
  var actions: [CommandModel] = []
  /// Steps that use something instead of running a command.
  var uses: [UsesModel] = []
  /// Steps that set more than id, command and edges.
  var attributes: [AttributesModel] = []
  /// Each different one once.
  var settings: [[Setting]] = []
  var placements: [PlacementModel] = []
  /// What few steps have: conditions, matrices, waits.
  var controlFlows: [ControlFlowModel] = []

  static let maxStepCount = 1_000_000
  static let maxDependencyCount = 4_000_000

  /// The range in `dependencies` of a step's own.
  func dependencyRange(of step: Int) -> Range<Int> {
    let isLast = step + 1 == steps.count
    let end = isLast ? dependencies.count : Int(steps[step + 1].firstDependency)
    return Int(steps[step].firstDependency)..<end
  }
}

enum QueueWidth: Hashable {
  case automatic
  case count(Int)
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
  /// In millionths; nil if what is written is no amount.
  let capacity: Int64?
}

struct SecretModel: NamedModel {
  let span: Span
  let source: SecretSource

  var name: String { source.name }
}

/// One step, 28 bytes and no text of its own.
struct StepModel {
  /// Where the id stands in the file.
  var id: WrittenText
  var action: ActionModel
  var firstDependency: Int32
  /// A number of `PipelineModel.attributes`; −1 is none.
  var attributes: Int32 = -1
}

/// What a step sets beyond id, command and edges; −1 is nothing.
struct AttributesModel {
  var label: Text?
  /// A number of `PipelineModel.settings`.
  var settings: Int32 = -1
  /// A number of `PipelineModel.placements`.
  var placement: Int32 = -1
  /// A number of `PipelineModel.controlFlows`.
  var controlFlow: Int32 = -1

  /// It sets nothing about the command.
  var isPlain: Bool { label == nil && settings < 0 }
}

/// A text that stands in the file byte for byte, at most 65,535 bytes long.
struct WrittenText {
  private let start: UInt32
  private let byteCount: UInt16

  init(_ span: Span) {
    start = span.start
    byteCount = UInt16(clamping: span.end - span.start)
  }

  var span: Span { Span(start: Int(start), end: Int(start) + Int(byteCount)) }
}

/// What a step runs.
enum ActionModel {
  /// A script that stands in the file byte for byte.
  case written(start: UInt32, byteCount: UInt32)
  /// A number of `PipelineModel.actions`.
  case kept(Int32)
  /// A number of `PipelineModel.uses`.
  case uses(Int32)

  /// In place of an action that was reported.
  static let none = ActionModel.written(start: 0, byteCount: 0)
}

/// An edge by name. 8 bytes.
struct DependencyModel {
  let step: WrittenText
  let condition: EdgeCondition
  let traits: Traits

  struct Traits: OptionSet {
    let rawValue: UInt8

    /// Counts only if that step is in the selected graph.
    static let optional = Traits(rawValue: 1)
    /// `when` is not written.
    static let implicit = Traits(rawValue: 2)
    /// `match: matrix`.
    static let matched = Traits(rawValue: 4)
  }
}

/// A name, and where it is written.
struct Reference {
  let name: String
  let span: Span
}

/// What a step says about when it runs. Nil is not written.
struct PlacementModel {
  var queue: Reference?
  var priority: Int16?
  var mutex: Text?
  var claims: [ClaimModel]?
  var expected: Nanoseconds?
  var isService = false
}

struct ClaimModel {
  let resource: Reference
  /// In millionths.
  let amount: Int64
  let amountSpan: Span
}

/// One thing that a step or `defaults` says about how a command runs. A list of these is small where
/// little is said, and most steps say little.
enum Setting: Hashable {
  case environment([VariableModel])
  case workingDirectory(Text)
  case shell([String])
  case standardInput(Text)
  case timeout(Nanoseconds)
  indirect case retry(RetryPolicy)
  case allowFailure(AllowFailure)
  case allowFailureIf(Expression)
  indirect case stop(StopSequence)
  case logLimit(Int)
  case nice(Int32)
  case orphans(OrphanAction)
  case hook(HookKind, [CommandModel])
  case outputs([OutputDeclaration])
}

// Values of the file that may contain expressions.

package import Diagnostics
package import Expressions
package import Scheduling

/// A string, with or without expressions in it.
package enum Text: Hashable, Sendable {
  case plain(String)
  case template(Template)
}

extension Text {
  package var template: Template? {
    if case .template(let template) = self { template } else { nil }
  }
}

/// A text in the scope of a pipeline use that gives it; −1 is the step's own scope.
package struct GivenText: Hashable, Sendable {
  package let text: Text
  package let giver: Int32

  package init(text: Text, giver: Int32 = -1) {
    self.text = text
    self.giver = giver
  }
}

/// The command of a process, as it is written.
package enum CommandModel: Hashable, Sendable {
  case script(Text)
  /// An argument vector; never empty.
  case arguments([Text])
  /// A built-in step or another pipeline; rare and large.
  indirect case uses(UsesModel)
}

extension CommandModel {
  package var templates: [Template] {
    switch self {
    case .script(let text): text.template.map { [$0] } ?? []
    case .arguments(let words): words.compactMap(\.template)
    case .uses(let uses): uses.with.flatMap(\.value.templates)
    }
  }
}

/// Any value.
package indirect enum ValueModel: Hashable, Sendable {
  case constant(Value)
  /// An expression, whose value keeps its type, or a string with expressions in it.
  case template(Template)
  case list([ValueModel])
  case map([MemberModel])
}

package struct MemberModel: Hashable, Sendable {
  package let name: String
  package let span: Span
  package let value: ValueModel
  /// The location of the value; `span` is that of the name.
  package let valueSpan: Span?

  package init(name: String, span: Span, value: ValueModel, valueSpan: Span? = nil) {
    self.name = name
    self.span = span
    self.value = value
    self.valueSpan = valueSpan
  }
}

extension ValueModel {
  package var templates: [Template] {
    switch self {
    case .constant: []
    case .template(let template): [template]
    case .list(let items): items.flatMap(\.templates)
    case .map(let members): members.flatMap(\.value.templates)
    }
  }
}

/// An environment variable.
package struct VariableModel: Hashable, Sendable {
  package let name: String
  package let span: Span
  package let value: Text
  /// The pipeline use in whose scope the value is evaluated, if that is not the scope of the step,
  /// because the variable was given to a nested pipeline. −1 is none.
  package let giver: Int32

  package init(name: String, span: Span, value: Text, giver: Int32 = -1) {
    self.name = name
    self.span = span
    self.value = value
    self.giver = giver
  }

  /// Compares name and value, but not the locations.
  package static func == (left: Self, right: Self) -> Bool {
    left.name == right.name && left.value == right.value && left.giver == right.giver
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(value)
  }
}

/// The values of `uses` and `with`.
package struct UsesModel: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case builtIn(String)
    /// Another pipeline file, as it is written.
    case file(String)
    /// A pipeline of the same file: `#name`, by its name.
    case section(String)
    /// The steps inside of the step itself.
    case group

    /// True if other steps run in place of the step.
    package var isPipeline: Bool {
      switch self {
      case .builtIn: false
      case .file, .section, .group: true
      }
    }
  }

  package let kind: Kind
  /// The location of the value of `uses`.
  package let span: Span
  package let with: [MemberModel]
  /// The index of a pipeline among the models; for a group that was not linked, among those of its file.
  package var model: Int?
  /// The names of the outputs of a pipeline that could be read.
  package var outputs: [String]?

  package init(
    kind: Kind, span: Span, with: [MemberModel], model: Int? = nil, outputs: [String]? = nil
  ) {
    self.kind = kind
    self.span = span
    self.with = with
    self.model = model
    self.outputs = outputs
  }
}

package struct ParamModel: Sendable {
  package enum Kind: String, CaseIterable {
    case string, int, number, bool, list
  }

  package let name: String
  package let span: Span
  package var kind = Kind.string
  package var defaultValue: Value?
  /// The allowed values; nil if any value is allowed.
  package var choices: [Value]?
  /// The pattern that the whole value must match.
  package var pattern: RegularExpression?
  package var isRequired = false
  package var description: String?
  /// True if the parameter is a list of the arguments after `--` on the command line.
  package var takesRest = false

  package init(
    name: String, span: Span, kind: Kind = Kind.string, defaultValue: Value? = nil,
    choices: [Value]? = nil, pattern: RegularExpression? = nil, isRequired: Bool = false,
    description: String? = nil
  ) {
    self.name = name
    self.span = span
    self.kind = kind
    self.defaultValue = defaultValue
    self.choices = choices
    self.pattern = pattern
    self.isRequired = isRequired
    self.description = description
  }
}

/// An output of a pipeline, which becomes an output of a step that uses it.
package struct OutputModel: Sendable {
  package let name: String
  package let span: Span
  package let value: Text

  package init(name: String, span: Span, value: Text) {
    self.name = name
    self.span = span
    self.value = value
  }

  /// The output as a value: if it is exactly one expression, it keeps its type.
  package var member: MemberModel {
    let value: ValueModel =
      switch value {
      case .plain(let text): .constant(.string(text))
      case .template(let template): .template(template)
      }
    return MemberModel(name: name, span: span, value: value)
  }
}

/// The parts that only a few steps have. They are a class, so that reading them copies nothing.
package final class ControlFlowModel: Sendable {
  package let condition: Expression?
  package let matrix: MatrixModel?
  package let probes: [ProbeModel]
  /// The conditions that make a service ready.
  package let readiness: [ProbeModel]

  package init(
    condition: Expression?, matrix: MatrixModel?, probes: [ProbeModel],
    readiness: [ProbeModel] = []
  ) {
    self.condition = condition
    self.matrix = matrix
    self.probes = probes
    self.readiness = readiness
  }

  package var isEmpty: Bool {
    condition == nil && matrix == nil && probes.isEmpty && readiness.isEmpty
  }
  /// True if something besides a matrix may be left for the run.
  package var decidesLate: Bool { condition != nil || hasProbes }
  package var hasProbes: Bool { !probes.isEmpty || !readiness.isEmpty }
}

/// One instance of the step for each combination of the axes.
package struct MatrixModel: Sendable {
  package let span: Span
  package var axes: [AxisModel] = []
  package var included: ValueModel?
  package var excluded: ValueModel?
  /// The number of instances that run at the same time; nil if it is not written.
  package var maxParallel: Int?
  /// The template for that number, if it contains expressions.
  package var earlyMaxParallel: Template?
  package var isFailFast = false
  /// The names of members that are written in the file as literals, wherever they are set.
  package private(set) var writtenNames: Set<ExactText> = []

  package init(
    span: Span, axes: [AxisModel] = [], included: ValueModel? = nil, excluded: ValueModel? = nil,
    maxParallel: Int? = nil, isFailFast: Bool = false, writtenNames: Set<ExactText> = []
  ) {
    self.span = span
    self.axes = axes
    self.included = included
    self.excluded = excluded
    self.maxParallel = maxParallel
    self.isFailFast = isFailFast
    self.writtenNames = writtenNames
  }

  /// Finds the names of literal members. Must be called after the matrix is read.
  package mutating func findWrittenNames() {
    writtenNames = []
    guard let entries = included.map({ $0.writtenEntries }) ?? [] else { return }
    var unwritten: Set<ExactText> = []
    for (name, value) in axes.map({ ($0.name, $0.values) })
      + entries.joined().map({ ($0.name, $0.value) })
    {
      let name = ExactText(text: name)
      if value.isConstant { writtenNames.insert(name) } else { unwritten.insert(name) }
    }
    writtenNames.subtract(unwritten)
  }
}

extension ValueMap {
  /// The names whose values are literals in the file, for an instance with these values inside of
  /// other matrices. `own` are the names of its own matrix, which not every instance has.
  package func writtenNames(own: Set<ExactText>, outer: Set<ExactText>) -> Set<ExactText> {
    own.filter { self[$0.text] != nil }.union(outer.filter { self[$0.text] == nil })
  }
}

extension ValueModel {
  /// True if the value contains no expression.
  fileprivate var isConstant: Bool {
    switch self {
    case .constant: true
    case .template: false
    case .list(let items): items.allSatisfy(\.isConstant)
    case .map(let members): members.allSatisfy { $0.value.isConstant }
    }
  }

  /// The entries of `include`; nil if their names are not known.
  fileprivate var writtenEntries: [[MemberModel]]? {
    guard case .list(let items) = self else { return nil }
    let entries = items.compactMap { if case .map(let members) = $0 { members } else { nil } }
    return entries.count == items.count ? entries : nil
  }
}

package struct AxisModel: Sendable {
  package let name: String
  package let span: Span
  /// The values: a list, or a template that evaluates to one.
  package let values: ValueModel

  package init(name: String, span: Span, values: ValueModel) {
    self.name = name
    self.span = span
    self.values = values
  }
}

/// One condition of `wait_for`.
package struct ProbeModel: Sendable {
  /// What is asked; the raw value is the key of the condition.
  package enum Kind: String, CaseIterable, Sendable {
    case file, tcp, http, command
  }

  /// The time between two checks, if none is written.
  package static let defaultInterval: Nanoseconds = 1_000_000_000

  package let kind: Kind
  package let target: CommandModel
  package let every: Nanoseconds
  package let timeout: Nanoseconds?

  package init(kind: Kind, target: CommandModel, every: Nanoseconds, timeout: Nanoseconds?) {
    self.kind = kind
    self.target = target
    self.every = every
    self.timeout = timeout
  }
}

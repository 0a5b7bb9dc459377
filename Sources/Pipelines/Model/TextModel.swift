// Values of the file in which expressions may stand.

import Diagnostics
import Scheduling

/// A text: as it is, or with expressions in it.
enum Text: Hashable, Sendable {
  case plain(String)
  case template(Template)
}

extension Text {
  var template: Template? {
    if case .template(let template) = self { template } else { nil }
  }
}

/// What a process runs, as it is written.
enum CommandModel: Hashable, Sendable {
  case script(Text)
  /// Never empty.
  case arguments([Text])
  /// Rare and large.
  indirect case uses(UsesModel)
}

extension CommandModel {
  var templates: [Template] {
    switch self {
    case .script(let text): text.template.map { [$0] } ?? []
    case .arguments(let words): words.compactMap(\.template)
    case .uses(let uses): uses.with.flatMap(\.value.templates)
    }
  }
}

/// Any value.
indirect enum ValueModel: Hashable, Sendable {
  case constant(Value)
  /// An expression, whose value keeps its type, or a text with expressions in it.
  case template(Template)
  case list([ValueModel])
  case map([MemberModel])
}

struct MemberModel: Hashable, Sendable {
  let name: String
  let span: Span
  let value: ValueModel
  /// Where the value is written; `span` is the name's.
  var valueSpan: Span?
}

extension ValueModel {
  var templates: [Template] {
    switch self {
    case .constant: []
    case .template(let template): [template]
    case .list(let items): items.flatMap(\.templates)
    case .map(let members): members.flatMap(\.value.templates)
    }
  }
}

/// An environment variable.
struct VariableModel: Hashable, NamedModel, Sendable {
  let name: String
  let span: Span
  let value: Text

  /// Where it is written does not matter.
  static func == (left: Self, right: Self) -> Bool {
    left.name == right.name && left.value == right.value
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(value)
  }
}

/// `uses` and `with`.
struct UsesModel: Hashable, Sendable {
  enum Kind: Hashable, Sendable {
    case builtIn(String)
    /// Another pipeline file, as it is written.
    case file(String)
  }

  let kind: Kind
  /// Of the value of `uses`.
  let span: Span
  let with: [MemberModel]
  /// Of a file: its number among the models.
  var model: Int?
  /// Of a file that could be read: the names of what it gives back.
  var outputs: [String]?
}

struct ParamModel: NamedModel, Sendable {
  enum Kind: String, CaseIterable {
    case string, int, number, bool, list
  }

  let name: String
  let span: Span
  var kind = Kind.string
  var defaultValue: Value?
  /// Nil if any value is allowed.
  var choices: [Value]?
  /// What the whole value must match.
  var pattern: RegularExpression?
  var isRequired = false
  var description: String?
}

/// An output of a pipeline: what a step that uses it offers.
struct OutputModel: NamedModel, Sendable {
  let name: String
  let span: Span
  let value: Text

  /// As a value: what is one expression keeps its type.
  var member: MemberModel {
    let value: ValueModel =
      switch value {
      case .plain(let text): .constant(.string(text))
      case .template(let template): .template(template)
      }
    return MemberModel(name: name, span: span, value: value)
  }
}

/// What few steps have. A class, so that looking at it copies nothing.
final class ExtraModel: Sendable {
  let condition: Expression?
  let matrix: MatrixModel?
  let waits: [WaitModel]

  init(condition: Expression?, matrix: MatrixModel?, waits: [WaitModel]) {
    self.condition = condition
    self.matrix = matrix
    self.waits = waits
  }

  var isEmpty: Bool { condition == nil && matrix == nil && waits.isEmpty }
  /// Whether something besides a matrix may be left for the run.
  var decidesLate: Bool { condition != nil || !waits.isEmpty }
}

/// One instance of the step for each combination of the axes.
struct MatrixModel: Sendable {
  let span: Span
  var axes: [AxisModel] = []
  var included: ValueModel?
  var excluded: ValueModel?
  /// Instances at once; nil is not written.
  var maxParallel: Int?
  var isFailFast = false
  /// Of its members: those that stand in the file as literals, wherever they are set.
  private(set) var writtenNames: Set<String> = []

  /// Once all of it is read.
  mutating func findWrittenNames() {
    writtenNames = []
    guard let entries = included.map({ $0.writtenEntries }) ?? [] else { return }
    var unwritten: Set<String> = []
    for (name, value) in axes.map({ ($0.name, $0.values) })
      + entries.joined().map({ ($0.name, $0.value) })
    {
      if value.isConstant { writtenNames.insert(name) } else { unwritten.insert(name) }
    }
    writtenNames.subtract(unwritten)
  }
}

extension ValueModel {
  /// Whether there is no expression in it.
  fileprivate var isConstant: Bool {
    switch self {
    case .constant: true
    case .template: false
    case .list(let items): items.allSatisfy(\.isConstant)
    case .map(let members): members.allSatisfy { $0.value.isConstant }
    }
  }

  /// The entries of `include`; nil if what they are called is not known.
  fileprivate var writtenEntries: [[MemberModel]]? {
    guard case .list(let items) = self else { return nil }
    let entries = items.compactMap { if case .map(let members) = $0 { members } else { nil } }
    return entries.count == items.count ? entries : nil
  }
}

struct AxisModel: NamedModel, Sendable {
  let name: String
  let span: Span
  /// A list, or a template that gives one.
  let values: ValueModel
}

/// One condition of `wait_for`.
struct WaitModel: Sendable {
  enum Kind {
    case file, tcp, http, command
  }

  let kind: Kind
  let target: CommandModel
  let every: Nanoseconds
  let timeout: Nanoseconds?
}

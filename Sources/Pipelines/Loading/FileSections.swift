// The pipelines that a file defines for its own steps: `pipelines`, used as `#name`.

import Diagnostics
import Plans
import Scheduling

/// The sections that have become models, and those that are being linked.
struct FileSections {
  enum Finding {
    case linked(Int)
    /// A section that is being linked: the names from it to itself.
    case open([String])
    case waiting(PipelineModel)
    /// No such section; the names of those that exist.
    case unknown([String])
  }

  private var models: [String: SectionModel] = [:]
  private var numbers: [String: Int] = [:]
  private var opened: [String] = []
  /// The sections in file order.
  private(set) var names: [String] = []

  init() {}

  init(of file: PipelineModel) {
    names = file.sections.map(\.name)
    for var section in file.sections {
      section.model.inherit(from: file)
      models[section.name] = section
    }
  }

  func span(of name: String) -> Span { models[name]?.span ?? Span(start: 0, end: 0) }

  func find(_ name: String) -> Finding {
    if let start = opened.firstIndex(of: name) { return .open(opened[start...] + [name]) }
    if let number = numbers[name] { return .linked(number) }
    return models[name].map { .waiting($0.model) } ?? .unknown(names)
  }

  mutating func begin(_ name: String) { opened.append(name) }

  mutating func end(_ name: String, _ number: Int) {
    opened.removeLast()
    numbers[name] = number
  }
}

extension PipelineModel {
  /// Inherits the settings of the enclosing pipeline that this one does not specify.
  mutating func inherit(from outer: PipelineModel) {
    defaultSettings = outer.defaultSettings + defaultSettings
    defaultPlacement = defaultPlacement.filled(from: outer.defaultPlacement)
    shell = shell ?? outer.shell
    sequence = sequence ?? outer.sequence
  }
}

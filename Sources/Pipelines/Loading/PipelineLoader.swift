// Loads all the models that belong to one path: included files are merged in, nested pipelines are
// separate models.

import Diagnostics
import Expressions
import Plans

/// Reads the files of a pipeline, each once. Faults are in `log`.
struct PipelineLoader {
  private(set) var sources = SourceMap()
  /// The pipeline itself, then those that steps use.
  private(set) var models: [PipelineModel] = []
  /// The number of levels of nested pipelines in each of them, including itself.
  private var heights: [Int] = []
  /// The number of pipelines that are being linked, each in the one before it.
  private var openLevels = 0
  private var hasTooManyLevels = false
  var log = DiagnosticLog()
  private let files: PipelineFiles
  /// The numbers of pipeline files by path.
  private var numbers: [ExactText: Int] = [:]
  /// The files that are being read, the outermost first.
  private var open: [OpenFile] = []
  /// The files that were included in the pipeline that is being read, by identity.
  private var included: Set<ExactText> = []
  private var byteCount = 0
  /// The number of files named in `dotenv`, whether they exist or not.
  private var variableFileCount = 0
  /// The .env files whose faults have been reported.
  private var reportedVariableFiles: Set<ExactText> = []
  /// The number of steps that use pipeline files, in all files.
  private var useCount = 0
  /// The pipelines that the file defines for its own steps.
  private var sections = FileSections()

  static let maxFileCount = 1000
  static let maxDepth = 32
  static let maxLevelCount = 64

  init(files: PipelineFiles) { self.files = files }

  /// Reads the pipeline, which becomes `models[0]`.
  mutating func load(path: String, bytes: [UInt8]) {
    _ = addPlace()
    models[0] = pipeline(at: path, bytes, number: 0)
  }

  /// True if an included file does not exist, or cannot be parsed as YAML.
  private var lacksFile = false

  /// True if something was not read to its end, so that any name could be missing.
  var isCutShort: Bool { log.isFull || lacksFile }

  /// Adds a number for a model that will be read next.
  private mutating func addPlace() -> Int {
    models.append(PipelineModel())
    heights.append(1)
    return models.count - 1
  }

  private mutating func pipeline(
    at path: String, _ bytes: [UInt8], number: Int
  ) -> PipelineModel {
    open.append(OpenFile(path: path, identity: files.identity(path)))
    let outer = (included, sections)
    included = []
    defer {
      open.removeLast()
      (included, sections) = outer
    }
    var model = merged(decode(path, bytes), at: FilePath(path: path))
    if model.steps.isEmpty, log.isEmpty, let first = model.includes.first {
      log.report(at: first.span) { LoadingMessage.noSteps(at: $0) }
    }
    addVariables(to: &model)
    model.addVarSteps()
    sections = FileSections(of: model)
    link(&model, number)
    for name in sections.names { _ = section(Reference(name: name, span: sections.span(of: name))) }
    model.sections = []
    return model
  }

  private mutating func decode(
    _ path: String, _ bytes: [UInt8], isPart: Bool = false
  ) -> PipelineModel {
    byteCount += bytes.count
    sources.add(path: path, bytes: bytes)
    let model = sources.files.last.flatMap { Decoder.decode($0, isPart: isPart, log: &log) }
    if model == nil, isPart { lacksFile = true }
    return model ?? PipelineModel()
  }

  // MARK: Included files

  private mutating func merged(_ model: PipelineModel, at file: FilePath) -> PipelineModel {
    guard !model.includes.isEmpty else { return model }
    var result = PipelineModel()
    var definitions = Definitions()
    for reference in model.includes where !log.isFull {
      guard let path = path(of: reference, from: file) else {
        lacksFile = true
        continue
      }
      let identity = files.identity(path)
      guard !included.holds(identity) else { continue }
      guard let bytes = read(path, reference, from: file, as: "included file") else {
        lacksFile = true
        continue
      }
      included.insert(ExactText(text: identity))
      open.append(OpenFile(path: path, identity: identity))
      var part = merged(decode(path, bytes, isPart: true), at: FilePath(path: path))
      open.removeLast()
      part.keepOwnSettings(&log)
      result.merge(part, &definitions, log: &log)
    }
    result.merge(model, &definitions, log: &log)
    result.includes = model.includes
    return result
  }

  // MARK: Pipelines that steps use

  /// Gives numbers to all pipelines that the steps of a model use. The model itself has a number, too.
  private mutating func link(_ model: inout PipelineModel, _ ownNumber: Int) {
    guard countUses(of: model) else {
      model = PipelineModel()
      return
    }
    var groups = model.groups
    model.groups = []
    openLevels += 1
    defer { openLevels -= 1 }
    for index in model.uses.indices {
      let uses = model.uses[index]
      if !uses.kind.isPipeline { continue }
      var number = self.number(of: uses, in: model, &groups)
      if let height = number.map({ heights[$0] + 1 }) {
        if height <= Self.maxLevelCount {
          heights[ownNumber] = max(heights[ownNumber], height)
        } else {
          reportLevels(uses)
          number = nil
        }
      }
      model.uses[index].model = number
      model.uses[index].outputs = number.map { models[$0].outputs.map(\.name) }
    }
  }

  /// The number of a pipeline that a step uses; nil if there is none, which is reported.
  private mutating func number(
    of uses: UsesModel, in model: PipelineModel, _ groups: inout [PipelineModel]
  ) -> Int? {
    guard openLevels < Self.maxLevelCount else {
      reportLevels(uses)
      return nil
    }
    switch uses.kind {
    case .builtIn: return nil
    case .file(let name): return nested(Reference(name: name, span: uses.span))
    case .section(let name): return section(Reference(name: name, span: uses.span))
    case .group:
      guard let group = uses.model else { return nil }
      groups[group].inherit(from: model)
      return add(&groups[group])
    }
  }

  /// Reports too many levels, once: all pipelines around the innermost one have too many, too.
  private mutating func reportLevels(_ uses: UsesModel) {
    if hasTooManyLevels { return }
    hasTooManyLevels = true
    log.report(at: uses.span) { LoadingMessage.tooManyLevels(at: $0) }
  }

  private mutating func add(_ model: inout PipelineModel) -> Int {
    model.addVarSteps()
    let number = addPlace()
    link(&model, number)
    swap(&models[number], &model)
    return number
  }

  /// Counts uses of pipelines; false if there are too many, which is reported: each would add its
  /// own steps.
  private mutating func countUses(of model: PipelineModel) -> Bool {
    for uses in model.uses where uses.kind.isPipeline {
      useCount += 1
      guard useCount <= Planner.maxPipelineCount else {
        log.report(at: uses.span) { LoadingMessage.tooManyUses(at: $0) }
        return false
      }
    }
    return true
  }

  /// The number of the model of another file; nil if there is none, which is reported.
  private mutating func nested(_ reference: Reference) -> Int? {
    let file = FilePath(
      path: sources.files[sources.fileIndex(at: Int(reference.span.start))].path)
    guard let path = path(of: reference, from: file) else { return nil }
    if let number = numbers[ExactText(text: path)] { return number }
    guard let bytes = read(path, reference, from: file, as: "pipeline") else { return nil }
    let number = addPlace()
    numbers[ExactText(text: path)] = number
    models[number] = pipeline(at: path, bytes, number: number)
    return number
  }

  /// The number of the model of a pipeline in the same file; nil if there is none, which is reported.
  private mutating func section(_ reference: Reference) -> Int? {
    switch sections.find(reference.name) {
    case .linked(let number): return number
    case .open(let names):
      log.report(at: reference.span) { LoadingMessage.sectionCycle(names, at: $0) }
      return nil
    case .unknown(let names):
      let suggester = log.suggester
      log.report(at: reference.span) {
        let close = suggester.closest(to: reference.name, among: names)
        return LoadingMessage.unknownSection(reference.name, names, suggestion: close, at: $0)
      }
      return nil
    case .waiting(var model):
      sections.begin(reference.name)
      let number = add(&model)
      sections.end(reference.name, number)
      return number
    }
  }

  // MARK: Files of variables

  private mutating func addVariables(to model: inout PipelineModel) {
    for reference in model.dotenv where !log.isFull {
      let isOptional = reference.name.hasSuffix("?")
      let path = isOptional ? String(reference.name.dropLast()) : reference.name
      guard checkLimits(reference) else { return }
      variableFileCount += 1
      switch files.read(path, nil) {
      case .failure(let failure):
        log.report(at: reference.span) { Diagnostic(failure.message, at: $0, help: failure.help) }
      case .success(nil):
        guard !isOptional else { continue }
        let meant = fileMeant(by: path, reference) { !$0.hasSuffix("/") }
        log.report(at: reference.span) {
          LoadingMessage.missingVariables(path, suggestion: meant, at: $0)
        }
      case .success(let bytes?):
        byteCount += bytes.count
        let file = readVariables(bytes)
        for variable in file.variables {
          model.fileVariables.append(
            VariableModel(
              name: variable.name, span: reference.span, value: .plain(variable.value)))
        }
        report(file.faults, path, bytes)
      }
    }
  }

  /// Reports faults of a file. Only a file with faults is added to the sources, as a secret: its
  /// text may be one.
  private mutating func report(_ faults: [VariableFileFault], _ path: String, _ bytes: [UInt8]) {
    guard !faults.isEmpty, reportedVariableFiles.insert(ExactText(text: path)).inserted
    else { return }
    let start = sources.add(path: path, bytes: bytes, isSecret: true)
    func span(_ range: Range<Int>) -> Span {
      Span(start: start + range.lowerBound, end: start + min(range.upperBound, bytes.count))
    }
    for fault in faults {
      log.report(at: span(fault.place)) {
        LoadingMessage.badVariables(fault.message, first: fault.first.map(span), at: $0)
      }
    }
  }

  // MARK: Reading

  /// The path of a file that another one names; nil if this is not allowed, which is reported.
  private mutating func path(of reference: Reference, from file: FilePath) -> String? {
    guard let path = file.resolve(reference.name) else {
      log.report(at: reference.span) { LoadingMessage.outside(reference.name, at: $0) }
      return nil
    }
    let identity = files.identity(path)
    if let start = open.firstIndex(where: { areSameBytes($0.identity, identity) }) {
      let cycle = open[start...].map(\.path) + [path]
      log.report(at: reference.span) { LoadingMessage.cycle(cycle, at: $0) }
      return nil
    }
    return path
  }

  /// Checks the limits; false if no more may be read, which is reported.
  private mutating func checkLimits(_ reference: Reference) -> Bool {
    let fileCount = sources.files.count + variableFileCount
    if open.count <= Self.maxDepth, fileCount < Self.maxFileCount,
      byteCount <= TextCheck.maxByteCount
    {
      return true
    }
    log.report(at: reference.span) { LoadingMessage.tooMuch(at: $0) }
    return false
  }

  /// The bytes of a file; nil if they cannot be read, which is reported.
  private mutating func read(
    _ path: String, _ reference: Reference, from file: FilePath, as what: String
  ) -> [UInt8]? {
    guard checkLimits(reference) else { return nil }
    switch files.read(path, file.directory) {
    case .success(let bytes?): return bytes
    case .success(nil):
      let meant = fileMeant(by: path, reference) { path in
        isPipelineName(path) && !open.contains { areSameBytes($0.identity, files.identity(path)) }
      }
      log.report(at: reference.span) {
        LoadingMessage.missing(
          what, path, at: $0,
          help: didYouMean(meant) ?? LoadingMessage.lookedFor(from: file.directory))
      }
    case .failure(let failure):
      log.report(at: reference.span) { Diagnostic(failure.message, at: $0, help: failure.help) }
    }
    return nil
  }

  /// The existing file closest to one that does not exist, in the words of the reference.
  private func fileMeant(
    by path: String, _ reference: Reference, takes: (String) -> Bool
  ) -> String? {
    guard log.hasRoom(at: reference.span), let meant = files.meant(path, log.suggester, takes)
    else { return nil }
    // One name differs, as often from the end in what is written.
    let names = (path.split(separator: "/"), meant.split(separator: "/"))
    var words = reference.name.split(separator: "/", omittingEmptySubsequences: false)
    let differing = zip(names.0, names.1).enumerated().first { !$1.0.utf8.elementsEqual($1.1.utf8) }
    guard let place = differing?.offset else { return nil }
    let word = words.count - names.0.count + place
    guard words.indices.contains(word), words[word].utf8.elementsEqual(names.0[place].utf8) else {
      return nil
    }
    words[word] = names.1[place]
    return words.joined(separator: "/")
  }
}

/// A file that is being read: its name, and its identity.
private struct OpenFile {
  let path: String
  let identity: String
}

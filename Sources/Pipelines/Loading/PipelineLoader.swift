// From one path to all the models that belong to it: included files are merged in, nested pipelines
// stand beside.

import Diagnostics

/// Reads the files of a pipeline, each once. Everything wrong is in `log`.
struct PipelineLoader {
  private(set) var sources = SourceMap()
  /// The pipeline itself, then those that steps use.
  private(set) var models: [PipelineModel] = []
  var log = DiagnosticLog()
  private let files: PipelineFiles
  /// Nested pipelines by path.
  private var numbers: [String: Int] = [:]
  /// The files that are being read, the outermost first.
  private var open: [String] = []
  private var byteCount = 0

  static let maxFileCount = 1000
  static let maxDepth = 32

  init(files: PipelineFiles) { self.files = files }

  /// Reads the pipeline; `models[0]` is it.
  mutating func load(path: String, bytes: [UInt8]) {
    models.append(PipelineModel())
    models[0] = pipeline(at: path, bytes)
  }

  /// Of a file that was not read to its end every name could be missing.
  var isCutShort: Bool { log.isFull }

  private mutating func pipeline(at path: String, _ bytes: [UInt8]) -> PipelineModel {
    open.append(path)
    defer { open.removeLast() }
    var model = merged(decode(path, bytes), at: FilePlace(path: path))
    for index in model.uses.indices {
      if case .file(let name) = model.uses[index].kind {
        model.uses[index].model = nested(Reference(name: name, span: model.uses[index].span))
      }
    }
    return model
  }

  private mutating func decode(_ path: String, _ bytes: [UInt8]) -> PipelineModel {
    byteCount += bytes.count
    let start = sources.add(path: path, bytes: bytes)
    return bytes.withUnsafeBufferPointer { Decoder.decode($0, start: start, log: &log) }
  }

  // MARK: Included files

  private mutating func merged(_ model: PipelineModel, at place: FilePlace) -> PipelineModel {
    guard !model.includes.isEmpty else { return model }
    var result = PipelineModel()
    var first: [String: Span] = [:]
    for reference in model.includes {
      guard let (path, bytes) = read(reference, from: place, as: "included file") else { continue }
      if let span = first.updateValue(reference.span, forKey: path) {
        log.report(at: reference.span) { LoadingMessage.includedTwice(path, first: span, at: $0) }
        continue
      }
      open.append(path)
      let included = merged(decode(path, bytes), at: FilePlace(path: path))
      open.removeLast()
      result.merge(included, log: &log)
    }
    result.merge(model, log: &log)
    return result
  }

  // MARK: Nested pipelines

  /// The number of the model; nil if there is none, which is reported.
  private mutating func nested(_ reference: Reference) -> Int? {
    let file = sources.files[sources.fileIndex(at: Int(reference.span.start))]
    guard let (path, bytes) = read(reference, from: FilePlace(path: file.path), as: "pipeline")
    else { return nil }
    if let number = numbers[path] { return number }
    let number = models.count
    numbers[path] = number
    models.append(PipelineModel())
    models[number] = pipeline(at: path, bytes)
    return number
  }

  // MARK: Reading

  /// The path and bytes of a file that another one names.
  private mutating func read(
    _ reference: Reference, from place: FilePlace, as what: String
  ) -> (path: String, bytes: [UInt8])? {
    guard let path = place.resolve(reference.name) else {
      log.report(at: reference.span) { LoadingMessage.outside(reference.name, at: $0) }
      return nil
    }
    if let start = open.firstIndex(of: path) {
      let circle = open[start...] + [path]
      log.report(at: reference.span) { LoadingMessage.circle(Array(circle), at: $0) }
      return nil
    }
    guard open.count <= Self.maxDepth, sources.files.count < Self.maxFileCount,
      byteCount <= TextCheck.maxByteCount
    else {
      log.report(at: reference.span) { LoadingMessage.tooMuch(at: $0) }
      return nil
    }
    switch files.read(path, place.directory) {
    case .success(let bytes?): return (path, bytes)
    case .success(nil):
      log.report(at: reference.span) { LoadingMessage.missing(what, path, at: $0) }
    case .failure(let failure):
      log.report(at: reference.span) { Diagnostic(failure.message, at: $0, help: failure.help) }
    }
    return nil
  }
}

extension Decoder {
  /// From the bytes of one file to its model. The nodes are gone when it returns.
  static func decode(
    _ bytes: UnsafeBufferPointer<UInt8>, start: Int, log: inout DiagnosticLog
  ) -> PipelineModel {
    let mark = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    let text = UnsafeBufferPointer(rebasing: bytes[mark...])
    var decoder = Decoder(tree: Tree(source: text, base: start + mark), log: log)
    do throws(Diagnostic) {
      try decoder.read(text, base: start + mark)
    } catch {
      // What comes of a file that cannot be read to its end would be guesses.
      log.report(error)
      return PipelineModel()
    }
    log = decoder.log
    return decoder.model
  }

  private mutating func read(
    _ text: UnsafeBufferPointer<UInt8>, base: Int
  ) throws(Diagnostic) {
    let check = try TextCheck(text, base: base)
    var reader = TreeReader(text, check: check, base: base)
    while let step = try reader.nextStep(into: &tree) {
      decodeStep(step)
      if log.isFull { return }
    }
    decodePipeline(root: 0, readSteps: reader.stepList)
  }
}

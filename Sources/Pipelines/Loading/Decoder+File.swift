// Turns the bytes of one file into its model: the text is checked, parsed and decoded in one pass.

import Diagnostics

extension Decoder {
  /// Decodes one file, and releases its nodes. `isPart` means that other files add its missing parts.
  static func decode(
    _ file: SourceMap.File, isPart: Bool, log: inout DiagnosticLog
  ) -> PipelineModel? {
    file.bytes.withUnsafeBufferPointer { buffer in
      let mark = buffer.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
      let text = UnsafeBufferPointer(rebasing: buffer[mark...])
      let tree = Tree(source: text, base: file.start + mark)
      var decoder = Decoder(bytes: file.bytes, start: file.start, tree: tree, log: log)
      decoder.isPart = isPart
      decoder.foreignFile = ForeignFile(path: file.path)
      do throws(Diagnostic) {
        try decoder.read(text, base: file.start + mark)
      } catch {
        // Reports about a file that cannot be parsed to its end would be guesses.
        let foreign = decoder.foreignFile ?? ForeignFile(text: text)
        log.report(foreign.map { DecodingMessage.foreign($0, at: decoder.firstPlace) } ?? error)
        return nil
      }
      log = decoder.log
      return decoder.model
    }
  }

  private mutating func read(
    _ text: UnsafeBufferPointer<UInt8>, base: Int
  ) throws(Diagnostic) {
    let check = try TextCheck(text, base: base)
    tree.isASCII = check.isASCII
    var reader = TreeReader(text, check: check, base: base)
    while let step = try reader.nextStep(into: &tree) {
      model.stepPlaces.add(tree.nodes[step])
      decodeStep(step)
      if log.isFull { return }
    }
    model.stepPlaces.areCertain = check.isASCII && !reader.hasAnchors
    decodePipeline(root: 0, readSteps: reader.stepList)
  }
  /// The location for faults of the file as a whole: its first character.
  fileprivate var firstPlace: Span {
    Span(start: tree.base, end: tree.base + min(1, tree.source.count))
  }
}

// The inputs of `compose`, checked as far as possible without an image.

import BuiltinSteps
import Diagnostics

struct ComposeStep {
  let files: [String]
  let target: String
  let layout: Layout.Options
  let result: ResultSpec
  let limits: ImageLimits
  let reading: ReadingSettings

  init(_ inputs: Inputs) throws(UsageFailure) {
    let step = inputs.step
    files = try FilePatterns.files(inputs.texts("images"), of: "images", step)
    target = inputs.text("to") ?? ""
    if let replaced = FileIdentity(replacedAt: target),
      let source = files.first(where: { FileIdentity(readAt: $0) == replaced })
    {
      throw .replacesSource(target, ByteText.shown(source), step)
    }
    let ext = fileName(ofPath: target).ext
    guard !target.hasSuffix("/"), !Files.isFolder(target), let format = ImageFormat(word: ext)
    else { throw .noImageFile(target, step) }
    layout = Layout.Options(
      kind: inputs.choice("layout"),
      box: Box(width: inputs.integers("width").first, height: inputs.integers("height").first),
      gap: inputs.integer("gap"), columns: inputs.integers("columns").first)
    result = ResultSpec(
      box: Box(), format: format, quality: inputs.integer("quality"),
      background: Color(of: inputs))
    limits = ImageLimits(inputs)
    reading = ReadingSettings(inputs)
  }

  /// The modules for reading and for writing.
  var modules: [CodecModule] { CodecModule.needed(for: reading.formats + [result.format]) }
}

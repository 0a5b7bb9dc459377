// `resize`: images of files into results, all of a step.

import BuiltinSteps
import Diagnostics
import Glibc
import OperationKit

struct ResizeStep {
  let settings: ResizeSettings
  let files: [String]

  init(_ inputs: Inputs) throws(UsageError) {
    settings = try ResizeSettings(inputs)
    files = try FilePatterns.files(inputs.texts("from"), of: "from", inputs.step)
    try checkPaths(inputs.step)
  }

  /// What each file will be called is known before anything is written.
  private func checkPaths(_ step: BuiltinStep) throws(UsageError) {
    var values: [PathPattern.Values] = []
    var owners: [String] = []
    for (index, file) in files.enumerated() {
      guard let image = try? SourceImage(file, reading: settings.reading.formats) else { continue }
      for result in settings.results(for: image.format) {
        values.append(
          PathPattern.Values(
            name: FilePatterns.name(of: file), ext: result.format.fileExtension, box: result.box,
            index: index + 1))
        owners.append(file)
      }
    }
    if let collision = settings.pattern.collision(among: values) {
      throw .collision(
        collision.path, owners[collision.first], owners[collision.second], step)
    }
  }

  /// One for each file, in order.
  func operations(_ processing: ImageProcessing) -> [ResizeOperation] {
    files.enumerated().map { index, file in
      let item = ResizeItem(label: file, name: FilePatterns.name(of: file), index: index + 1) {
        (formats) throws(ImageFault) in try SourceImage(file, reading: formats)
      }
      return ResizeOperation(item, settings, processing)
    }
  }
}

extension Workers {
  /// Before there is a second thread.
  static func start(_ reading: ReadingSettings, usesHEIF: Bool) throws(SystemError) -> Workers {
    let processors = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    return try start(
      count: reading.workers > 0 ? reading.workers : processors, readable: reading.formats,
      usesHEIF: usesHEIF)
  }
}

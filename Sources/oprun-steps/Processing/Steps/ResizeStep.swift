// `resize`: makes the results of image files, for a whole step.

import BuiltinSteps
import Diagnostics
import OperationKit
import Processors

struct ResizeStep {
  let settings: ResizeSettings
  let files: [String]
  /// The paths of all results.
  private(set) var paths: [String] = []

  init(_ inputs: Inputs) throws(UsageFailure) {
    settings = try ResizeSettings(inputs)
    files = try FilePatterns.files(inputs.texts("from"), of: "from", inputs.step)
    paths = try checkPaths(inputs.step)
  }

  /// Checks paths, because the name of each file is known before anything is written; returns those
  /// of all results.
  private func checkPaths(_ step: BuiltinStep) throws(UsageFailure) -> [String] {
    var owners: [PathKey: String] = [:]
    var sources: [FileIdentity: String] = [:]
    var paths: [String] = []
    for (index, file) in files.enumerated() {
      // A file that is not an image fails later, as an item.
      guard let image = try? SourceImage(file, reading: settings.reading.formats) else { continue }
      if let identity = FileIdentity(readAt: file) { sources[identity] = file }
      for result in settings.results(for: image.format) {
        let path = settings.pattern.path(
          PathPattern.Values(
            name: fileName(ofPath: file).name, ext: result.format.fileExtension, box: result.box,
            index: index + 1))
        if let owner = owners.updateValue(file, forKey: PathKey(path)) {
          throw .collision(path, ByteText.shown(owner), ByteText.shown(file), step)
        }
        paths.append(path)
      }
    }
    for path in paths {
      if let source = FileIdentity(replacedAt: path).flatMap({ sources[$0] }) {
        throw .replacesSource(path, ByteText.shown(source), step)
      }
    }
    return paths
  }

  func operation(on index: Int, _ processing: ImageProcessing) -> ResizeOperation {
    let file = files[index]
    let item = ResizeItem(
      label: ByteText.shown(file), name: fileName(ofPath: file).name, index: index + 1
    ) { (formats) throws(ImageFailure) in try SourceImage(file, reading: formats) }
    return ResizeOperation(item, settings, processing)
  }
}

extension Workers {
  /// Must be called before there is a second thread.
  static func start(_ reading: ReadingSettings, modules: [CodecModule]) throws(SystemError)
    -> Workers
  {
    // Each has a socket, and works on files.
    let wanted = reading.workers > 0 ? reading.workers : availableProcessorCount
    return try start(
      count: DescriptorBudget().most(wanted, each: 8),
      readable: reading.formats, modules: modules)
  }
}

// Several images on one canvas: measured, laid out, drawn, written. The operation that writes depends
// on those that draw.

import CConfinement
import Diagnostics
import Glibc
import OperationKit

/// What was wrong with a composition.
enum CompositionFault: Error {
  /// With some images; all of them are told.
  case images([(file: String, fault: ImageFault)])
  case noRoom
  case whole(ImageFault)
}

struct Composition: Sendable {
  let files: [String]
  let limits: ImageLimits
  let reading: ReadingSettings
  let processing: ImageProcessing

  /// Blocks until the result has its name. A composition with a hole is none: what is wrong with one
  /// image is wrong with the whole.
  func write(
    _ result: ResultSpec, to path: String, laidOut options: Layout.Options
  ) throws(CompositionFault) -> ImageResult {
    let measuring = files.map { file in operation(on: file) { .measure(format: $0) } }
    processing.queue.addOperations(measuring, waitUntilFinished: true)
    let sizes = try facts(of: measuring).compactMap { $0.first?.size }
    guard let layout = Layout(of: sizes, options) else { throw .noRoom }
    let size = layout.canvas
    guard size.width * size.height <= limits.pixels else {
      throw .whole(.resultTooLarge(size, most: limits.pixels))
    }
    guard size.width * size.height <= result.format.mostPixels else {
      throw .whole(.resultTooLarge(size, for: result.format))
    }
    let (canvas, file) = try whole { () throws(SystemError) in
      (try Canvas(size), try ResultFile(path))
    }
    defer { file.discard() }
    let drawing = zip(files, layout.cells).map { file, cell in
      operation(on: file, canvas) { .draw(format: $0, cell, canvasWidth: size.width) }
    }
    let writing = WorkerOperation(limits, processing.workers) {
      WorkerQuestion(
        job: .encode(canvas: size, result), descriptors: [canvas.descriptor, file.descriptor])
    }
    writing.dependencyPolicy = .succeeded
    for operation in drawing { writing.addDependency(operation) }
    processing.queue.addOperations(drawing + [writing], waitUntilFinished: true)
    _ = try facts(of: drawing)
    let written = try facts(of: writing)
    try whole { () throws(SystemError) in try file.publish() }
    return ImageResult(path: path, facts: written)
  }

  private func operation(
    on file: String, _ canvas: Canvas? = nil, job: @escaping @Sendable (ImageFormat) -> ImageJob
  ) -> WorkerOperation {
    WorkerOperation(limits, processing.workers) { () throws(ImageFault) in
      let image = try SourceImage(file, reading: reading.formats)
      return WorkerQuestion(
        job: job(image.format), image: image, descriptors: canvas.map { [$0.descriptor] } ?? [])
    }
  }

  /// Of operations on the files, in their order.
  private func facts(of operations: [WorkerOperation]) throws(CompositionFault) -> [[ImageFacts]] {
    var facts: [[ImageFacts]] = []
    var faults: [(file: String, fault: ImageFault)] = []
    for (file, operation) in zip(files, operations) {
      switch operation.result {
      case .success(let found): facts.append(found)
      case .failure(let fault): faults.append((file, fault))
      }
    }
    if !faults.isEmpty { throw .images(faults) }
    return facts
  }

  private func facts(of writing: WorkerOperation) throws(CompositionFault) -> ImageFacts {
    do throws(ImageFault) {
      guard let facts = try writing.result.get().first else { throw .workerSpokeNonsense }
      return facts
    } catch { throw .whole(error) }
  }

  private func whole<Value>(
    _ body: () throws(SystemError) -> Value
  ) throws(CompositionFault) -> Value {
    do throws(SystemError) { return try body() } catch { throw .whole(.system(error)) }
  }
}

/// A file in memory, four bytes a pixel. Nothing is drawn on it yet: it is transparent.
final class Canvas: Sendable {
  let descriptor: Int32

  init(_ size: Size) throws(SystemError) {
    descriptor = confinement_memory_file(Int64(size.width * size.height * 4))
    guard descriptor >= 0 else {
      throw SystemError("cannot make room for \(size.words) pixels", errno: -descriptor)
    }
  }

  deinit { close(descriptor) }
}

// Several images on one canvas: measured, laid out, drawn, written. The operation that writes depends
// on those that draw.

import BuiltinSteps
import CConfinement
import Diagnostics
import Glibc
import OperationKit

/// Why a composition failed.
enum CompositionFailure: Error {
  /// Some images are at fault; all of them are reported.
  case images([(file: String, fault: ImageFailure)])
  case noRoom
  case whole(ImageFailure)
}

struct Composition: Sendable {
  let files: [String]
  let limits: ImageLimits
  let reading: ReadingSettings
  let processing: ImageProcessing

  /// Blocks until the result has its name. A composition is never incomplete: if one image fails,
  /// the whole fails.
  func write(
    _ result: ResultSpec, to path: String, laidOut options: Layout.Options
  ) throws(CompositionFailure) -> ImageResult {
    let measuring = files.map { file in operation(on: file) { .measure(format: $0) } }
    processing.queue.addOperations(measuring, waitUntilFinished: true)
    let sizes = measuring.map { operation in try? operation.result.get().first?.size }
    let unmeasured = faults(of: measuring, on: Array(files.indices))
    if !unmeasured.isEmpty {
      throw images(unmeasured.merging(faultsOfPixels(sizes, options)) { measured, _ in measured })
    }
    guard let layout = Layout(of: sizes.compactMap { $0 }, options) else { throw .noRoom }
    let size = layout.canvas
    guard size.width * size.height <= limits.pixels else {
      throw .whole(.resultTooLarge(size, most: limits.pixels))
    }
    guard size.width * size.height <= result.format.mostPixels else {
      throw .whole(.resultTooLarge(size, for: result.format))
    }
    let (canvas, file) = try whole { () throws(SystemError) in
      (try Canvas(size, filledWith: result.background), try ResultFile(path))
    }
    defer { file.discard() }
    let drawing = draw(files, layout, on: canvas)
    let writing = WorkerOperation(limits, processing.workers) {
      WorkerQuestion(
        job: .encode(canvas: size, result), descriptors: [canvas.descriptor, file.descriptor])
    }
    writing.dependencyPolicy = .succeeded
    for operation in drawing { writing.addDependency(operation) }
    processing.queue.addOperations(drawing + [writing], waitUntilFinished: true)
    let undrawn = faults(of: drawing, on: Array(files.indices))
    if !undrawn.isEmpty { throw images(undrawn) }
    let written = try facts(of: writing)
    try whole { () throws(SystemError) in try file.publish() }
    return ImageResult(path: path, facts: written)
  }

  private func operation(
    on file: String, _ canvas: Canvas? = nil, job: @escaping @Sendable (ImageFormat) -> ImageJob
  ) -> WorkerOperation {
    WorkerOperation(limits, processing.workers) { () throws(ImageFailure) in
      let image = try SourceImage(file, reading: reading.formats)
      return WorkerQuestion(
        job: job(image.format), image: image, descriptors: canvas.map { [$0.descriptor] } ?? [])
    }
  }

  private func draw(_ files: [String], _ layout: Layout, on canvas: Canvas) -> [WorkerOperation] {
    let width = layout.canvas.width
    return zip(files, layout.cells).map { file, cell in
      operation(on: file, canvas) { .draw(format: $0, cell, canvasWidth: width) }
    }
  }

  /// The faults in the pixels of images, which are found only by drawing. So the images that could
  /// be measured are drawn even if the composition fails, and all faults are reported together.
  private func faultsOfPixels(_ sizes: [Size?], _ options: Layout.Options) -> [Int: ImageFailure] {
    let measured = sizes.indices.filter { sizes[$0] != nil }
    guard let layout = Layout(of: sizes.compactMap { $0 }, options),
      layout.canvas.width * layout.canvas.height <= limits.pixels,
      let canvas = try? Canvas(
        layout.canvas, filledWith: Color(red: 0, green: 0, blue: 0, alpha: 0))
    else { return [:] }
    let drawing = draw(measured.map { files[$0] }, layout, on: canvas)
    processing.queue.addOperations(drawing, waitUntilFinished: true)
    return faults(of: drawing, on: measured)
  }

  /// The faults by the number of the file.
  private func faults(of operations: [WorkerOperation], on numbers: [Int]) -> [Int: ImageFailure] {
    var faults: [Int: ImageFailure] = [:]
    for (number, operation) in zip(numbers, operations) {
      if case .failure(let fault) = operation.result { faults[number] = fault }
    }
    return faults
  }

  private func images(_ faults: [Int: ImageFailure]) -> CompositionFailure {
    .images(faults.sorted { $0.key < $1.key }.map { (files[$0.key], $0.value) })
  }

  private func facts(of writing: WorkerOperation) throws(CompositionFailure) -> ImageFacts {
    do throws(ImageFailure) {
      guard let facts = try writing.result.get().first else { throw .workerSpokeNonsense }
      return facts
    } catch { throw .whole(error) }
  }

  private func whole<Value>(
    _ body: () throws(SystemError) -> Value
  ) throws(CompositionFailure) -> Value {
    do throws(SystemError) { return try body() } catch { throw .whole(.system(error)) }
  }
}

/// A canvas: a file in memory with four bytes per pixel. Until something is drawn on it, it is
/// transparent, or has the colour of a background through which one can see. An opaque background is
/// added when it is encoded.
final class Canvas: Sendable {
  let descriptor: Int32

  init(_ size: Size, filledWith color: Color) throws(SystemError) {
    let byteCount = size.width * size.height * 4
    descriptor = confinement_memory_file(Int64(byteCount))
    guard descriptor >= 0 else {
      throw SystemError("cannot make room for \(size.words) pixels", errno: -descriptor)
    }
    if (1..<255).contains(color.alpha), !fill(byteCount, with: color) {
      let error = errno
      throw SystemError("cannot make room for \(size.words) pixels", errno: error)
    }
  }

  deinit { close(descriptor) }

  private func fill(_ byteCount: Int, with color: Color) -> Bool {
    let pixel = [color.red, color.green, color.blue, color.alpha]
    let piece = Array(repeating: pixel, count: min(byteCount, 1 << 20) / 4).flatMap { $0 }
    var offset = 0
    while offset < byteCount {
      let count = pwrite(descriptor, piece, min(piece.count, byteCount - offset), off_t(offset))
      guard count > 0 else { return false }
      offset += count
    }
    return true
  }
}

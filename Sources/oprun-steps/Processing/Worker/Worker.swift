// A worker: a process with one thread that gives up its rights, and then answers requests until the
// program is gone.

import CConfinement
import Glibc

struct Worker {
  private let socket: Int32
  private let layers: Int
  private let landlockVersion: Int
  private let readable: [ImageFormat]
  /// Why libvips is not available.
  private let obstacle: String?

  /// Runs for the rest of the process's life.
  static func run(on socket: Int32, readable: [ImageFormat], modules: [CodecModule]) -> Never {
    // Libraries and modules are files, which cannot be opened later.
    let obstacle = Raster.load()
    if !modules.isEmpty { _ = Raster.start(allowing: readable, modules) }
    let version = Int(confinement_landlock_version())
    let layers = Int(confinement_enter(ImageLimits.addressSpace))
    if modules.isEmpty { _ = Raster.start(allowing: readable, modules) }
    let worker = Worker(
      socket: socket, layers: layers, landlockVersion: version, readable: readable,
      obstacle: obstacle)
    if worker.send(.ready(layers: layers)) { worker.answerRequests() }
    _exit(0)
  }

  private func send(_ answer: ImageAnswer) -> Bool {
    answer.numbers.withUnsafeBytes {
      confinement_send(socket, $0.baseAddress, $0.count, nil, 0) > 0
    }
  }

  private func answerRequests() {
    var message = [Int64](repeating: 0, count: ImageRequest.largestMessage / 8)
    var descriptors = [Int32](repeating: -1, count: ImageRequest.mostResults + 1)
    while true {
      var count = Int32(descriptors.count)
      let size = message.withUnsafeMutableBytes {
        confinement_receive(socket, $0.baseAddress, $0.count, &descriptors, &count)
      }
      guard size > 0 else { return }
      let answer = answer(Array(message.prefix(size / 8)), Array(descriptors.prefix(Int(count))))
      for descriptor in descriptors.prefix(Int(count)) { close(descriptor) }
      guard send(answer) else { return }
    }
  }

  private func answer(_ numbers: [Int64], _ descriptors: [Int32]) -> ImageAnswer {
    guard let request = ImageRequest(numbers: numbers) else {
      return .fault(ImageFailure("the request was not understood"))
    }
    VipsFailure.forget()
    _ = confinement_limit_cpu(UInt32(clamping: request.limits.processorSeconds))
    do throws(ImageFailure) {
      return try perform(request, descriptors)
    } catch { return .fault(error) }
  }

  private func perform(
    _ request: ImageRequest, _ descriptors: [Int32]
  ) throws(ImageFailure) -> ImageAnswer {
    func image(_ format: ImageFormat, allFrames: Bool = false) throws(ImageFailure) -> OpenedImage {
      if let obstacle { throw .noLibrary(obstacle) }
      guard let first = descriptors.first, readable.contains(format) else {
        throw .formatNotAllowed(format, wanted: readable)
      }
      return try OpenedImage(first, as: format, allFrames: allFrames, within: request.limits)
    }
    switch request.job {
    case .resize(let format, let allFrames, let results):
      let work = Resizing(
        image: try image(format, allFrames: allFrames), results: results, limits: request.limits)
      return .done(try work.perform(writingTo: descriptors.dropFirst()))
    case .measure(let format):
      let opened = try image(format)
      return .done([ImageFacts(size: opened.size, frames: opened.frames, bytes: 0)])
    case .draw(let format, let cell, let canvasWidth):
      try Composing.draw(try image(format), in: cell, of: descriptors[1], width: canvasWidth)
      return .done([])
    case .encode(let canvas, let result):
      if let obstacle { throw .noLibrary(obstacle) }
      return .done([try Composing.encode(descriptors[0], canvas, result, to: descriptors[1])])
    case .tryConfinement:
      return .confinement(
        layers: layers, landlockVersion: landlockVersion,
        refusals: (0..<confinement_attempts.rawValue).map {
          Int(confinement_try(confinement_attempt($0)))
        })
    }
  }
}

// Requests to a worker about an image, and its answers. Files are passed as descriptors, in the
// order of `descriptors`; a worker never sees a name.

import BuiltinSteps

/// The limits of an image.
struct ImageLimits: Hashable, Sendable {
  /// The limit of width × height × frames, before and after.
  var pixels = 50_000_000
  /// The limit of width and height of an image that is read.
  var side = 20_000
  /// The limit of the file.
  var bytes = 50 << 20
  /// The limit of scans of a progressive JPEG: each costs as much as the whole image.
  var scans = 100
  /// The time for one image, in milliseconds; two thirds of it may be processor time.
  var milliseconds = 30_000

  /// A year, which is effectively no limit.
  static let mostMilliseconds = 365 * 86_400_000
  /// The size of the address space of a worker.
  static let addressSpace: UInt64 = 1 << 30
  /// A decoded image larger than this is not kept for several results.
  static let keptBytes = 256 << 20

  var processorSeconds: Int { max(1, (milliseconds * 2 / 3 + 999) / 1000) }
}

/// One result: its size, and how it is written.
struct ResultSpec: Hashable, Sendable {
  var box: Box
  var fit = Fit.inside
  var format: ImageFormat
  /// The quality from 1 to 100, for lossy formats.
  var quality = 80
  /// True to remove everything that is not image data.
  var strip = true
  var background = Color(red: 255, green: 255, blue: 255)
}

/// A request to a worker.
enum ImageJob: Hashable, Sendable {
  /// Makes results of an image. Descriptors: the image, then one to write for each result.
  case resize(format: ImageFormat, allFrames: Bool, [ResultSpec])
  /// Measures an image. Descriptors: the image.
  case measure(format: ImageFormat)
  /// Scales an image into its cell. Descriptors: the image, the canvas (four bytes per pixel).
  case draw(format: ImageFormat, Cell, canvasWidth: Int)
  /// Encodes a canvas. Descriptors: the canvas, one to write.
  case encode(canvas: Size, ResultSpec)
  /// Tries everything that a worker must not be able to do. No descriptors.
  case tryConfinement
}

struct ImageRequest: Hashable, Sendable {
  var job: ImageJob
  var limits: ImageLimits
}

/// A written file, or a measured image.
struct ImageFacts: Hashable, Sendable {
  var size: Size
  var frames: Int
  var bytes: Int
}

/// Why an image could not be processed, in words without its name.
struct ImageFailure: Error, Hashable, Sendable {
  let message: String
  /// True if the content of the file is, or may be, at fault, whatever reads it.
  var isOfContent = false

  init(_ message: String, isOfContent: Bool = false) {
    self.message = message
    self.isOfContent = isOfContent
  }
}

enum ImageAnswer: Hashable, Sendable {
  /// Sent once, before any request: the layers of confinement that the kernel has granted.
  case ready(layers: Int)
  case done([ImageFacts])
  /// The errno of each attempt; 0 is a hole.
  case confinement(layers: Int, landlockVersion: Int, refusals: [Int])
  case fault(ImageFailure)
}

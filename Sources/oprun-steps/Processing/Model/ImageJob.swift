// What a worker is asked to do with an image, and what it answers. Files go by descriptor, in the
// order of `descriptors`; a worker never sees a name.

import BuiltinSteps

/// What no image may exceed.
struct ImageLimits: Hashable, Sendable {
  /// Width × height × frames, before and after.
  var pixels = 50_000_000
  /// Of width and height of what is read.
  var side = 20_000
  /// Of the file.
  var bytes = 50 << 20
  /// Of a progressive JPEG: each costs as much as the whole image.
  var scans = 100
  /// For one image, in milliseconds; two thirds of it may be processor time.
  var milliseconds = 30_000

  /// A year, which is no limit.
  static let mostMilliseconds = 365 * 86_400_000
  /// What a worker may map into its memory.
  static let addressSpace: UInt64 = 1 << 30
  /// A decoded image larger than this is not kept for several results.
  static let keptBytes = 256 << 20

  var processorSeconds: Int { max(1, (milliseconds * 2 / 3 + 999) / 1000) }
}

/// One result: how large, and how it is written.
struct ResultSpec: Hashable, Sendable {
  var box: Box
  var fit = Fit.inside
  var format: ImageFormat
  /// 1 to 100, of formats that lose something.
  var quality = 80
  /// Leaves out what is not the picture.
  var strip = true
  var background = Color(red: 255, green: 255, blue: 255)
}

/// One request.
enum ImageJob: Hashable, Sendable {
  /// Descriptors: the image, then one to write for each result.
  case resize(format: ImageFormat, allFrames: Bool, [ResultSpec])
  /// How large the image is. Descriptors: the image.
  case measure(format: ImageFormat)
  /// Scales an image into its place. Descriptors: the image, the canvas (four bytes a pixel).
  case draw(format: ImageFormat, Cell, canvasWidth: Int)
  /// Descriptors: the canvas, one to write.
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
  /// Whether what is in the file is, or may be, at fault, whoever reads it.
  var isOfContent = false

  init(_ message: String, isOfContent: Bool = false) {
    self.message = message
    self.isOfContent = isOfContent
  }
}

enum ImageAnswer: Hashable, Sendable {
  /// Said once, before anything is asked: the layers of confinement that the kernel has granted.
  case ready(layers: Int)
  case done([ImageFacts])
  /// The errno of each attempt; 0 is a hole.
  case confinement(layers: Int, landlockVersion: Int, refusals: [Int])
  case fault(ImageFailure)
}

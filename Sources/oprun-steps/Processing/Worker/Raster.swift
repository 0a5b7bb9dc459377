// Wraps libvips in a type. This is the only file that knows it. Only workers use it.

import BuiltinSteps
import CLate
import Diagnostics

/// The message of libvips.
struct VipsFailure: Error {
  let details: String
  /// True if the failure can only have happened while writing.
  var isOfEncoder = false

  /// Forgets messages, because successful calls may have left some, too.
  static func forget() { cvips_forget_messages() }

  /// Takes the messages, so that the next failure begins with none.
  static func take() -> VipsFailure {
    let text = cvips_messages().map { String(cString: $0) } ?? ""
    cvips_forget_messages()
    // In "gifload_source: bad frame\n…", the first line is best, without its source. That a decoder
    // read past the end is not the cause, but a consequence; and what libjpeg calls corrupt, it only
    // warns of.
    let lines = text.split(separator: "\n")
    let first =
      lines.first { !$0.contains("bad seek to ") && !$0.contains(": Corrupt JPEG data: ") }
      ?? lines.first
    let line = first.map(String.init) ?? "the decoder does not say why"
    let parts = line.split(separator: ":", maxSplits: 1)
    let isWhere = parts.count == 2 && !(parts.first ?? "").contains(" ")
    return VipsFailure(details: isWhere ? String(parts[1].drop { $0 == " " }) : line)
  }
}

/// An image of libvips: a description of work, most of which is done when it is written.
final class Raster {
  private let image: UnsafeMutablePointer<VipsImage>

  private init(_ made: UnsafeMutablePointer<VipsImage>?) throws(VipsFailure) {
    guard let made else { throw .take() }
    image = made
  }

  deinit { cvips_release(image) }

  /// Loads libvips; nil if it is loaded, otherwise why it cannot be. Forked processes have what was
  /// loaded before.
  static func load() -> String? { cvips_load().map { String(cString: $0) } }

  /// Initialises libvips, once in a process, with the formats that may be read.
  static func start(allowing formats: [ImageFormat], _ modules: [CodecModule]) -> Bool {
    guard cvips_start() == 0 else { return false }
    for module in modules { _ = cvips_load_module("vips-\(module.rawValue).so") }
    cvips_block_loaders()
    for format in formats { cvips_allow("VipsForeignLoad\(format.className)") }
    // Some savers are blocked together with their loaders. Their input was decoded here.
    for format in ImageFormat.allCases { cvips_allow("VipsForeignSave\(format.className)") }
    return true
  }

  static func canRead(_ format: ImageFormat) -> Bool {
    cvips_has("VipsForeignLoad\(format.className)Source") != 0
  }

  static func canWrite(_ format: ImageFormat) -> Bool {
    let name = format == .gif ? "Cgif" : format.className
    return cvips_has("VipsForeignSave\(name)Target") != 0
  }

  // MARK: What it is

  var width: Int { Int(cvips_width(image)) }
  var height: Int { Int(cvips_height(image)) }
  var bands: Int { Int(cvips_bands(image)) }
  var hasAlpha: Bool { cvips_has_alpha(image) != 0 }
  /// The height of a frame; frames are one below the other.
  var frameHeight: Int { Int(cvips_frame_height(image)) }
  /// The number of frames in the file, however many were loaded.
  var framesInFile: Int { max(1, Int(cvips_frame_count(image))) }
  /// The orientation; 1 is upright; from 5 on, width and height are swapped.
  var orientation: Int { Int(cvips_orientation(image)) }
  var byteCount: Int { width * height * Int(cvips_bytes_per_pixel(image)) }

  /// True if a conversion of colours is needed.
  var needsColorChange: Bool {
    cvips_has_field(image, "icc-profile-data") != 0
      || cvips_interpretation(image) == VIPS_INTERPRETATION_CMYK
  }

  // MARK: Reading

  /// Reads the header; pixels follow on demand. `shrink` is used by formats that support it.
  init(
    reading descriptor: Int32, as format: ImageFormat, allFrames: Bool, shrink: Int = 1
  ) throws(VipsFailure) {
    let source = try Raster.source(descriptor)
    defer { cvips_release(source) }
    let pages: Int32 = allFrames ? -1 : 1
    let made =
      switch format {
      case .jpeg: cvips_load_jpeg(source, Int32(shrink))
      case .png: cvips_load_png(source)
      case .webp: cvips_load_webp(source, pages, 1 / Double(shrink))
      case .gif: cvips_load_gif(source, pages)
      case .tiff: cvips_load_tiff(source)
      case .avif, .heic: cvips_load_heif(source)
      case .jxl: cvips_load_jxl(source)
      }
    guard let made else { throw .take() }
    image = made
  }

  /// Makes an image that is decoded no larger than needed, scaled, in sRGB. A single frame is rotated
  /// upright; libvips would rotate several as if they were one image.
  init(
    reading descriptor: Int32, allFrames: Bool, scaledTo size: Size, changingColors: Bool
  ) throws(VipsFailure) {
    let source = try Raster.source(descriptor)
    defer { cvips_release(source) }
    let options = allFrames ? "n=-1,fail_on=truncated" : "fail_on=truncated"
    let made = cvips_thumbnail_source(
      source, options, Int32(size.width), Int32(size.height), allFrames ? 0 : 1,
      changingColors ? "srgb" : nil)
    guard let made else { throw .take() }
    image = made
  }

  private static func source(
    _ descriptor: Int32
  ) throws(VipsFailure) -> UnsafeMutablePointer<VipsSource> {
    guard let source = cvips_source(descriptor) else { throw .take() }
    return source
  }

  /// Makes an image of existing pixels, four bands of eight bits, which must outlive it.
  convenience init(pixels: UnsafeRawBufferPointer, size: Size) throws(VipsFailure) {
    try self.init(
      cvips_around_pixels(
        pixels.baseAddress, pixels.count, Int32(size.width), Int32(size.height)))
  }

  convenience init(copying pixels: [UInt8], size: Size) throws(VipsFailure) {
    try self.init(cvips_of_pixels(pixels, pixels.count, Int32(size.width), Int32(size.height)))
  }

  // MARK: Changing

  /// The image scaled, and a single frame rotated upright.
  func scaled(
    to size: Size, allFrames: Bool, changingColors: Bool
  ) throws(VipsFailure) -> Raster {
    try Raster(
      cvips_thumbnail_image(
        image, Int32(size.width), Int32(size.height), allFrames ? 0 : 1,
        changingColors ? "srgb" : nil))
  }

  /// Decodes everything now.
  func inMemory() throws(VipsFailure) -> Raster {
    try Raster(cvips_decoded(image))
  }

  func part(left: Int, top: Int, _ size: Size) throws(VipsFailure) -> Raster {
    try Raster(
      cvips_extract(image, Int32(left), Int32(top), Int32(size.width), Int32(size.height)))
  }

  /// The image in eight bits, grey or sRGB.
  func inBytes(gray: Bool) throws(VipsFailure) -> Raster {
    var raster = self
    let wanted = gray && bands < 3 ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB
    if cvips_interpretation(image) != wanted {
      raster = try Raster(cvips_to_space(image, wanted))
    }
    guard cvips_format(raster.image) != VIPS_FORMAT_UCHAR else { return raster }
    return try Raster(cvips_to_bytes(raster.image))
  }

  func withAlpha() throws(VipsFailure) -> Raster {
    hasAlpha ? self : try Raster(cvips_with_alpha(image))
  }

  func flattened(onto color: Color) throws(VipsFailure) -> Raster {
    guard hasAlpha else { return self }
    let (red, green, blue) = (Double(color.red), Double(color.green), Double(color.blue))
    guard bands < 3 else { return try Raster(cvips_flatten(image, red, green, blue)) }
    return try inBytes(gray: false).flattened(onto: color)
  }

  /// The image placed on a canvas of one colour; it must not be grey.
  func laid(onto canvas: Size, left: Int, top: Int, _ color: Color) throws(VipsFailure) -> Raster {
    let channels = [color.red, color.green, color.blue, color.alpha].map(Double.init)
    return try Raster(
      cvips_embed(
        image, Int32(left), Int32(top), Int32(canvas.width), Int32(canvas.height), channels,
        Int32(bands)))
  }

  /// Copies the timing of the frames: their durations, and how often they are shown.
  func copyAnimation(to other: Raster, frameHeight: Int) {
    for field in ["delay", "loop", "n-pages"] { cvips_copy_field(image, other.image, field) }
    cvips_set_number(other.image, "page-height", Int32(frameHeight))
  }

  // MARK: Writing

  /// Calls `body` with all pixels, row by row.
  func pixels<Result>(
    _ body: (UnsafeRawBufferPointer) throws(VipsFailure) -> Result
  ) throws(VipsFailure) -> Result {
    var size = 0
    guard let memory = cvips_pixels(image, &size) else { throw .take() }
    defer { cvips_free(memory) }
    return try body(UnsafeRawBufferPointer(start: memory, count: size))
  }

  func write(to descriptor: Int32, _ result: ResultSpec) throws(VipsFailure) {
    // The encoder for WebP of libvips 8.14 keeps metadata even if it is told to strip it.
    let raster = result.strip ? try Raster(cvips_without_metadata(image)) : self
    try raster.encode(to: descriptor, result)
  }

  private func encode(to descriptor: Int32, _ result: ResultSpec) throws(VipsFailure) {
    guard let target = cvips_target(descriptor) else { throw .take() }
    defer { cvips_release(target) }
    let (quality, strip) = (Int32(result.quality), Int32(result.strip ? 1 : 0))
    let failed =
      switch result.format {
      case .jpeg:
        // The best code is found when the whole image is known, which needs three to six bytes per
        // pixel.
        cvips_save_jpeg(image, target, quality, strip, width * height <= 50_000_000 ? 1 : 0)
      case .png: cvips_save_png(image, target, strip)
      case .webp: cvips_save_webp(image, target, quality, strip)
      case .gif: cvips_save_gif(image, target, strip)
      case .avif: cvips_save_avif(image, target, quality, strip)
      case .heic: cvips_save_heic(image, target, quality, strip)
      case .tiff: cvips_save_tiff(image, target, strip)
      case .jxl: cvips_save_jxl(image, target, quality, strip)
      }
    if failed != 0 { throw .take() }
    if result.format.module == .heif, !WrittenHEIF.hasContent(descriptor) {
      throw VipsFailure(details: "its encoder ran out of memory", isOfEncoder: true)
    }
  }
}

extension ImageFormat {
  /// The word for the format in the names of libvips' classes.
  fileprivate var className: String {
    switch self {
    case .jpeg: "Jpeg"
    case .png: "Png"
    case .webp: "Webp"
    case .gif: "Nsgif"
    case .tiff: "Tiff"
    case .avif, .heic: "Heif"
    case .jxl: "Jxl"
    }
  }
}

/// The version of libvips, because another one may write different bytes.
let libvipsVersion = String(cString: cvips_version())

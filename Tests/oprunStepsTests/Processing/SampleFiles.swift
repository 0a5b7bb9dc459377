// Image files that tests make, through libvips in the test's own process, and what is in files.

import CLate
import CVips
import CVipsTesting
import Foundation

/// Nothing of libvips is blocked here: what a test makes, it may read.
private let vipsIsReady: Bool =
  cvips_start() == 0 && cvips_load_module("vips-heif.so") == 0
  && cvips_load_module("vips-jxl.so") == 0

enum SampleError: Error { case vips(String) }

/// What a file can contain besides pixels.
struct SampleExtras {
  var orientation: Int?
  var profile: [UInt8]?
  /// The duration of each frame, in milliseconds; the image's height is divided by their number.
  var delays: [Int32]?
  /// True if it is converted to CMYK.
  var isCMYK = false
  /// True if all pixels are without transparency.
  var isOpaque = true
  var comment: String?
  /// The names of all fields of a file that was read.
  var fields: Set<String> = []

  init(
    orientation: Int? = nil, profile: [UInt8]? = nil, delays: [Int32]? = nil, isCMYK: Bool = false,
    isOpaque: Bool = true, comment: String? = nil
  ) {
    self.orientation = orientation
    self.profile = profile
    self.delays = delays
    self.isCMYK = isCMYK
    self.isOpaque = isOpaque
    self.comment = comment
  }
}

extension Pixels {
  /// A file's content, in the format of the file's extension.
  func encoded(_ ext: String, _ extras: SampleExtras = SampleExtras()) throws -> [UInt8] {
    precondition(vipsIsReady, "libvips cannot be used")
    guard
      let whole = vips_image_new_from_memory_copy(
        bytes, bytes.count, Int32(width), Int32(height), 4, VIPS_FORMAT_UCHAR)
    else { throw SampleError.vips(vipsMessage()) }
    defer { cvips_release(whole) }
    let isOpaque = extras.isOpaque && !extras.isCMYK
    let opaque = isOpaque ? cvips_test_without_alpha(whole) : nil
    defer { if let opaque { cvips_release(opaque) } }
    let image = opaque ?? whole
    image.pointee.Type = extras.isCMYK ? VIPS_INTERPRETATION_CMYK : VIPS_INTERPRETATION_sRGB
    annotate(image, extras)
    var memory: UnsafeMutableRawPointer?
    var size = 0
    guard cvips_test_save(image, ".\(ext)", &memory, &size) == 0, let memory else {
      throw SampleError.vips(vipsMessage())
    }
    defer { g_free(memory) }
    return [UInt8](UnsafeRawBufferPointer(start: memory, count: size))
  }

  private func annotate(_ image: UnsafeMutablePointer<VipsImage>, _ extras: SampleExtras) {
    if let orientation = extras.orientation {
      vips_image_set_int(image, "orientation", Int32(orientation))
    }
    if let profile = extras.profile {
      vips_image_set_blob_copy(image, "icc-profile-data", profile, profile.count)
    }
    if let comment = extras.comment {
      vips_image_set_string(image, "exif-ifd0-Copyright", comment)
      let packet = Array("<x:xmpmeta xmlns:x='adobe:ns:meta/'>\(comment)</x:xmpmeta>".utf8)
      vips_image_set_blob_copy(image, "xmp-data", packet, packet.count)
    }
    if let delays = extras.delays {
      vips_image_set_array_int(image, "delay", delays, Int32(delays.count))
      vips_image_set_int(image, "page-height", Int32(height / delays.count))
      vips_image_set_int(image, "loop", 0)
    }
  }

  /// Decodes a file with all frames.
  init(decoding bytes: [UInt8]) throws {
    precondition(vipsIsReady, "libvips cannot be used")
    guard let image = cvips_test_load(bytes, bytes.count) else {
      throw SampleError.vips(vipsMessage())
    }
    defer { cvips_release(image) }
    var size = 0
    guard let memory = vips_image_write_to_memory(image, &size) else {
      throw SampleError.vips(vipsMessage())
    }
    defer { g_free(memory) }
    let (width, height) = (Int(vips_image_get_width(image)), Int(vips_image_get_height(image)))
    self = .plain(0, 0, [])
    self.width = width
    self.height = height
    self.bytes = [UInt8](UnsafeRawBufferPointer(start: memory, count: size))
    frames = height / Int(vips_image_get_page_height(image))
  }
}

extension SampleExtras {
  /// Reads what a file contains besides pixels.
  init(of bytes: [UInt8]) throws {
    precondition(vipsIsReady, "libvips cannot be used")
    guard let image = cvips_test_open(bytes, bytes.count) else {
      throw SampleError.vips(vipsMessage())
    }
    defer { cvips_release(image) }
    orientation = Int(vips_image_get_orientation(image))
    let names = vips_image_get_fields(image)
    defer { g_strfreev(names) }
    var next = names
    while let name = next?.pointee {
      fields.insert(String(cString: name))
      next = next?.advanced(by: 1)
    }
  }
}

private func vipsMessage() -> String {
  defer { vips_error_clear() }
  return vips_error_buffer().map { String(cString: $0) } ?? ""
}

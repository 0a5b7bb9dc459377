// An image whose header was read and is within the limits; its pixels are not decoded yet.

import Glibc

struct OpenedImage {
  let descriptor: Int32
  let format: ImageFormat
  /// The size after rotation to upright.
  let size: Size
  /// The number of frames that will be read.
  let frames: Int
  let orientation: Orientation
  let needsColorChange: Bool

  /// Opens an image. Checks everything that can be checked without decoding.
  init(
    _ descriptor: Int32, as format: ImageFormat, allFrames: Bool, within limits: ImageLimits
  ) throws(ImageFailure) {
    self.descriptor = descriptor
    self.format = format
    guard Raster.canRead(format) else { throw .noCodec(format) }
    try OpenedImage.checkFile(descriptor, format, limits)
    do throws(VipsFailure) {
      let header = try Raster(reading: descriptor, as: format, allFrames: false)
      orientation = Orientation(header.orientation)
      size = orientation.turned(Size(header.width, header.frameHeight))
      // The pages of a document are not shown one after the other.
      frames = allFrames && format.holdsSeveralFrames ? header.framesInFile : 1
      needsColorChange = header.needsColorChange
    } catch {
      throw OpenedImage.fault(of: error, reading: descriptor, format)
    }
    rewind()
    try check(limits)
  }

  func fault(of error: VipsFailure) -> ImageFailure {
    OpenedImage.fault(of: error, reading: descriptor, format)
  }

  private static func fault(
    of error: VipsFailure, reading descriptor: Int32, _ format: ImageFormat
  ) -> ImageFailure {
    let better = format == .png ? BrokenPNG.reason(of: descriptor) : nil
    return .cannotDecode(format, better ?? error.details)
  }

  /// Rewinds the file for the next reader, because descriptors share their position.
  func rewind() { lseek(descriptor, 0, SEEK_SET) }

  private static func checkFile(
    _ descriptor: Int32, _ format: ImageFormat, _ limits: ImageLimits
  ) throws(ImageFailure) {
    let length = Int(lseek(descriptor, 0, SEEK_END))
    defer { lseek(descriptor, 0, SEEK_SET) }
    guard length <= limits.bytes else { throw .tooManyBytes(length, most: limits.bytes) }
    guard format == .jpeg, length > 0 else { return }
    guard let map = mmap(nil, length, PROT_READ, MAP_PRIVATE, descriptor, 0), map != MAP_FAILED
    else { return }
    defer { munmap(map, length) }
    let bytes = UnsafeRawBufferPointer(start: map, count: length)
    if ScanCount.exceeds(limits.scans, in: bytes) { throw .tooManyScans(most: limits.scans) }
  }

  private func check(_ limits: ImageLimits) throws(ImageFailure) {
    guard max(size.width, size.height) <= limits.side else {
      throw .sideTooLong(size, most: limits.side)
    }
    let (pixels, overflow) = (size.width * size.height).multipliedReportingOverflow(by: frames)
    guard !overflow, pixels <= limits.pixels else {
      throw .tooManyPixels(size, frames: frames, most: limits.pixels)
    }
  }
}

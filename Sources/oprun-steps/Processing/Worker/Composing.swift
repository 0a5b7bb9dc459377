// The canvas of a composition: images are drawn into their cells, and in the end it is encoded. The
// canvas is a file in memory, so that several workers can draw on it, each in its own cells.

import BuiltinSteps
import Glibc

enum Composing {
  /// Scales an image to the size of its cell and draws it there, upright and complete.
  static func draw(
    _ image: OpenedImage, in cell: Cell, of canvas: Int32, width: Int
  ) throws(ImageFailure) {
    do throws(VipsFailure) {
      let scaled = try Raster(
        reading: image.descriptor, allFrames: false, scaledTo: cell.size,
        changingColors: image.needsColorChange)
      let raster = try scaled.inBytes(gray: false).withAlpha()
      let isWhole = try raster.pixels { (pixels) throws(VipsFailure) in
        write(pixels, of: cell, to: canvas, width: width)
      }
      guard isWhole else { throw VipsFailure(details: "the canvas cannot be written") }
    } catch {
      throw image.fault(of: error)
    }
  }

  private static func write(
    _ pixels: UnsafeRawBufferPointer, of cell: Cell, to canvas: Int32, width: Int
  ) -> Bool {
    let row = cell.size.width * 4
    guard pixels.count == row * cell.size.height else { return false }
    return (0..<cell.size.height).allSatisfy { index in
      let place = ((cell.top + index) * width + cell.left) * 4
      let part = UnsafeRawBufferPointer(rebasing: pixels[index * row..<(index + 1) * row])
      return pwrite(canvas, part.baseAddress, row, off_t(place)) == row
    }
  }

  /// Encodes the canvas, on its background if that is opaque or the format knows no transparency.
  static func encode(
    _ canvas: Int32, _ size: Size, _ result: ResultSpec, to output: Int32
  ) throws(ImageFailure) -> ImageFacts {
    let length = size.width * size.height * 4
    guard Raster.canWrite(result.format) else { throw .noCodec(result.format) }
    guard let map = mmap(nil, length, PROT_READ, MAP_SHARED, canvas, 0), map != MAP_FAILED else {
      throw .cannotEncode(result.format, "out of memory")
    }
    defer { munmap(map, length) }
    // A worker that died may have begun to write.
    ftruncate(output, 0)
    lseek(output, 0, SEEK_SET)
    do throws(VipsFailure) {
      let pixels = UnsafeRawBufferPointer(start: map, count: length)
      var raster = try Raster(pixels: pixels, size: size)
      let isOpaque = result.background.alpha == 255 || !result.format.holdsTransparency
      if isOpaque { raster = try raster.flattened(onto: result.background) }
      try raster.write(to: output, result)
    } catch {
      throw FullDisk.holds(output)
        ? .noSpace(result.format) : .cannotEncode(result.format, error.details)
    }
    return ImageFacts(size: size, frames: 1, bytes: Int(lseek(output, 0, SEEK_END)))
  }
}

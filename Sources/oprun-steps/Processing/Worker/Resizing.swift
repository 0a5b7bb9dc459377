// Makes results of several sizes from one image, decoded once. It knows descriptors, not files.

import BuiltinSteps
import Glibc

struct Resizing {
  let image: OpenedImage
  let results: [ResultSpec]
  let limits: ImageLimits

  /// Writes each result to its descriptor.
  func perform(writingTo outputs: ArraySlice<Int32>) throws(ImageFailure) -> [ImageFacts] {
    let placements = try results.map { (result) throws(ImageFailure) in try placement(of: result) }
    for result in results where !Raster.canWrite(result.format) { throw .noCodec(result.format) }
    let shared = try decodedOnce(for: placements)
    var facts: [ImageFacts] = []
    for ((result, placement), output) in zip(zip(results, placements), outputs) {
      // A worker that died may have begun to write.
      ftruncate(output, 0)
      lseek(output, 0, SEEK_SET)
      let raster = try scaled(to: placement.scaled, from: shared, allFrames: keepsFrames(result))
      let finished = try finish(raster, placement, result)
      do throws(VipsFailure) {
        try finished.write(to: output, result)
      } catch {
        throw fault(of: error, writing: result.format, to: output)
      }
      facts.append(
        ImageFacts(
          size: placement.canvas, frames: finished.height / max(1, finished.frameHeight),
          bytes: Int(lseek(output, 0, SEEK_END))))
    }
    return facts
  }

  private func keepsFrames(_ result: ResultSpec) -> Bool {
    image.frames > 1 && result.format.holdsSeveralFrames
  }

  private func placement(of result: ResultSpec) throws(ImageFailure) -> Placement {
    let placement = Placement(of: image.size, in: result.box, fit: result.fit)
    let frames = keepsFrames(result) ? image.frames : 1
    // The part that is cut off is never computed, but it counts in coordinates, which have a limit.
    let longest = max(placement.scaled.width, placement.scaled.height * frames)
    let pixels = placement.canvas.width * placement.canvas.height * frames
    guard longest <= 8_000_000, pixels <= limits.pixels else {
      throw .resultTooLarge(
        longest > 8_000_000 ? placement.scaled : placement.canvas, most: limits.pixels)
    }
    guard placement.canvas.width * placement.canvas.height <= result.format.mostPixels else {
      throw .resultTooLarge(placement.canvas, for: result.format)
    }
    return placement
  }

  /// The decoded image, if several results are made from it and it is not too large to be kept.
  private func decodedOnce(for placements: [Placement]) throws(ImageFailure) -> Raster? {
    guard placements.count > 1 else { return nil }
    return try decoding { () throws(VipsFailure) in
      let raster = try Raster(
        reading: image.descriptor, as: image.format, allFrames: image.frames > 1,
        shrink: shrink(for: placements))
      guard raster.byteCount <= ImageLimits.keptBytes else { return nil }
      return try raster.inMemory()
    }
  }

  /// The factor by which a JPEG can be decoded smaller: a power of two that leaves at least twice
  /// the requested size, so that the better filter does the rest.
  private func shrink(for placements: [Placement]) -> Int {
    guard image.format == .jpeg else { return 1 }
    let factors = placements.flatMap {
      [image.size.width / $0.scaled.width, image.size.height / $0.scaled.height]
    }
    let least = factors.min() ?? 1
    return least >= 16 ? 8 : least >= 8 ? 4 : least >= 4 ? 2 : 1
  }

  private func scaled(
    to size: Size, from shared: Raster?, allFrames: Bool
  ) throws(ImageFailure) -> Raster {
    image.rewind()
    // Several frames are turned later, one by one.
    let size = allFrames ? image.orientation.turned(size) : size
    return try decoding { () throws(VipsFailure) in
      guard let shared else {
        return try Raster(
          reading: image.descriptor, allFrames: allFrames, scaledTo: size,
          changingColors: image.needsColorChange)
      }
      let frames =
        image.frames > 1 && !allFrames
        ? try shared.part(left: 0, top: 0, Size(shared.width, shared.frameHeight)) : shared
      return try frames.scaled(
        to: size, allFrames: allFrames, changingColors: image.needsColorChange)
    }
  }

  private func finish(
    _ scaled: Raster, _ placement: Placement, _ result: ResultSpec
  ) throws(ImageFailure) -> Raster {
    try decoding { () throws(VipsFailure) in
      var raster = try scaled.inBytes(gray: true)
      if keepsFrames(result) {
        return try FrameStrip(
          raster, placement: placement, frames: image.frames, orientation: image.orientation
        ).placed(background: result.background)
      }
      if placement.scaled != placement.canvas {
        raster = try raster.placed(placement, background: result.background)
      }
      return result.format.holdsTransparency
        ? raster : try raster.flattened(onto: result.background)
    }
  }

  /// The fault after a failed write. Work is done on demand, so faults of the image are found only
  /// when it is written.
  private func fault(
    of error: VipsFailure, writing format: ImageFormat, to output: Int32
  ) -> ImageFailure {
    let isTooLarge = errno == EFBIG
    if FullDisk.holds(output) { return .noSpace(format) }
    return isTooLarge || error.isOfEncoder
      ? .cannotEncode(format, error.details) : image.fault(of: error)
  }

  private func decoding<Value>(
    _ body: () throws(VipsFailure) -> Value
  ) throws(ImageFailure) -> Value {
    do throws(VipsFailure) { return try body() } catch {
      throw image.fault(of: error)
    }
  }
}

extension Raster {
  /// The scaled image, cropped or placed on a background.
  func placed(_ placement: Placement, background: Color) throws(VipsFailure) -> Raster {
    let (scaled, canvas) = (placement.scaled, placement.canvas)
    if scaled.width >= canvas.width, scaled.height >= canvas.height {
      return try part(left: placement.left, top: placement.top, placement.canvas)
    }
    var raster = try inBytes(gray: false)
    if background.alpha < 255 { raster = try raster.withAlpha() }
    return try raster.laid(
      onto: placement.canvas, left: -placement.left, top: -placement.top, background)
  }
}

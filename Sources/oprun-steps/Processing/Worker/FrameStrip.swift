// The frames of an animated image, one below the other, each turned upright, and cropped or placed on
// a background. This is done manually, in memory, because the operations of libvips for it work only
// on single images.

import BuiltinSteps

struct FrameStrip {
  private let raster: Raster
  private let placement: Placement
  private let frames: Int
  private let orientation: Orientation

  /// `raster` has been scaled, and is turned as in its file.
  init(_ raster: Raster, placement: Placement, frames: Int, orientation: Orientation) {
    self.raster = raster
    self.placement = placement
    self.frames = frames
    self.orientation = orientation
  }

  func placed(background: Color) throws(VipsFailure) -> Raster {
    guard placement.scaled != placement.canvas || !orientation.isUpright else { return raster }
    let source = try raster.inBytes(gray: false).withAlpha()
    let canvas = placement.canvas
    let size = Size(canvas.width, canvas.height * frames)
    let strip = try source.pixels { (pixels) throws(VipsFailure) in
      guard pixels.count == placement.scaled.width * placement.scaled.height * frames * 4 else {
        throw VipsFailure(details: "the frames have different sizes")
      }
      let memory = [UInt8](unsafeUninitializedCapacity: size.width * size.height * 4) {
        target, count in
        fill(target, with: background)
        if orientation.isUpright {
          copy(pixels, to: target)
        } else {
          upright(pixels).withUnsafeBytes { copy($0, to: target) }
        }
        count = target.count
      }
      return try Raster(copying: memory, size: size)
    }
    raster.copyAnimation(to: strip, frameHeight: canvas.height)
    return strip
  }

  private func upright(_ pixels: UnsafeRawBufferPointer) -> [UInt8] {
    let size = placement.scaled
    let width = orientation.turned(size).width
    let frameBytes = size.width * size.height * 4
    return [UInt8](unsafeUninitializedCapacity: frameBytes * frames) { target, count in
      for frame in 0..<frames {
        var to = frame * frameBytes
        for y in 0..<size.height {
          for x in 0..<size.width {
            let place = orientation.place(x: x, y: y, in: size)
            let from = frame * frameBytes + (place.y * width + place.x) * 4
            for index in 0..<4 { target[to + index] = pixels[from + index] }
            to += 4
          }
        }
      }
      count = target.count
    }
  }

  private func fill(_ target: UnsafeMutableBufferPointer<UInt8>, with color: Color) {
    let channels = [color.red, color.green, color.blue, color.alpha]
    for index in target.indices { target.initializeElement(at: index, to: channels[index % 4]) }
  }

  private func copy(_ pixels: UnsafeRawBufferPointer, to target: UnsafeMutableBufferPointer<UInt8>)
  {
    let (scaled, canvas) = (placement.scaled, placement.canvas)
    let width = min(scaled.width, canvas.width) * 4
    let from = Size(max(0, placement.left), max(0, placement.top))
    let to = Size(max(0, -placement.left), max(0, -placement.top))
    for frame in 0..<frames {
      for row in 0..<min(scaled.height, canvas.height) {
        let source = ((frame * scaled.height + from.height + row) * scaled.width + from.width) * 4
        let place = ((frame * canvas.height + to.height + row) * canvas.width + to.width) * 4
        for index in 0..<width { target[place + index] = pixels[source + index] }
      }
    }
  }
}

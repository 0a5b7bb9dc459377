// Computes the placement of an image that must fit a box, in whole numbers. The rules are
// documented for users in docs/built-in-steps.md, "How images fit".

import BuiltinSteps

/// Width and height in pixels.
struct Size: Hashable, Sendable {
  var width: Int
  var height: Int

  init(_ width: Int, _ height: Int) {
    self.width = width
    self.height = height
  }
}

/// How an image of other proportions fits a box.
enum Fit: String, Sendable {
  /// The image is completely within the box and never enlarged; the result has the size of the
  /// scaled image.
  case inside
  /// The box is filled; what sticks out is cut off evenly.
  case cover
  /// The image is completely within the box, enlarged if necessary; the rest of the box is
  /// background.
  case contain
  /// The box is filled; the image is distorted.
  case fill
}

/// The result: the image is scaled to a size, then cropped to or placed on a canvas.
struct Placement: Hashable, Sendable {
  let scaled: Size
  let canvas: Size
  /// Where the canvas begins in the scaled image (negative: where the image begins on the canvas).
  let left: Int
  let top: Int

  private init(scaled: Size, canvas: Size) {
    self.scaled = scaled
    self.canvas = canvas
    left = Placement.half(scaled.width - canvas.width)
    top = Placement.half(scaled.height - canvas.height)
  }

  /// An odd pixel is cut off, or left over, at the right and at the bottom.
  private static func half(_ difference: Int) -> Int {
    difference >= 0 ? difference / 2 : -(-difference / 2)
  }

  /// `image` is its size after rotation to upright; no side of it is 0.
  init(of image: Size, in box: Box, fit: Fit) {
    let whole = image.scaled(toTouch: box)
    guard let width = box.width, let height = box.height else {
      let scaled = fit == .inside ? image.smaller(whole) : whole
      self.init(scaled: scaled, canvas: scaled)
      return
    }
    let canvas = Size(width, height)
    switch fit {
    case .inside:
      let scaled = image.smaller(whole)
      self.init(scaled: scaled, canvas: scaled)
    case .fill: self.init(scaled: canvas, canvas: canvas)
    case .contain: self.init(scaled: whole, canvas: canvas)
    case .cover: self.init(scaled: image.scaled(toFill: canvas), canvas: canvas)
    }
  }
}

extension Size {
  /// The largest size within the box; at least one side touches the box.
  fileprivate func scaled(toTouch box: Box) -> Size {
    switch (box.width, box.height) {
    case (nil, nil): self
    case (let width?, nil): Size(width, scaledHeight(atWidth: width))
    case (nil, let height?): Size(scaledWidth(atHeight: height), height)
    case (let width?, let height?):
      // The side that needs more shrinking decides.
      self.width * height >= self.height * width
        ? Size(width, min(height, scaledHeight(atWidth: width)))
        : Size(min(width, scaledWidth(atHeight: height)), height)
    }
  }

  fileprivate func scaled(toFill box: Size) -> Size {
    width * box.height >= height * box.width
      ? Size(max(box.width, scaledWidth(atHeight: box.height)), box.height)
      : Size(box.width, max(box.height, scaledHeight(atWidth: box.width)))
  }

  /// Returns the other size if it fits into this one, otherwise this one.
  fileprivate func smaller(_ other: Size) -> Size {
    other.width > width || other.height > height ? self : other
  }

  func scaledHeight(atWidth width: Int) -> Int { rounded(height * width, self.width) }

  func scaledWidth(atHeight height: Int) -> Int { rounded(width * height, self.height) }
}

/// A quotient, with halves rounded up, and at least 1.
private func rounded(_ dividend: Int, _ divisor: Int) -> Int {
  max(1, (2 * dividend + divisor) / (2 * divisor))
}

// How the pixels of a file are turned, as EXIF says it.

struct Orientation: Hashable, Sendable {
  private let number: Int

  /// Numbers from 2 to 8 are turned; 1 and all others are upright.
  init(_ number: Int) { self.number = number }

  var isUpright: Bool { !(2...8).contains(number) }

  private var swapsSides: Bool { (5...8).contains(number) }

  /// The size after turning, or before it.
  func turned(_ size: Size) -> Size { swapsSides ? Size(size.height, size.width) : size }

  /// The place in the file of a pixel of the upright image, which has the given size.
  func place(x: Int, y: Int, in size: Size) -> (x: Int, y: Int) {
    let (right, bottom) = (size.width - 1 - x, size.height - 1 - y)
    return switch number {
    case 2: (right, y)
    case 3: (right, bottom)
    case 4: (x, bottom)
    case 5: (y, x)
    case 6: (y, right)
    case 7: (bottom, right)
    case 8: (bottom, x)
    default: (x, y)
    }
  }
}

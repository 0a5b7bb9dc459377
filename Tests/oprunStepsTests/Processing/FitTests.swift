// Where an image goes when it is made to fit a box, in whole numbers.

import BuiltinSteps
import TestSupport
import Testing

@testable import oprun_steps

/// `scaled 3 × 2 on 4 × 4 at 0, 1`
private func placed(_ width: Int, _ height: Int, _ box: Box, _ fit: Fit) -> String {
  let placement = Placement(of: Size(width, height), in: box, fit: fit)
  return "\(placement.scaled.words) on \(placement.canvas.words) at "
    + "\(-placement.left), \(-placement.top)"
}

private let box = Box(width: 300, height: 200)

@Suite(.blocking) struct FitTests {
  @Test func `inside keeps proportions, and never enlarges`() {
    #expect(placed(600, 600, box, .inside) == "200 × 200 on 200 × 200 at 0, 0")
    #expect(placed(3000, 600, box, .inside) == "300 × 60 on 300 × 60 at 0, 0")
    #expect(placed(100, 50, box, .inside) == "100 × 50 on 100 × 50 at 0, 0")
    #expect(placed(300, 200, box, .inside) == "300 × 200 on 300 × 200 at 0, 0")
  }

  @Test func `a side that is not given follows from the proportions`() {
    #expect(placed(600, 400, Box(width: 300), .inside) == "300 × 200 on 300 × 200 at 0, 0")
    #expect(placed(600, 400, Box(height: 100), .inside) == "150 × 100 on 150 × 100 at 0, 0")
    #expect(placed(60, 40, Box(width: 300), .inside) == "60 × 40 on 60 × 40 at 0, 0")
  }

  @Test func `cover fills the box and cuts evenly`() {
    #expect(placed(600, 600, box, .cover) == "300 × 300 on 300 × 200 at 0, -50")
    #expect(placed(3000, 600, box, .cover) == "1000 × 200 on 300 × 200 at -350, 0")
    #expect(placed(30, 60, box, .cover) == "300 × 600 on 300 × 200 at 0, -200")
    #expect(placed(6, 4, box, .cover) == "300 × 200 on 300 × 200 at 0, 0")
  }

  @Test func `an odd pixel is cut off, or left over, at the right and at the bottom`() {
    let square = Box(width: 100, height: 100)
    #expect(placed(101, 100, square, .cover) == "101 × 100 on 100 × 100 at 0, 0")
    #expect(placed(103, 100, square, .cover) == "103 × 100 on 100 × 100 at -1, 0")
    #expect(placed(100, 97, square, .contain) == "100 × 97 on 100 × 100 at 0, 1")
  }

  @Test func `contain enlarges if need be and fills up evenly`() {
    #expect(placed(600, 600, box, .contain) == "200 × 200 on 300 × 200 at 50, 0")
    #expect(placed(3000, 600, box, .contain) == "300 × 60 on 300 × 200 at 0, 70")
    #expect(placed(3, 1, box, .contain) == "300 × 100 on 300 × 200 at 0, 50")
  }

  @Test func `fill takes the box as it is`() {
    #expect(placed(600, 600, box, .fill) == "300 × 200 on 300 × 200 at 0, 0")
    #expect(placed(1, 1, box, .fill) == "300 × 200 on 300 × 200 at 0, 0")
  }

  @Test func `halves are rounded up, and nothing becomes empty`() {
    #expect(placed(200, 101, Box(width: 100), .inside) == "100 × 51 on 100 × 51 at 0, 0")
    #expect(placed(10_000, 1, Box(width: 100), .inside) == "100 × 1 on 100 × 1 at 0, 0")
    #expect(placed(1, 10_000, Box(height: 100), .inside) == "1 × 100 on 1 × 100 at 0, 0")
  }

  /// What the rules promise, for every small image and box.
  @Test func `every fit keeps its promise for all small sizes`() {
    let sides = [1, 2, 3, 5, 7, 10, 16, 99]
    for width in sides {
      for height in sides {
        for boxWidth in sides {
          for boxHeight in sides {
            check(Size(width, height), Size(boxWidth, boxHeight))
          }
        }
      }
    }
  }

  private func check(_ image: Size, _ wanted: Size) {
    let box = Box(width: wanted.width, height: wanted.height)
    let inside = Placement(of: image, in: box, fit: .inside).canvas
    #expect(inside.width <= min(wanted.width, image.width))
    #expect(inside.height <= min(wanted.height, image.height))
    for fit in [Fit.cover, .contain, .fill] {
      let placement = Placement(of: image, in: box, fit: fit)
      #expect(placement.canvas == wanted)
      let (width, height) = (placement.scaled.width, placement.scaled.height)
      switch fit {
      case .cover: #expect(width >= wanted.width && height >= wanted.height)
      default: #expect(width <= wanted.width && height <= wanted.height)
      }
      #expect(width == wanted.width || height == wanted.height)
    }
  }
}

// Where the images of a composition go.

import BuiltinSteps
import TestSupport
import Testing

@testable import oprun_steps

/// `500 × 100: 150×100+0+0 …`
private func laid(
  _ images: [Size], _ kind: LayoutKind, width: Int? = nil, height: Int? = nil, gap: Int = 0,
  columns: Int? = nil
) -> String {
  let options = Layout.Options(
    kind: kind, box: Box(width: width, height: height), gap: gap, columns: columns)
  guard let layout = Layout(of: images, options) else { return "no room" }
  let cells = layout.cells.map { "\($0.size.width)×\($0.size.height)+\($0.left)+\($0.top)" }
  return "\(layout.canvas.words): \(cells.joined(separator: " "))"
}

private let mixed = [Size(300, 200), Size(200, 200), Size(100, 200)]

@Suite(.blocking) struct LayoutTests {
  @Test func `a row has one height`() {
    #expect(laid(mixed, .row) == "600 × 200: 300×200+0+0 200×200+300+0 100×200+500+0")
    #expect(
      laid(mixed, .row, height: 100, gap: 10)
        == "320 × 100: 150×100+0+0 100×100+160+0 50×100+270+0")
  }

  @Test func `a row without a height is as high as its width allows`() {
    #expect(
      laid(mixed, .row, width: 320, gap: 10)
        == "320 × 100: 150×100+0+0 100×100+160+0 50×100+270+0")
    #expect(
      laid(mixed, .row, width: 1200) == "1200 × 400: 600×400+0+0 400×400+600+0 200×400+1000+0")
  }

  @Test func `a row with both sides stands in the middle`() {
    #expect(
      laid(mixed, .row, width: 400, height: 100)
        == "400 × 100: 150×100+50+0 100×100+200+0 50×100+300+0")
    #expect(
      laid(mixed, .row, width: 300, height: 200)
        == "300 × 200: 150×100+0+50 100×100+150+50 50×100+250+50")
  }

  @Test func `a column is a row on its side`() {
    #expect(
      laid(mixed.map(\.turned), .column, width: 100, gap: 10)
        == "100 × 320: 100×150+0+0 100×100+0+160 100×50+0+270")
  }

  @Test func `a grid is about square, and each image is in the middle of its cell`() {
    #expect(
      laid(mixed + mixed, .grid)
        == "900 × 400: 300×200+0+0 200×200+350+0 100×200+700+0 "
        + "300×200+0+200 200×200+350+200 100×200+700+200")
    #expect(
      laid(mixed, .grid, width: 310, gap: 10, columns: 2)
        == "310 × 410: 150×100+0+50 150×150+160+25 100×200+25+210")
  }

  @Test func `what cannot be laid out is told`() {
    #expect(laid(mixed, .row, width: 2) == "no room")
    #expect(laid(mixed, .grid, width: 20, gap: 10, columns: 3) == "no room")
    #expect(laid([], .grid) == "no room")
  }

  @Test func `every image has its place within the canvas, and none overlaps`() {
    for count in 1...12 {
      let images = (0..<count).map { Size(50 + $0 * 37 % 90, 40 + $0 * 53 % 110) }
      for kind in [LayoutKind.row, .column, .grid] {
        for box in [Box(), Box(width: 700), Box(height: 500), Box(width: 640, height: 480)] {
          check(images, Layout.Options(kind: kind, box: box, gap: count % 4))
        }
      }
    }
  }

  private func check(_ images: [Size], _ options: Layout.Options) {
    guard let layout = Layout(of: images, options) else {
      Issue.record("no room for \(images.count) images")
      return
    }
    if let width = options.box.width { #expect(layout.canvas.width == width) }
    if let height = options.box.height { #expect(layout.canvas.height == height) }
    for (index, cell) in layout.cells.enumerated() {
      let (right, bottom) = (cell.left + cell.size.width, cell.top + cell.size.height)
      #expect(cell.left >= 0 && cell.top >= 0, "\(options) \(layout)")
      #expect(
        right <= layout.canvas.width && bottom <= layout.canvas.height, "\(options) \(layout)")
      for other in layout.cells[(index + 1)...] {
        let isApart =
          right <= other.left || other.left + other.size.width <= cell.left || bottom <= other.top
          || other.top + other.size.height <= cell.top
        #expect(isApart)
      }
    }
  }
}

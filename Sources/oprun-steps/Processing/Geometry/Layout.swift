// Computes the positions of the images of a composition. The rules are documented for users in
// docs/built-in-steps.md, "compose".

import BuiltinSteps

/// How several images are laid out in one.
enum LayoutKind: String, Sendable { case row, column, grid }

/// The cell of an image: its size on the canvas, and its upper left corner.
struct Cell: Hashable, Sendable {
  let size: Size
  let left: Int
  let top: Int
}

/// A canvas and the cell of each image on it.
struct Layout: Hashable, Sendable {
  let canvas: Size
  let cells: [Cell]

  struct Options: Hashable, Sendable {
    var kind = LayoutKind.grid
    /// The size of the whole.
    var box = Box()
    /// The gap between two images.
    var gap = 0
    /// The number of columns of a grid; nil means as many as make it about square.
    var columns: Int?
  }

  /// Makes a layout; nil if the gaps leave no pixel for each image.
  init?(of images: [Size], _ options: Options) {
    guard !images.isEmpty else { return nil }
    switch options.kind {
    case .row: self.init(row: images, options.box, gap: options.gap)
    case .column:
      let box = Box(width: options.box.height, height: options.box.width)
      guard let row = Layout(row: images.map(\.turned), box, gap: options.gap) else { return nil }
      self = row.turned
    case .grid: self.init(grid: images, options)
    }
  }

  private init(canvas: Size, cells: [Cell]) {
    self.canvas = canvas
    self.cells = cells
  }

  private var turned: Layout {
    Layout(
      canvas: canvas.turned,
      cells: cells.map { Cell(size: $0.size.turned, left: $0.top, top: $0.left) })
  }

  /// Makes a row of images of equal height. Without a height it follows from the width; without
  /// either it is that of the lowest image.
  private init?(row images: [Size], _ box: Box, gap: Int) {
    let gaps = gap * (images.count - 1)
    func widths(_ height: Int) -> [Int] { images.map { $0.scaledWidth(atHeight: height) } }
    func width(_ height: Int) -> Int { widths(height).reduce(gaps, +) }
    var height = box.height ?? images.map(\.height).min() ?? 1
    if let limit = box.width, box.height == nil || width(height) > limit {
      let highest = box.height ?? 20_000
      guard width(1) <= limit else { return nil }
      // The largest height at which the row is not too wide: its width only grows with it.
      var (fits, fails) = (1, highest + 1)
      while fails - fits > 1 {
        let middle = (fits + fails) / 2
        if width(middle) <= limit { fits = middle } else { fails = middle }
      }
      height = fits
    }
    let canvas = Size(box.width ?? width(height), box.height ?? height)
    var left = (canvas.width - width(height)) / 2
    let top = (canvas.height - height) / 2
    self.canvas = canvas
    cells = widths(height).map { width in
      defer { left += width + gap }
      return Cell(size: Size(width, height), left: left, top: top)
    }
  }

  /// Makes a grid of cells of equal size, row by row; each image is whole and centred in its cell.
  private init?(grid images: [Size], _ options: Options) {
    let columns = min(images.count, options.columns ?? Layout.squareColumns(images.count))
    let rows = (images.count + columns - 1) / columns
    let gap = options.gap
    var cell = Size(images.map(\.width).max() ?? 1, images.map(\.height).max() ?? 1)
    if let width = options.box.width { cell.width = (width - gap * (columns - 1)) / columns }
    if let height = options.box.height { cell.height = (height - gap * (rows - 1)) / rows }
    guard cell.width > 0, cell.height > 0 else { return nil }
    let bounds = Box(
      width: options.box.width.map { _ in cell.width },
      height: options.box.height.map { _ in cell.height })
    let sizes = images.map { Placement(of: $0, in: bounds, fit: .inside).scaled }
    if options.box.width == nil { cell.width = sizes.map(\.width).max() ?? 1 }
    if options.box.height == nil { cell.height = sizes.map(\.height).max() ?? 1 }
    let used = Size(
      columns * cell.width + gap * (columns - 1), rows * cell.height + gap * (rows - 1))
    canvas = Size(options.box.width ?? used.width, options.box.height ?? used.height)
    let margin = Size((canvas.width - used.width) / 2, (canvas.height - used.height) / 2)
    cells = sizes.enumerated().map { index, size in
      Cell(
        size: size,
        left: margin.width + index % columns * (cell.width + gap) + (cell.width - size.width) / 2,
        top: margin.height + index / columns * (cell.height + gap)
          + (cell.height - size.height) / 2)
    }
  }

  private static func squareColumns(_ count: Int) -> Int {
    var columns = 1
    while columns * columns < count { columns += 1 }
    return columns
  }
}

extension Size {
  var turned: Size { Size(height, width) }
}

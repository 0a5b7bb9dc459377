// Requests and answers as messages between processes of one program: whole numbers of 64 bits, and
// text. Messages from a worker are treated as untrusted.

import BuiltinSteps

/// Writes numbers one after another.
struct WireWriter {
  private(set) var numbers: [Int64] = []

  mutating func write(_ number: Int) { numbers.append(Int64(number)) }
  mutating func write(_ flag: Bool) { write(flag ? 1 : 0) }
  mutating func write(_ side: Int?) { write(side ?? -1) }

  mutating func write(_ text: String) {
    let bytes = Array(text.utf8.prefix(ImageAnswer.longestText))
    write(bytes.count)
    for start in stride(from: 0, to: bytes.count, by: 8) {
      numbers.append(
        bytes[start...].prefix(8).reversed().reduce(0) { $0 << 8 | Int64($1) })
    }
  }
}

/// Reads values back; returns nil from the first one that is missing or invalid.
struct WireReader {
  private var rest: ArraySlice<Int64>

  init(_ numbers: [Int64]) { rest = numbers[...] }

  mutating func number() -> Int? { rest.popFirst().map(Int.init) }

  mutating func number(in range: ClosedRange<Int>) -> Int? {
    guard let number = number(), range.contains(number) else { return nil }
    return number
  }

  mutating func flag() -> Bool? { number(in: 0...1).map { $0 == 1 } }

  mutating func value<Value: RawRepresentable<Int64>>() -> Value? {
    rest.popFirst().flatMap(Value.init(rawValue:))
  }

  mutating func text() -> String? {
    guard let count = number(in: 0...ImageAnswer.longestText), rest.count >= (count + 7) / 8 else {
      return nil
    }
    let words = rest.prefix((count + 7) / 8)
    rest.removeFirst(words.count)
    let bytes = words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) }
    }
    return String(decoding: bytes.prefix(count), as: UTF8.self)
  }
}

extension ImageRequest {
  /// The maximum size of a message, with the most results.
  static let largestMessage = 16_384
  /// The maximum number of results of one image.
  static let mostResults = BuiltinStep.mostSizes

  var numbers: [Int64] {
    var wire = WireWriter()
    for limit in [limits.pixels, limits.side, limits.bytes, limits.scans, limits.milliseconds] {
      wire.write(limit)
    }
    switch job {
    case .resize(let format, let allFrames, let results):
      for number in [0, Int(format.rawValue)] { wire.write(number) }
      wire.write(allFrames)
      wire.write(results.count)
      for result in results { result.write(to: &wire) }
    case .measure(let format):
      for number in [1, Int(format.rawValue)] { wire.write(number) }
    case .draw(let format, let cell, let canvasWidth):
      for number in [2, Int(format.rawValue), cell.size.width, cell.size.height] {
        wire.write(number)
      }
      for number in [cell.left, cell.top, canvasWidth] { wire.write(number) }
    case .encode(let canvas, let result):
      for number in [3, canvas.width, canvas.height] { wire.write(number) }
      result.write(to: &wire)
    case .tryConfinement: wire.write(4)
    }
    return wire.numbers
  }

  init?(numbers: [Int64]) {
    var wire = WireReader(numbers)
    guard let pixels = wire.number(), let side = wire.number(), let bytes = wire.number(),
      let scans = wire.number(), let milliseconds = wire.number(),
      let job = ImageJob(from: &wire)
    else { return nil }
    limits = ImageLimits(
      pixels: pixels, side: side, bytes: bytes, scans: scans, milliseconds: milliseconds)
    self.job = job
  }
}

extension ImageJob {
  fileprivate init?(from wire: inout WireReader) {
    switch wire.number() {
    case 0:
      guard let format: ImageFormat = wire.value(), let allFrames = wire.flag(),
        let count = wire.number(in: 1...ImageRequest.mostResults)
      else { return nil }
      let results = (0..<count).compactMap { _ in ResultSpec(from: &wire) }
      guard results.count == count else { return nil }
      self = .resize(format: format, allFrames: allFrames, results)
    case 1:
      guard let format: ImageFormat = wire.value() else { return nil }
      self = .measure(format: format)
    case 2:
      guard let format: ImageFormat = wire.value(), let width = wire.number(),
        let height = wire.number(), let left = wire.number(), let top = wire.number(),
        let canvasWidth = wire.number()
      else { return nil }
      let cell = Cell(size: Size(width, height), left: left, top: top)
      self = .draw(format: format, cell, canvasWidth: canvasWidth)
    case 3:
      guard let width = wire.number(), let height = wire.number(),
        let result = ResultSpec(from: &wire)
      else { return nil }
      self = .encode(canvas: Size(width, height), result)
    case 4: self = .tryConfinement
    default: return nil
    }
  }
}

extension ResultSpec {
  private static let fits: [Fit] = [.inside, .cover, .contain, .fill]

  fileprivate func write(to wire: inout WireWriter) {
    wire.write(box.width)
    wire.write(box.height)
    wire.write(Self.fits.firstIndex(of: fit))
    wire.write(Int(format.rawValue))
    wire.write(quality)
    wire.write(strip)
    wire.write(background.number)
  }

  fileprivate init?(from wire: inout WireReader) {
    guard let width = wire.number(in: -1...1_000_000), let height = wire.number(in: -1...1_000_000),
      let fit = wire.number(in: 0...Self.fits.count - 1), let format: ImageFormat = wire.value(),
      let quality = wire.number(in: 1...100), let strip = wire.flag(), let color = wire.number()
    else { return nil }
    self.init(
      box: Box(width: width < 0 ? nil : width, height: height < 0 ? nil : height),
      fit: Self.fits[fit], format: format, quality: quality, strip: strip,
      background: Color(number: color))
  }
}

extension Color {
  fileprivate var number: Int {
    Int(red) << 24 | Int(green) << 16 | Int(blue) << 8 | Int(alpha)
  }

  fileprivate init(number: Int) {
    self.init(
      red: UInt8(truncatingIfNeeded: number >> 24), green: UInt8(truncatingIfNeeded: number >> 16),
      blue: UInt8(truncatingIfNeeded: number >> 8), alpha: UInt8(truncatingIfNeeded: number))
  }
}

extension ImageAnswer {
  static let longestText = 2048

  var numbers: [Int64] {
    var wire = WireWriter()
    switch self {
    case .done(let facts):
      wire.write(0)
      wire.write(facts.count)
      for fact in facts {
        for number in [fact.size.width, fact.size.height, fact.frames, fact.bytes] {
          wire.write(number)
        }
      }
    case .confinement(let layers, let version, let refusals):
      for number in [1, layers, version, refusals.count] + refusals { wire.write(number) }
    case .fault(let fault):
      for number in [2, fault.isOfContent ? 1 : 0] { wire.write(number) }
      wire.write(fault.message)
    case .ready(let layers):
      for number in [3, layers] { wire.write(number) }
    }
    return wire.numbers
  }

  init?(numbers: [Int64]) {
    var wire = WireReader(numbers)
    switch wire.number() {
    case 0:
      guard let count = wire.number(in: 0...ImageRequest.mostResults) else { return nil }
      let facts = (0..<count).compactMap { _ in ImageFacts(from: &wire) }
      guard facts.count == count else { return nil }
      self = .done(facts)
    case 1:
      guard let layers = wire.number(), let version = wire.number(),
        let count = wire.number(in: 0...64)
      else { return nil }
      let refusals = (0..<count).compactMap { _ in wire.number() }
      self = .confinement(layers: layers, landlockVersion: version, refusals: refusals)
    case 2:
      guard let isOfContent = wire.number(in: 0...1), let message = wire.text() else { return nil }
      self = .fault(ImageFailure(message, isOfContent: isOfContent == 1))
    case 3:
      guard let layers = wire.number() else { return nil }
      self = .ready(layers: layers)
    default: return nil
    }
  }
}

extension ImageFacts {
  /// The largest side and length: far more than any image has, and so little that sums and products
  /// of them are numbers.
  private static let (longestSide, mostBytes) = (100_000_000, 1 << 50)

  fileprivate init?(from wire: inout WireReader) {
    guard let width = wire.number(in: 1...Self.longestSide),
      let height = wire.number(in: 1...Self.longestSide),
      let frames = wire.number(in: 1...Self.longestSide),
      let bytes = wire.number(in: 0...Self.mostBytes)
    else { return nil }
    self.init(size: Size(width, height), frames: frames, bytes: bytes)
  }
}

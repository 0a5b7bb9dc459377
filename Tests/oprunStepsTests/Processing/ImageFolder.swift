// A temporary folder in which `oprun-steps` runs, and images that tests make and examine.

import Foundation
import TestSupport

/// Owns its folder.
final class ImageFolder: Sendable {
  struct End: Hashable {
    var status: Int32
    var output: String
    var errors: String
    /// The peak memory of the program and its processes, whichever had most.
    var peakMegabytes: Int
  }

  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory
      .appending(path: "oprun-steps-\(UUID().uuidString)", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  func path(_ file: String) -> String { url.appending(path: file).path }

  func write(_ bytes: [UInt8], to file: String) throws {
    try Data(bytes).write(to: url.appending(path: file))
  }

  func makeFolder(_ name: String) throws {
    try FileManager.default.createDirectory(
      at: url.appending(path: name), withIntermediateDirectories: true)
  }

  func bytes(_ file: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: url.appending(path: file)))
  }

  /// All files except the given ones and the manifest, including hidden ones.
  func files(besides known: Set<String> = []) -> [String] {
    let found = FileManager.default.enumerator(atPath: url.path)?.compactMap { $0 as? String } ?? []
    let ours: Set = [".stdout", ".stderr", ".oprun-resize.json", "out/.oprun-resize.json"]
    return found.filter { file in
      var isFolder: ObjCBool = false
      _ = FileManager.default.fileExists(atPath: path(file), isDirectory: &isFolder)
      return !isFolder.boolValue && !known.contains(file) && !ours.contains(file)
    }.sorted()
  }

  static let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().appending(path: "oprun-steps").path

  func start(_ words: [String]) throws -> Child {
    let line = ([ImageFolder.program] + words).map { "'\($0)'" }.joined(separator: " ")
    return try Child(
      script: "cd '\(url.path)' && unset OPRUN_STEP && exec \(line) </dev/null >.stdout 2>.stderr")
  }

  /// Runs the program in the folder. What the kernel counts for a child begins with the memory of
  /// whoever starts it, so a small process starts it, and tells.
  @discardableResult
  func run(_ words: [String]) throws -> End {
    let line = ([ImageFolder.program] + words).map { "'\($0)'" }.joined(separator: " ")
    let child = try Child(
      script: """
        cd '\(url.path)' && exec python3 -S -c '
        import resource, subprocess, sys
        status = subprocess.call(sys.argv[1:])
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        open(".peak", "w").write(str(peak >> 10))
        sys.exit(status if status >= 0 else 128 - status)
        ' \(line) </dev/null >.stdout 2>.stderr
        """)
    let status = child.wait()
    let peak = Int(try text(".peak")) ?? 0
    try FileManager.default.removeItem(at: url.appending(path: ".peak"))
    return End(
      status: status, output: try text(".stdout"), errors: try text(".stderr"),
      peakMegabytes: peak)
  }

  @discardableResult
  func run(_ words: String...) throws -> End { try run(words) }

  func text(_ file: String) throws -> String { String(decoding: try bytes(file), as: UTF8.self) }
}

/// Pixels in memory, four bytes each.
struct Pixels: Hashable {
  var width: Int
  var height: Int
  var bytes: [UInt8]
  /// The number of frames, which are one below the other.
  var frames = 1

  init(width: Int, height: Int, _ color: (_ x: Int, _ y: Int) -> [UInt8]) {
    self.width = width
    self.height = height
    bytes = (0..<height).flatMap { y in (0..<width).flatMap { x in color(x, y) } }
  }

  static func plain(_ width: Int, _ height: Int, _ color: [UInt8]) -> Pixels {
    var pixels = Pixels(width: width, height: 1) { _, _ in color }
    let row = pixels.bytes
    pixels.bytes = []
    pixels.bytes.reserveCapacity(row.count * height)
    for _ in 0..<height { pixels.bytes += row }
    pixels.height = height
    return pixels
  }

  /// Four corners of four colours: red, green, blue and white.
  static func corners(_ width: Int, _ height: Int) -> Pixels {
    Pixels(width: width, height: height) { x, y in
      switch (x * 2 < width, y * 2 < height) {
      case (true, true): [255, 0, 0, 255]
      case (false, true): [0, 255, 0, 255]
      case (true, false): [0, 0, 255, 255]
      case (false, false): [255, 255, 255, 255]
      }
    }
  }

  /// As different everywhere as a photograph.
  static func noise(_ width: Int, _ height: Int, seed: UInt64 = 1) -> Pixels {
    var state = seed
    return Pixels(width: width, height: height) { x, y in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let noise = UInt8(truncatingIfNeeded: state >> 60) &* 4
      return [UInt8(x * 191 / width) &+ noise, UInt8(y * 191 / height) &+ noise, noise, 255]
    }
  }

  subscript(x: Int, y: Int) -> [UInt8] {
    let start = (y * width + x) * 4
    return Array(bytes[start..<start + 4])
  }

  /// A letter for each of some points, so that an image can be compared by eye.
  func letters(_ points: [(Int, Int)]) -> String {
    points.map { Pixels.letter(self[$0.0, $0.1]) }.joined()
  }

  private static func letter(_ color: [UInt8]) -> String {
    let known: [(String, [UInt8])] = [
      ("r", [255, 0, 0, 255]), ("g", [0, 255, 0, 255]), ("b", [0, 0, 255, 255]),
      ("w", [255, 255, 255, 255]), ("k", [0, 0, 0, 255]), ("y", [255, 255, 0, 255]),
      ("-", [0, 0, 0, 0]),
    ]
    func distance(_ other: [UInt8]) -> Int {
      if color[3] == 0, other[3] == 0 { return 0 }
      return zip(color, other).map { abs(Int($0) - Int($1)) }.max() ?? 0
    }
    return known.first { distance($0.1) < 40 }?.0 ?? "?"
  }
}

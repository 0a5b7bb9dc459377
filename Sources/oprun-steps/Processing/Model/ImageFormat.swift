// The formats of images that are read and written, and how the first bytes of a file identify them.
// Names and declared types are ignored. It knows no decoder.

import Diagnostics

/// A format that is read or written.
enum ImageFormat: Int64, CaseIterable, Sendable {
  case jpeg, png, webp, gif, avif, tiff, heic, jxl

  /// The name as people write it.
  var label: String {
    switch self {
    case .jpeg: "JPEG"
    case .png: "PNG"
    case .webp: "WebP"
    case .gif: "GIF"
    case .avif: "AVIF"
    case .tiff: "TIFF"
    case .heic: "HEIC"
    case .jxl: "JPEG XL"
    }
  }

  /// The value of `{ext}`.
  var fileExtension: String {
    switch self {
    case .jpeg: "jpg"
    case .png: "png"
    case .webp: "webp"
    case .gif: "gif"
    case .avif: "avif"
    case .tiff: "tiff"
    case .heic: "heic"
    case .jxl: "jxl"
    }
  }

  /// The format in which an image of this format is written, unless another one is requested.
  var sameWhenWritten: ImageFormat {
    switch self {
    case .jpeg, .png, .webp, .gif, .avif, .jxl: self
    case .tiff: .png
    case .heic: .jpeg
    }
  }

  /// The format for a word of the option `format`, or for the extension of a file.
  init?(word: String) {
    switch word.lowercased() {
    case "jpeg", "jpg", "jpe": self = .jpeg
    case "png": self = .png
    case "webp": self = .webp
    case "gif": self = .gif
    case "avif": self = .avif
    case "tiff", "tif": self = .tiff
    case "heic", "heif": self = .heic
    case "jxl": self = .jxl
    default: return nil
    }
  }

  /// The maximum number of pixels of a written frame that encoders can handle in the address space
  /// of a worker, including the canvas. For JPEG and PNG the canvas is decisive, for the others
  /// their encoder.
  var mostPixels: Int {
    switch self {
    case .jpeg, .png, .tiff: 200_000_000
    case .webp: 70_000_000
    case .gif: 50_000_000
    case .avif, .heic, .jxl: 25_000_000
    }
  }

  var holdsSeveralFrames: Bool { self == .gif || self == .webp }
  var holdsTransparency: Bool { self != .jpeg }
  /// True if the format is read by default: each such format has one decoder, which is well maintained.
  var isReadByDefault: Bool {
    switch self {
    case .jpeg, .png, .webp, .gif: true
    case .avif, .tiff, .heic, .jxl: false
    }
  }
  /// The module of libvips that decodes and encodes it, if it is one.
  var module: CodecModule? {
    switch self {
    case .jpeg, .png, .webp, .gif, .tiff: nil
    case .avif, .heic: .heif
    case .jxl: .jxl
    }
  }
}

/// A part of libvips that is loaded only if its formats are read or written. The word is in the
/// name of its file.
enum CodecModule: String, CaseIterable, Sendable {
  case heif, jxl

  /// The modules that a worker needs for the given formats.
  static func needed(for formats: [ImageFormat]) -> [CodecModule] {
    allCases.filter { module in formats.contains { $0.module == module } }
  }
}

/// The kind of a file by its first bytes.
enum FileKind: Hashable, Sendable {
  case image(ImageFormat)
  /// Something else, described in words: `a web page (HTML)`.
  case other(String)

  /// The number of bytes that are examined.
  static let length = 512

  init(firstBytes bytes: some Collection<UInt8>) {
    let head = Array(bytes.prefix(FileKind.length))
    if let format = FileKind.imageFormat(head) {
      self = .image(format)
    } else {
      self = .other(FileKind.words(for: head))
    }
  }

  private static func imageFormat(_ head: [UInt8]) -> ImageFormat? {
    if head.starts(with: [0xFF, 0xD8, 0xFF]) { return .jpeg }
    if head.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return .png }
    if head.starts(with: "GIF87a".utf8) || head.starts(with: "GIF89a".utf8) { return .gif }
    if head.starts(with: "RIFF".utf8), head.dropFirst(8).starts(with: "WEBP".utf8) { return .webp }
    if head.starts(with: [0xFF, 0x0A]) { return .jxl }
    if head.starts(with: [0, 0, 0, 12] + Array("JXL \r\n".utf8) + [0x87, 0x0A]) { return .jxl }
    let tiffs: [[UInt8]] = [[0x49, 0x49, 0x2A, 0], [0x4D, 0x4D, 0, 0x2A]]
    if tiffs.contains(where: head.starts) { return .tiff }
    guard head.dropFirst(4).starts(with: "ftyp".utf8) else { return nil }
    switch String(decoding: head.dropFirst(8).prefix(4), as: UTF8.self) {
    case "avif", "avis": return .avif
    case "heic", "heix", "heim", "heis", "mif1", "msf1": return .heic
    default: return nil
    }
  }

  private static func words(for head: [UInt8]) -> String {
    if head.isEmpty { return "an empty file" }
    let text = String(
      decoding: head.drop { $0 == 0x20 || (0x09...0x0D).contains($0) || $0 > 0x7F }, as: UTF8.self
    ).lowercased()
    let beginnings = [
      ("<html", "a web page (HTML)"), ("<svg", "an SVG drawing"), ("%pdf-", "a PDF document"),
      ("%!ps", "a PostScript document"),
      ("pk\u{3}\u{4}", "a ZIP archive"), ("bm", "a BMP image"), ("8bps", "a Photoshop image"),
      ("\u{7F}elf", "a program"), ("#!", "a script"), ("{", "JSON"),
    ]
    if text.hasPrefix("<!doctype html") { return "a web page (HTML)" }
    if text.hasPrefix("<?xml") || text.hasPrefix("<!") {
      return text.contains("<svg") || text.contains("doctype svg") ? "an SVG drawing" : "XML"
    }
    if let known = beginnings.first(where: { text.hasPrefix($0.0) }) { return known.1 }
    if head.starts(with: [0x1F, 0x8B]) { return "a gzip archive" }
    let isText = head.allSatisfy { $0 >= 0x20 && $0 != 0x7F || (0x09...0x0D).contains($0) }
    return isText ? "text" : "data of an unknown format"
  }
}

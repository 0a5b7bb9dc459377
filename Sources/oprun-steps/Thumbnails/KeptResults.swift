// Results of images in the cache: a result of the same content and settings need not be made again.
// It knows neither where contents come from nor how images are made.

import BuiltinSteps
import Diagnostics
import Glibc

struct KeptResults: Sendable {
  let cache: DownloadCache
  let settings: ResizeSettings

  /// The generation; raise it whenever our own code for images changes the results.
  private static let generation = 3

  /// The key of one result. It covers everything that determines its bytes.
  private func key(_ source: Digest, _ result: ResultSpec) -> Digest {
    let background = result.background
    let parts = [
      "result \(Self.generation)", libvipsVersion, source.hexadecimal,
      "\(result.box.width ?? 0)x\(result.box.height ?? 0)", result.fit.rawValue,
      "\(result.format.rawValue)", "\(result.quality)", "\(result.strip)",
      "\(background.red),\(background.green),\(background.blue),\(background.alpha)",
      "\(settings.allFrames)", "\(settings.limits.pixels)",
      // All are made from one decoding, which has the resolution that the largest needs.
      settings.boxes.map(\.words).joined(separator: ", "),
    ]
    return SHA256.hash(parts.joined(separator: "\n"))
  }

  /// True if all results of a content exist, so that it need not be read.
  func areAll(of object: CachedDownload) -> Bool {
    guard
      let image = try? SourceImage(object.path, reading: settings.reading.formats)
    else { return false }
    return settings.results(for: image.format).allSatisfy { result in
      cache.record(key(object.digest, result)).flatMap { cache.object(of: $0) } != nil
    }
  }

  /// True if a content from the cache may be decoded, because results may have been removed since
  /// they were looked up.
  func isIntact(_ source: Acquired) -> Bool {
    guard let object = source.hold as? CachedDownload else { return true }
    let record = CacheRecord(
      digest: source.digest, size: source.size, confirmed: 0, isKept: true)
    return cache.isIntact(object, record)
  }

  /// Gives the results of a content their names, if all of them exist; otherwise nil, and nothing
  /// has changed.
  func publish(
    _ source: Acquired, as format: ImageFormat, path: (ResultSpec) throws(ItemFailure) -> String
  ) throws(ItemFailure) -> [ItemFile]? {
    var found: [(record: CacheRecord, object: CachedDownload, result: ResultSpec)] = []
    for result in settings.results(for: format) {
      guard let record = cache.record(key(source.digest, result)),
        let object = cache.object(of: record)
      else { return nil }
      found.append((record, object, result))
    }
    var files: [ItemFile] = []
    for (record, object, result) in found {
      let path = try path(result)
      if contentDigest(of: path, ifSize: record.size) != record.digest {
        try copy(object.path, record.digest, to: path)
      }
      let size = record.note.split(separator: "x").compactMap { Int($0) }
      files.append(
        ItemFile(path: path, byteCount: record.size, width: size.first, height: size.last))
    }
    return files
  }

  /// Adds results. One that cannot be kept is made again another time.
  func keep(_ results: [ImageResult], of source: Acquired, as format: ImageFormat) {
    for (result, spec) in zip(results, settings.results(for: format)) {
      try? keep(result, key(source.digest, spec))
    }
  }

  private func keep(_ result: ImageResult, _ key: Digest) throws {
    let part = try PartFile.open(at: cache.folder.part(key), mode: 0o600)
    do throws(SystemError) { try part.copyContent(of: result.path) } catch {
      part.discard()
      throw error
    }
    var record = CacheRecord(
      digest: part.digest(), size: part.size, confirmed: calendarTime(), isKept: true)
    record.note = "\(result.facts.size.width)x\(result.facts.size.height)"
    if try cache.keep(part, as: record, for: key) == nil { part.discard() }
  }
}

/// The hash of a file of this size; nil for any other.
func contentDigest(of path: String, ifSize size: Int) -> Digest? {
  guard let file = try? OpenFile.regular(path), file.size == size else { return nil }
  return try? file.digest()
}

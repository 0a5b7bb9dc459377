// Downloads contents to a file of the user.

import Diagnostics
import Glibc

extension Downloader {
  /// Downloads to `target`, which is published whole or not at all.
  func download(
    _ source: Source, to target: String, keepsInCache: Bool
  ) throws(ItemFailure) -> Acquired {
    try system { try Files.checkReplaceable(target) }
    if let expected = source.expected, let size = size(of: target, if: expected) {
      return present(target, expected, size)
    }
    var turn: DownloadTurn?
    if keepsInCache, let cache { turn = try takeTurn(source, in: cache) }
    defer { withExtendedLifetime(turn) {} }
    let record = record(of: source)
    let isThere = record.map { size(of: target, if: $0.digest) == $0.size } ?? false
    let object = isThere ? nil : record.flatMap { cache?.object(of: $0) }
    let isAtHand = isThere || object != nil
    if let record, isAtHand, turn?.isFresh(record) == true || isBelieved(record, source) {
      return try atHand(record, object, target)
    }
    let part = try system { try PartFile.open(at: PartFile.name(beside: target), mode: 0o666) }
    let validators = isAtHand ? record?.validators : nil
    guard let fetched = try fetch(source, unless: validators ?? Validators(), into: part) else {
      guard let record else { throw ItemFailure("the cache no longer has a record of it") }
      confirm(record, source)
      return try atHand(record, object, target)
    }
    try system { try part.finish(as: target) }
    return try acquired(fetched, source, in: target, keepsInCache: keepsInCache)
  }

  /// Called with what was fetched, once it is whole in its target: the cache remembers it, or keeps a copy.
  private func acquired(
    _ fetched: Fetched, _ source: Source, in target: String, keepsInCache: Bool
  ) throws(ItemFailure) -> Acquired {
    if let cache, !fetched.facts.forbidsKeeping {
      if keepsInCache {
        try keep(fetched, from: target, source, in: cache)
      } else {
        // Without the record, the next run downloads again.
        try? cache.note(fetched.record(isKept: false), for: source.key)
      }
    }
    var acquired = Acquired(path: target, digest: fetched.digest, size: fetched.size)
    acquired.receivedByteCount = fetched.receivedByteCount
    acquired.note = fetched.note
    return acquired
  }

  private func keep(
    _ fetched: Fetched, from target: String, _ source: Source, in cache: DownloadCache
  ) throws(ItemFailure) {
    let part = try copy(target, fetched.digest, toPart: cache.folder.part(source.key), mode: 0o600)
    let object = try system {
      try cache.keep(part, as: fetched.record(isKept: true), for: source.key)
    }
    if object == nil { part.discard() }
  }

  private func atHand(
    _ record: CacheRecord, _ object: CachedDownload?, _ target: String
  ) throws(ItemFailure) -> Acquired {
    if let object { try copy(object.path, record.digest, to: target) }
    return present(target, record.digest, record.size)
  }

  private func present(_ target: String, _ digest: Digest, _ size: Int) -> Acquired {
    var acquired = Acquired(path: target, digest: digest, size: size)
    acquired.isCached = true
    return acquired
  }

  /// The size of a file if it has this content; otherwise nil.
  private func size(of path: String, if digest: Digest) -> Int? {
    guard let file = try? OpenFile.regular(path), (try? file.digest()) == digest else {
      return nil
    }
    return file.size
  }
}

/// Copies a content whose hash is known, whole or not at all.
func copy(_ path: String, _ digest: Digest, to target: String) throws(ItemFailure) {
  let part = try copy(path, digest, toPart: PartFile.name(beside: target), mode: 0o666)
  try system { try part.finish(as: target) }
}

func copy(
  _ path: String, _ digest: Digest, toPart partPath: String, mode: mode_t
) throws(ItemFailure) -> PartFile {
  try system {
    let part = try PartFile.open(at: partPath, mode: mode)
    do throws(SystemError) {
      try part.copyContent(of: path)
      guard part.digest() == digest else {
        throw SystemError("\(quoted(path)) has changed while it was copied", errno: EIO)
      }
      return part
    } catch {
      part.discard()
      throw error
    }
  }
}

// Downloads contents into the cache, where they are processed.

import Glibc
import Synchronization

/// A content that must not stay, or for which there is no room: it is removed when nothing uses it
/// any more.
private final class PassingContent: Sendable {
  private let part: PartFile
  private let isGone = Atomic(false)

  init(_ part: PartFile) { self.part = part }

  deinit { remove() }

  /// Removes the file only once, because the name may be reused afterwards.
  func remove() {
    if !isGone.exchange(true, ordering: .relaxed) { part.discard() }
  }
}

/// The right to fetch a source, or the patience for it.
struct DownloadTurn: Sendable {
  /// The turn; nil if it took too long to get: then we continue without it.
  let turn: CacheTurn?
  /// When waiting began, in seconds since 1970.
  let began: Int

  /// True if a record is fresh: a content that another process has fetched since we began to wait
  /// need not be checked with the server. A clock that was set back does not make anything fresher.
  func isFresh(_ record: CacheRecord) -> Bool {
    guard let turn, turn.hasWaited else { return false }
    return record.confirmed >= began && record.confirmed <= calendarTime()
  }
}

extension Downloader {
  /// Waits for another process that fetches the same, but no longer than one attempt could take.
  func takeTurn(_ source: Source, in cache: DownloadCache) throws(ItemFailure) -> DownloadTurn {
    let began = calendarTime()
    let limit = fetcher.settings.limits.total
    let turn = try system { try cache.turn(source.key, named: source.shown, limit: limit) }
    return DownloadTurn(turn: turn, began: began)
  }

  /// Gets the content into the cache, or if it must not stay, into a file that is removed with
  /// `hold`. A cached content is checked against its hash unless `isUnread` says that it will not
  /// be read.
  func acquire(
    _ source: Source, in cache: DownloadCache, isUnread: (CachedDownload) -> Bool = { _ in false }
  ) throws(ItemFailure) -> Acquired {
    let turn = try takeTurn(source, in: cache)
    defer { withExtendedLifetime(turn) {} }
    let record = record(of: source)
    let object = record.flatMap { record in
      cache.uncheckedObject(of: record).flatMap { object in
        isUnread(object) || cache.isIntact(object, record) ? object : nil
      }
    }
    if let record, let object, turn.isFresh(record) || isBelieved(record, source) {
      return acquired(object)
    }
    let part = try system {
      try PartFile.open(at: cache.folder.part(source.key), mode: 0o600)
    }
    let validators = object == nil ? nil : record?.validators
    guard let fetched = try fetch(source, unless: validators ?? Validators(), into: part) else {
      guard let record, let object else { throw ItemFailure("the cache no longer has it") }
      confirm(record, source)
      return acquired(object)
    }
    return try kept(fetched, part, source, in: cache)
  }

  private func kept(
    _ fetched: Fetched, _ part: PartFile, _ source: Source, in cache: DownloadCache
  ) throws(ItemFailure) -> Acquired {
    var acquired = Acquired(path: part.path, digest: fetched.digest, size: fetched.size)
    if !fetched.facts.forbidsKeeping {
      let object = try system {
        try cache.keep(part, as: fetched.record(isKept: true), for: source.key)
      }
      if let object { acquired = self.acquired(object) }
    }
    if acquired.hold == nil {
      let passing = PassingContent(part)
      acquired.hold = passing
      acquired.removePassing = { passing.remove() }
    }
    acquired.isCached = false
    acquired.receivedByteCount = fetched.receivedByteCount
    acquired.note = fetched.note
    return acquired
  }

  private func acquired(_ object: CachedDownload) -> Acquired {
    var acquired = Acquired(path: object.path, digest: object.digest, size: object.size)
    acquired.isCached = true
    acquired.hold = object
    return acquired
  }
}

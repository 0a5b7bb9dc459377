// Gets the content of a URL: an existing one is used, checked with the server, or fetched again,
// and kept. This makes one attempt; the caller decides about another.

import Diagnostics
import Glibc

struct Downloader: Sendable {
  let fetcher: Fetcher
  /// The cache; nil if there is none that can be used.
  let cache: DownloadCache?
  /// The largest age of a confirmation, in seconds, that is used without asking the server.
  var maxAge = 0
  var mayResume = true

  /// A complete content in a part file.
  struct Fetched {
    let digest: Digest
    let size: Int
    let receivedByteCount: Int
    let facts: ContentFacts

    var note: String? {
      facts.isLengthKnown ? nil : "the server did not say how long it is"
    }

    func record(isKept: Bool) -> CacheRecord {
      var record = CacheRecord(
        digest: digest, size: size, confirmed: calendarTime(), isKept: isKept)
      record.validators = facts.validators
      return record
    }
  }

  /// Asks the server. Nil if the existing content is still valid, which is possible only if
  /// validators were given.
  func fetch(
    _ source: Source, unless validators: Validators, into part: PartFile
  ) throws(ItemFailure) -> Fetched? {
    do throws(ItemFailure) {
      let mayResume = mayResume && validators.areMissing
      try system { try part.prepare(key: source.key, mayResume: mayResume) }
      let request = FetchRequest(url: source.url, key: source.key, validators: validators)
      switch try fetcher.fetch(request, into: part) {
      case .unchanged:
        guard !validators.areMissing else {
          throw ItemFailure("answers 304 (not modified) without having been asked")
        }
        part.discard()
        return nil
      case .content(let facts):
        let digest = part.digest()
        if let expected = source.expected, digest != expected {
          let isResumed = part.receivedByteCount < part.size
          // The earlier part may be at fault, and is not resumed again.
          try system { try part.restart() }
          throw .wrongHash(wanted: expected, found: digest, mayPass: isResumed)
        }
        return Fetched(
          digest: digest, size: part.size, receivedByteCount: part.receivedByteCount, facts: facts)
      }
    } catch {
      if error.mayPass, self.mayResume { part.leave() } else { part.discard() }
      var failure = error
      failure.receivedByteCount = part.receivedByteCount
      throw failure
    }
  }

  /// True if a record can be used without asking the server.
  func isBelieved(_ record: CacheRecord, _ source: Source) -> Bool {
    // A clock that was set back does not make anything fresher.
    source.expected != nil || (0..<maxAge).contains(calendarTime() - record.confirmed)
  }

  /// The record of a source, unless it is useless.
  func record(of source: Source) -> CacheRecord? {
    cache?.record(source.key).flatMap { record in
      let isWanted = source.expected == nil || source.expected == record.digest
      // An earlier run may have had a higher limit. The server is asked whether the content is
      // still as long.
      return isWanted && record.size <= fetcher.settings.maxBytes ? record : nil
    }
  }

  /// Called when the server has confirmed that the record is still valid.
  func confirm(_ record: CacheRecord, _ source: Source) {
    var record = record
    record.confirmed = calendarTime()
    // If it cannot be recorded, the server is asked again next time.
    try? cache?.note(record, for: source.key)
  }
}

/// Turns a fault of the machine into a failure of the item.
func system<Value>(_ body: () throws -> Value) throws(ItemFailure) -> Value {
  do { return try body() } catch let error as SystemError {
    throw .system(error)
  } catch { throw ItemFailure("\(error)") }
}

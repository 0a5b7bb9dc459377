// From a URL to a content: what is at hand is used, asked about, or fetched anew, and kept. One attempt;
// who calls decides about another.

import Diagnostics
import Glibc

struct Downloader: Sendable {
  let fetcher: Fetcher
  /// Nil if there is none that could be used.
  let cache: Cache?
  /// How old a confirmation may be to be believed without asking, in seconds.
  var maxAge = 0
  var mayResume = true

  /// A whole content in a part file.
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

  /// Asks the server. Nil if what is at hand is still right: only if validators were given.
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
          // What was there before may be at fault, and is not gone on with again.
          try system { try part.restart() }
          throw .wrongHash(wanted: expected, found: digest, mayPass: isResumed)
        }
        return Fetched(
          digest: digest, size: part.size, receivedByteCount: part.receivedByteCount, facts: facts)
      }
    } catch {
      if error.mayPass { part.leave() } else { part.discard() }
      var failure = error
      failure.receivedByteCount = part.receivedByteCount
      throw failure
    }
  }

  /// Whether what a record says need not be asked about.
  func isBelieved(_ record: CacheRecord, _ source: Source) -> Bool {
    // A clock that was set back makes nothing younger.
    source.expected != nil || (0..<maxAge).contains(calendarTime() - record.confirmed)
  }

  /// What is known, unless it is of no use.
  func record(of source: Source) -> CacheRecord? {
    cache?.record(source.key).flatMap { record in
      let isWanted = source.expected == nil || source.expected == record.digest
      // An earlier run may have allowed more. The server is asked whether it is still as long.
      return isWanted && record.size <= fetcher.settings.maxBytes ? record : nil
    }
  }

  /// The server has said that the record is still right.
  func confirm(_ record: CacheRecord, _ source: Source) {
    var record = record
    record.confirmed = calendarTime()
    // What cannot be noted is asked about again.
    try? cache?.note(record, for: source.key)
  }
}

/// A fault of the machine fails the item.
func system<Value>(_ body: () throws -> Value) throws(ItemFailure) -> Value {
  do { return try body() } catch let error as SystemError {
    throw .system(error)
  } catch { throw ItemFailure("\(error)") }
}

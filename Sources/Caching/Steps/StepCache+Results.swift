// Where results come from: the cache of this machine, and the one that it shares with others.

import Plans

extension StepCache {
  package var shared: SharedCache? { options.shared }
  package var readsShared: Bool { use?.isRead == true }
  package var writesShared: Bool { use?.isWritten == true }

  /// Takes note of the end of a transfer; returns what people are told of it.
  package func hear(_ end: SharedEnd) -> String? { use?.hear(end) }

  /// The same for one that has asked for a result, with the time that it took, in nanoseconds.
  package func hear(_ end: SharedEnd, after time: Int64) -> String? { use?.hear(end, after: time) }

  /// Asks for a result that this machine lacks.
  func askOthers(_ lookup: CacheLookup) -> CacheNext {
    guard readsShared, !lookup.isReviewed,
      let key = lookup.keys.first(where: { !lookup.fetched.contains($0) })
    else { return .miss }
    lookup.expect(key)
    return .ask([(.step, .fetch(key, outputs: lookup.settings.outputs))])
  }

  /// The result of a key; nil if there is none that the step can have made.
  func result(of key: CacheDigest, _ lookup: CacheLookup) -> StoredResult? {
    let found = folder.result(of: key, onlyLooks: lookup.isReviewed) { lookup.damage = .result }
    guard let result = found else { return nil }
    if result.published.allSatisfy({ $0.isOf(lookup.declared) }) { return result }
    if !lookup.isReviewed { folder.drop(resultOf: key) }
    return nil
  }
}

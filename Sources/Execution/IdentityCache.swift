// A cache for values that are made from objects which many commands share.

/// Values by the identity of objects. The cache keeps the objects alive, because an identifier is
/// used again once its object is gone; so it keeps only some: late steps bring new objects as long
/// as a run lasts.
struct IdentityCache<Key: AnyObject, Value> {
  private var known: [ObjectIdentifier: (key: Key, value: Value)] = [:]
  private var last: (key: Key, value: Value)?

  static var limit: Int { 256 }

  var count: Int { known.count }

  /// The value for the object, made now if it is not known.
  mutating func value(for key: Key, _ make: () -> Value) -> Value {
    if let last, last.key === key { return last.value }
    let found = known[ObjectIdentifier(key)]?.value
    let value = found ?? make()
    if found == nil {
      if known.count >= Self.limit { known.removeAll(keepingCapacity: true) }
      known[ObjectIdentifier(key)] = (key, value)
    }
    last = (key, value)
    return value
  }
}

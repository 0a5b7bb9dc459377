// A fixed set of names that is searched by bytes, so no string is made to look one up.

/// Up to 200 names, numbered in the order in which they are given. A lookup is O(length of the
/// name).
package struct NameTable: Sendable {
  /// All names, one after the other.
  private var bytes: [UInt8] = []
  /// The end of each name.
  private var ends: [Int] = []
  /// The numbers by hash; 255 is a free slot.
  private var slots = [UInt8](repeating: 255, count: 256)

  package init(_ names: [StaticString]) {
    ends.reserveCapacity(names.count)
    for name in names {
      let name = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
      bytes.append(contentsOf: name)
      ends.append(bytes.count)
      var slot = Self.hash(name)
      while slots[slot] != 255 { slot = (slot + 1) & 255 }
      slots[slot] = UInt8(ends.count - 1)
    }
    precondition(ends.count <= 200, "a table of names must have free slots")
  }

  /// The number of a name, if it is in the set.
  package func find(_ name: UnsafeBufferPointer<UInt8>) -> Int? {
    guard let first = name.baseAddress else { return nil }
    var slot = Self.hash(name)
    while slots[slot] != 255 {
      let number = Int(slots[slot])
      let start = number == 0 ? 0 : ends[number - 1]
      if ends[number] - start == name.count, isName(at: start, first, count: name.count) {
        return number
      }
      slot = (slot + 1) & 255
    }
    return nil
  }

  private func isName(at start: Int, _ name: UnsafePointer<UInt8>, count: Int) -> Bool {
    bytes.withUnsafeBufferPointer { bytes in
      bytes.baseAddress.map { areEqual($0 + start, name, count: count) } ?? true
    }
  }

  private static func hash(_ name: UnsafeBufferPointer<UInt8>) -> Int {
    guard let first = name.first, let last = name.last else { return 0 }
    return (name.count &* 37 &+ Int(first) &* 11 &+ Int(last)) & 255
  }
}

// Finds the step that makes a path, or a directory around it, without a string for each directory.

import Expressions

/// A hash table of paths and numbers, in which paths are compared by their bytes.
struct PathTable {
  /// The number of an entry + 1 in each slot; 0 is free. Open addressing, at most half full.
  private var slots: [UInt32]
  /// The hash of the path in each slot: paths are compared only if their hashes are equal.
  private var hashes: [UInt64]
  private var entries: [(path: ExactText, number: Int)] = []
  /// A random start of hashes, so that no file can be constructed whose paths all collide.
  private let seed = UInt64.random(in: 0...UInt64.max)

  /// Makes a table for at most this many paths.
  init(capacity: Int = 0) {
    var slotCount = 16
    while slotCount < capacity * 2 { slotCount *= 2 }
    slots = [UInt32](repeating: 0, count: slotCount)
    hashes = [UInt64](repeating: 0, count: slotCount)
    entries.reserveCapacity(capacity)
  }

  var isEmpty: Bool { entries.isEmpty }

  subscript(path: ExactText) -> Int? {
    let place = withBytes(of: path) { slot(of: $0, hash: hash($0)) }
    return entry(in: place).map { entries[$0].number }
  }

  /// Adds a path with its number; if the path is there already, it keeps the first number, which is returned.
  mutating func add(_ number: Int, at path: ExactText) -> Int? {
    let hash = withBytes(of: path) { self.hash($0) }
    let slot = withBytes(of: path) { self.slot(of: $0, hash: hash) }
    if let known = entry(in: slot) { return entries[known].number }
    entries.append((path, number))
    precondition(entries.count <= slots.count / 2, "a table has free slots")
    slots[slot] = UInt32(entries.count)
    hashes[slot] = hash
    return nil
  }

  /// The path itself, or that of the nearest directory around it, if it is in the table. O(length).
  func nearest(to path: ExactText) -> ExactText? {
    let found = withBytes(of: path) { bytes in
      var hash = seed
      var found: Int?
      for place in bytes.indices {
        if bytes[place] == UInt8(ascii: "/") {
          let folder = UnsafeBufferPointer(rebasing: bytes[..<place])
          found = entry(in: slot(of: folder, hash: hash)) ?? found
        }
        hash = Self.mix(hash, bytes[place])
      }
      return entry(in: slot(of: bytes, hash: hash)) ?? found
    }
    return found.map { entries[$0].path }
  }

  private func entry(in slot: Int) -> Int? { slots[slot] == 0 ? nil : Int(slots[slot]) - 1 }

  /// The slot of the path, or the one to which it could be added.
  private func slot(of path: UnsafeBufferPointer<UInt8>, hash: UInt64) -> Int {
    let mask = slots.count - 1
    var slot = Int(truncatingIfNeeded: hash ^ hash >> 32) & mask
    while slots[slot] != 0 {
      if hashes[slot] == hash,
        withBytes(of: entries[Int(slots[slot]) - 1].path, { areEqual($0, path) })
      {
        return slot
      }
      slot = (slot + 1) & mask
    }
    return slot
  }

  private func withBytes<R>(
    of path: ExactText, _ body: (UnsafeBufferPointer<UInt8>) -> R
  ) -> R {
    var text = path.text
    return text.withUTF8(body)
  }

  private func hash(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
    var hash = seed
    for byte in bytes { hash = Self.mix(hash, byte) }
    return hash
  }

  /// A step of FNV-1a: the hash of each directory is an intermediate result for that of the path.
  @inline(__always)
  private static func mix(_ hash: UInt64, _ byte: UInt8) -> UInt64 {
    (hash ^ UInt64(byte)) &* 0x100_0000_01B3
  }
}

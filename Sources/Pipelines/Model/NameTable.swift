// Names as numbers, found by their bytes: no text is made to look one up.

/// Gives each different name a number, from 0 in order of appearance.
struct NameTable {
  /// Longer names differ only in their first bytes here. No valid id is that long.
  static let maxByteCount = 129

  private struct Entry {
    let start: UInt32
    let hash: UInt32
    /// The step with that id; −1 is none.
    var step: Int32
    let count: UInt8
  }

  private var entries: [Entry] = []
  private var bytes: [UInt8] = []
  /// Open addressing: number + 1, 0 is free. Never more than half full.
  private var slots = [UInt32](repeating: 0, count: 64)
  /// Drawn anew each time, so that no file can be made whose names all collide.
  private let seed = UInt64.random(in: 0...UInt64.max)

  var count: Int { entries.count }

  /// The step that has the name as its id.
  subscript(stepOf number: Int) -> Int? {
    get { entries[number].step < 0 ? nil : Int(entries[number].step) }
    set { entries[number].step = Int32(truncatingIfNeeded: newValue ?? -1) }
  }

  mutating func number(of name: UnsafeBufferPointer<UInt8>) -> Int {
    let name = UnsafeBufferPointer(rebasing: name.prefix(Self.maxByteCount))
    let hash = hash(name)
    let slot = slot(for: name, hash: hash)
    if slots[slot] != 0 { return Int(slots[slot]) - 1 }
    entries.append(
      Entry(
        start: UInt32(truncatingIfNeeded: bytes.count), hash: hash, step: -1,
        count: UInt8(truncatingIfNeeded: name.count)))
    bytes.append(contentsOf: name)
    slots[slot] = UInt32(truncatingIfNeeded: entries.count)
    if entries.count * 2 > slots.count { grow() }
    return entries.count - 1
  }

  func find(_ name: String) -> Int? {
    var name = name
    return name.withUTF8 { name in
      let name = UnsafeBufferPointer(rebasing: name.prefix(Self.maxByteCount))
      let number = slots[slot(for: name, hash: hash(name))]
      return number == 0 ? nil : Int(number) - 1
    }
  }

  func string(_ number: Int) -> String {
    let start = Int(entries[number].start)
    return String(
      decoding: bytes[start..<(start + Int(entries[number].count))], as: UTF8.self)
  }

  private func slot(for name: UnsafeBufferPointer<UInt8>, hash: UInt32) -> Int {
    let mask = slots.count - 1
    var slot = Int(hash) & mask
    while slots[slot] != 0 {
      let entry = entries[Int(slots[slot]) - 1]
      if entry.hash == hash, Int(entry.count) == name.count, isEqual(entry, name) { return slot }
      slot = (slot + 1) & mask
    }
    return slot
  }

  private func isEqual(_ entry: Entry, _ name: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let start = name.baseAddress else { return true }
    return bytes.withUnsafeBufferPointer { bytes in
      bytes.baseAddress.map { areEqual($0 + Int(entry.start), start, count: name.count) } ?? true
    }
  }

  private mutating func grow() {
    slots = [UInt32](repeating: 0, count: slots.count * 2)
    let mask = slots.count - 1
    for (number, entry) in entries.enumerated() {
      var slot = Int(entry.hash) & mask
      while slots[slot] != 0 { slot = (slot + 1) & mask }
      slots[slot] = UInt32(truncatingIfNeeded: number + 1)
    }
  }

  private func hash(_ name: UnsafeBufferPointer<UInt8>) -> UInt32 {
    let raw = UnsafeRawBufferPointer(name)
    var hash = seed ^ UInt64(truncatingIfNeeded: raw.count)
    var index = 0
    while index + 8 <= raw.count {
      hash = Self.mix(hash, raw.loadUnaligned(fromByteOffset: index, as: UInt64.self))
      index += 8
    }
    var rest: UInt64 = 0
    while index < raw.count {
      rest = rest << 8 | UInt64(raw[index])
      index += 1
    }
    return UInt32(truncatingIfNeeded: Self.mix(hash, rest))
  }

  private static func mix(_ hash: UInt64, _ word: UInt64) -> UInt64 {
    let product = (hash ^ word).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
    return product.high ^ product.low
  }
}

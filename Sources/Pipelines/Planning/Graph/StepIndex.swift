// Finds steps by their ids, comparing the bytes in the file: no string is made to look one up.

import Diagnostics
import Expressions

/// A hash table over the ids of a model's steps.
struct StepIndex {
  private let text: SourceText
  private let steps: [StepModel]
  /// A step's number + 1 in each slot; 0 is free. Open addressing, at most half full.
  private var slots: [UInt32]
  /// The `word` of the id in each slot: short ids are compared without reading the file again.
  private var words: [UInt64]

  /// A random start of hashes, so that no file can be constructed whose ids all collide.
  private let seed = UInt64.random(in: 0...UInt64.max)

  /// Makes an index. Of several steps with the same id the first counts; the others are reported.
  /// An invalid id is indexed too, so that depending on it is not a second error.
  init(_ model: PipelineModel, _ text: SourceText, log: inout DiagnosticLog) {
    self.text = text
    steps = model.steps
    var slotCount = 64
    while slotCount < steps.count * 2 { slotCount *= 2 }
    slots = [UInt32](repeating: 0, count: slotCount)
    words = [UInt64](repeating: 0, count: slotCount)
    for step in model.writtenSteps {
      let span = steps[step].id.span
      if span.start == span.end { continue }
      let id = text[span]
      let hash = hash(id)
      let slot = slot(of: id, hash: hash)
      if slots[slot] == 0 {
        slots[slot] = UInt32(step + 1)
        words[slot] = Self.word(of: UnsafeRawBufferPointer(id))
      } else {
        let first = steps[Int(slots[slot]) - 1].id.span
        log.report(at: span) {
          PlanningMessage.duplicateID(text.string(span), first: first, at: $0)
        }
      }
    }
    for step in model.writtenSteps.upperBound..<steps.count {
      let span = steps[step].id.span
      guard let other = find("vars." + text.string(span)) else { continue }
      log.report(at: steps[other].id.span) {
        PlanningMessage.duplicateID("vars." + text.string(span), first: span, at: $0)
      }
    }
  }

  /// The step with the id that is written at a location.
  func find(_ name: Span) -> Int? { find(text[name]) }

  func find(_ name: String) -> Int? {
    var name = name
    return name.withUTF8 { $0.contains(0) ? nil : find($0) }
  }

  /// The step that each dependency names; −1 if there is none. It is a loop that does nothing else,
  /// so that the processor waits for the memory of several lookups at the same time.
  func find(_ dependencies: [DependencyModel]) -> [Int32] {
    dependencies.map { find(text[$0.step.span]).map { Int32(truncatingIfNeeded: $0) } ?? -1 }
  }

  private func find(_ name: UnsafeBufferPointer<UInt8>) -> Int? {
    let found = slots[slot(of: name, hash: hash(name))]
    return found == 0 ? nil : Int(found) - 1
  }

  private func slot(of name: UnsafeBufferPointer<UInt8>, hash: UInt32) -> Int {
    let mask = slots.count - 1
    let word = Self.word(of: UnsafeRawBufferPointer(name))
    var slot = Int(hash) & mask
    while slots[slot] != 0 {
      if words[slot] == word, word & Self.isPart == 0 || isName(name, ofStepIn: slot) {
        return slot
      }
      // The neighbouring slots are taken by similar ids.
      slot = (slot + 17) & mask
    }
    return slot
  }

  private func isName(_ name: UnsafeBufferPointer<UInt8>, ofStepIn slot: Int) -> Bool {
    areEqual(text[steps[Int(slots[slot]) - 1].id.span], name)
  }

  private static let isPart: UInt64 = 1 << 63

  /// All bytes of an id that has at most eight bytes; otherwise its last eight bytes and `isPart`. An id
  /// contains no NUL.
  private static func word(of name: UnsafeRawBufferPointer) -> UInt64 {
    let count = name.count
    if count > 8 { return name.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self) | isPart }
    if count >= 4 {
      let first = name.loadUnaligned(as: UInt32.self)
      let last = name.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self)
      let rest = UInt64(last) >> UInt64(8 * (8 - count))
      return UInt64(first) | rest << 32
    }
    var word: UInt64 = 0
    for byte in name.reversed() { word = word << 8 | UInt64(byte) }
    return word
  }

  /// The hash of an id. Ids that differ only in their last digit are adjacent in memory, as their
  /// dependents are in the file: a cache line holds 16 slots.
  private func hash(_ name: UnsafeBufferPointer<UInt8>) -> UInt32 {
    let raw = UnsafeRawBufferPointer(name)
    guard let last = raw.last else { return 0 }
    var hash = seed ^ UInt64(truncatingIfNeeded: raw.count)
    var index = 0
    while index + 8 < raw.count {
      hash = Self.mix(hash, raw.loadUnaligned(fromByteOffset: index, as: UInt64.self))
      index += 8
    }
    let rest = Self.word(raw, from: index, to: raw.count - 1)
    let line = UInt32(truncatingIfNeeded: Self.mix(hash, rest)) & ~15
    return line ^ UInt32(last & 15)
  }

  /// The bytes between two offsets, at most eight, as a number. If at least eight bytes precede the
  /// end, the last eight of them are taken.
  @inline(__always)
  private static func word(_ bytes: UnsafeRawBufferPointer, from start: Int, to end: Int) -> UInt64
  {
    if end >= 8 { return bytes.loadUnaligned(fromByteOffset: end - 8, as: UInt64.self) }
    if end - start >= 4 {
      let first = bytes.loadUnaligned(fromByteOffset: start, as: UInt32.self)
      return UInt64(first) << 32
        | UInt64(bytes.loadUnaligned(fromByteOffset: end - 4, as: UInt32.self))
    }
    var word: UInt64 = 0
    for index in start..<end { word = word << 8 | UInt64(bytes[index]) }
    return word
  }

  @inline(__always)
  private static func mix(_ hash: UInt64, _ word: UInt64) -> UInt64 {
    let product = (hash ^ word).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
    return product.high ^ product.low
  }
}

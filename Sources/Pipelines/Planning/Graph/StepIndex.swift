// Finds steps by their ids, comparing the bytes in the file: no string is made to look one up.

import Diagnostics
import Expressions

/// A hash table over the ids of a model's steps.
struct StepIndex {
  private let text: SourceText
  private let steps: [StepModel]
  /// The slots, with open addressing, at most half full: the upper bits of a slot are of the hash,
  /// the lower ones a step's number + 1; 0 is free.
  private var slots: [UInt32]

  /// Enough bits for `PipelineModel.maxStepCount`.
  private static let stepBits: UInt32 = 20
  private static let stepMask: UInt32 = 1 << stepBits - 1

  /// The seed is random, so that no file can be constructed whose ids all collide.
  private let seed = UInt64.random(in: 0...UInt64.max)

  /// Makes an index. Of several steps with the same id the first counts; the others are reported.
  /// An invalid id is indexed too, so that depending on it is not a second error.
  init(_ model: PipelineModel, _ text: SourceText, log: inout DiagnosticLog) {
    self.text = text
    steps = model.steps
    var slotCount = 64
    while slotCount < steps.count * 2 { slotCount *= 2 }
    slots = [UInt32](repeating: 0, count: slotCount)
    for step in steps.indices {
      let span = steps[step].id.span
      if span.start == span.end { continue }
      let id = text[span]
      let hash = hash(id)
      let slot = slot(of: id, hash: hash)
      if slots[slot] == 0 {
        slots[slot] = hash & ~Self.stepMask | UInt32(step + 1)
      } else {
        let first = steps[Int(slots[slot] & Self.stepMask) - 1].id.span
        log.report(at: span) {
          PlanningMessage.duplicateID(text.string(span), first: first, at: $0)
        }
      }
    }
  }

  /// The step with the id that is written at a location.
  func find(_ name: Span) -> Int? { find(text[name]) }

  func find(_ name: String) -> Int? {
    var name = name
    return name.withUTF8(find)
  }

  private func find(_ name: UnsafeBufferPointer<UInt8>) -> Int? {
    let found = slots[slot(of: name, hash: hash(name))]
    return found == 0 ? nil : Int(found & Self.stepMask) - 1
  }

  private func slot(of name: UnsafeBufferPointer<UInt8>, hash: UInt32) -> Int {
    let mask = slots.count - 1
    var slot = Int(hash) & mask
    while slots[slot] != 0 {
      if (slots[slot] ^ hash) & ~Self.stepMask == 0 {
        let id = text[steps[Int(slots[slot] & Self.stepMask) - 1].id.span]
        if id.count == name.count, let left = id.baseAddress, let right = name.baseAddress,
          areEqual(left, right, count: name.count)
        {
          return slot
        }
      }
      slot = (slot + 1) & mask
    }
    return slot
  }

  /// The hash of an id. Ids that differ only in their last digit are adjacent in memory, like the
  /// steps that depend on them in the file: a cache line holds 16 slots.
  private func hash(_ name: UnsafeBufferPointer<UInt8>) -> UInt32 {
    let raw = UnsafeRawBufferPointer(name)
    guard let last = raw.last else { return 0 }
    var hash = seed ^ UInt64(truncatingIfNeeded: raw.count)
    var index = 0
    while index + 8 < raw.count {
      hash = Self.mix(hash, raw.loadUnaligned(fromByteOffset: index, as: UInt64.self))
      index += 8
    }
    var rest: UInt64 = 0
    while index + 1 < raw.count {
      rest = rest << 8 | UInt64(raw[index])
      index += 1
    }
    let line = UInt32(truncatingIfNeeded: Self.mix(hash, rest)) & ~15
    return line ^ UInt32(last & 15) ^ UInt32(last) << Self.stepBits
  }

  private static func mix(_ hash: UInt64, _ word: UInt64) -> UInt64 {
    let product = (hash ^ word).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
    return product.high ^ product.low
  }
}

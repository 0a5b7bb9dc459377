// A stream of bytes with its secrets replaced, however it is split into pieces. Bytes that may
// begin a secret are held back until that is decided.

import Diagnostics

/// One stream. It needs memory for the longest form of a secret.
package struct MaskingStream: Sendable {
  private let automaton: Automaton
  private var broken: BrokenScan?
  private var state = Automaton.start
  /// The number of bytes before the next piece.
  private var position = 0
  /// The newest bytes, which have not been passed on yet.
  private var held: [UInt8] = []
  /// The occurrences that have not been passed on yet, in order.
  private var hits: [Hit] = []

  private static let pieceSize = 64 << 10

  package init(_ masker: Masker) {
    automaton = masker.automaton
    broken = masker.broken.map { BrokenScan($0) }
  }

  /// True if bytes are held back until the next piece.
  package var isHolding: Bool { !held.isEmpty || !hits.isEmpty }

  /// Appends the part of the text that is decided so far.
  package mutating func mask(_ chunk: UnsafeRawBufferPointer, into output: inout [UInt8]) {
    var rest = chunk[...]
    while !rest.isEmpty {
      let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.pieceSize))
      rest = rest.dropFirst(Self.pieceSize)
      state = automaton.scan(piece, at: position, from: state, hits: &hits)
      let end = position + piece.count
      let limit = min(end - automaton.openByteCount(in: state), scanBroken(piece, upTo: end))
      passOn(before: max(limit, position - held.count), piece, into: &output)
      position = end
    }
  }

  /// Returns the position from which on nothing is decided.
  private mutating func scanBroken(_ piece: UnsafeRawBufferPointer, upTo end: Int) -> Int {
    guard broken != nil else { return end }
    var found: [Hit] = []
    broken?.scan(piece, at: position, hits: &found)
    // Bytes that were passed on at the end of a line cannot be taken back.
    let first = position - held.count
    for index in found.indices { found[index].start = max(found[index].start, first) }
    hits.merge(found)
    return broken?.firstOpen(upTo: end) ?? end
  }

  package mutating func mask(_ chunk: [UInt8], into output: inout [UInt8]) {
    chunk.withUnsafeBytes { mask($0, into: &output) }
  }

  /// Appends the rest of the text, because it ends or must be shown up to here. Text that follows
  /// is a new text.
  package mutating func finish(into output: inout [UInt8]) {
    state = Automaton.start
    broken?.beginAnew()
    passOn(before: position, UnsafeRawBufferPointer(start: nil, count: 0), into: &output)
  }

  /// Passes bytes on; no occurrence that is found later begins before `limit`.
  private mutating func passOn(
    before limit: Int, _ piece: UnsafeRawBufferPointer, into output: inout [UInt8]
  ) {
    let first = position - held.count
    var from = first
    var closed = 0
    for hit in hits {
      guard hit.start < limit else { break }
      copy(from, hit.start, piece, into: &output)
      guard hit.end <= limit else {
        // A further occurrence may overlap the end of this one.
        hits[closed].start = limit
        from = limit
        break
      }
      output.append(contentsOf: Self.maskBytes)
      from = hit.end
      closed += 1
    }
    hits.removeFirst(closed)
    copy(from, limit, piece, into: &output)
    hold(from: limit, first, piece)
  }

  private static let maskBytes = Array(maskedValue.utf8)

  /// Appends the bytes of a range, which may be partly in the held bytes and partly in the piece.
  private func copy(
    _ start: Int, _ end: Int, _ piece: UnsafeRawBufferPointer, into output: inout [UInt8]
  ) {
    guard start < end else { return }
    let first = position - held.count
    if start < position {
      output.append(contentsOf: held[(start - first)..<(min(end, position) - first)])
    }
    if end > position {
      output.append(
        contentsOf: UnsafeRawBufferPointer(
          rebasing: piece[(max(start, position) - position)..<(end - position)]))
    }
  }

  private mutating func hold(from limit: Int, _ first: Int, _ piece: UnsafeRawBufferPointer) {
    if limit >= position {
      held.removeAll(keepingCapacity: true)
      held.append(contentsOf: piece[(limit - position)...])
    } else {
      held.removeFirst(limit - first)
      held.append(contentsOf: piece)
    }
  }
}

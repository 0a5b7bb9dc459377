// Streams that ISA-L decompresses in place of zlib: the results are those of zlib.

import CLate
import CZlib
import Foundation
import TestSupport
import Testing

/// Numbers that look random, the same ones each time.
private struct Numbers {
  var state: UInt64

  mutating func next(below limit: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int(state >> 33) % limit
  }
}

private struct Result: Equatable {
  var output: [UInt8] = []
  var status: Int32 = Z_OK
  var message: String?
}

/// Decompresses as libpng does: takes the next piece of input only when the one before is used up, and
/// asks for one row after another. `bits` is 0 for ISA-L, and 15 for zlib.
private func inflated(
  _ bytes: [UInt8], bits: Int32, piece: Int = 8192, row: Int = 12_001, isChecked: Bool = true
) -> Result {
  var (stream, result) = (z_stream(), Result())
  #expect(czlib_start(&stream, bits) == Z_OK)
  defer { inflateEnd(&stream) }
  // zlib refuses what is not its own.
  #expect((inflateCodesUsed(&stream) == UInt.max) == (bits == 0))
  inflateValidate(&stream, isChecked ? 1 : 0)
  var (input, buffer) = (bytes, [UInt8](repeating: 0, count: row))
  var place = 0
  input.withUnsafeMutableBufferPointer { input in
    while result.status == Z_OK, place < input.count {
      let count = min(piece, input.count - place)
      stream.next_in = input.baseAddress?.advanced(by: place)
      stream.avail_in = UInt32(count)
      place += count
      while result.status == Z_OK, stream.avail_in > 0 {
        buffer.withUnsafeMutableBufferPointer {
          stream.next_out = $0.baseAddress
          stream.avail_out = UInt32(row)
          result.status = inflate(&stream, Z_NO_FLUSH)
        }
        result.output += buffer[..<(row - Int(stream.avail_out))]
      }
    }
  }
  result.message = stream.msg.map { String(cString: $0) }
  return result
}

/// A stream, in several blocks if `flushes`.
private func deflated(
  _ bytes: [UInt8], level: Int32 = 6, bits: Int32 = 15, strategy: Int32 = 0, flushes: Bool = false
) -> [UInt8] {
  var stream = z_stream()
  deflateInit2_(
    &stream, level, Z_DEFLATED, bits, 8, strategy, ZLIB_VERSION,
    Int32(MemoryLayout<z_stream>.size))
  defer { deflateEnd(&stream) }
  var (input, output) = (bytes, [UInt8](repeating: 0, count: bytes.count * 2 + 1000))
  let room = output.count
  input.withUnsafeMutableBufferPointer { input in
    output.withUnsafeMutableBufferPointer { output in
      stream.next_out = output.baseAddress
      stream.avail_out = UInt32(room)
      stream.next_in = input.baseAddress
      for part in [flushes ? input.count / 2 : input.count, input.count] {
        stream.avail_in = UInt32(part - Int(stream.total_in))
        deflate(&stream, part < input.count ? Z_SYNC_FLUSH : Z_FINISH)
      }
      deflate(&stream, Z_FINISH)
    }
  }
  return Array(output[..<Int(stream.total_out)])
}

private func content(_ kind: Int, _ count: Int, _ numbers: inout Numbers) -> [UInt8] {
  (0..<count).map { index in
    switch kind {
    case 0: UInt8(numbers.next(below: 256))
    case 1: UInt8(numbers.next(below: 8))
    case 2: UInt8(truncatingIfNeeded: index * index >> 9)
    default: 0
    }
  }
}

@Suite(.blocking) struct InflationTests {
  init() { #expect(cinflate_load() != 0) }

  @Test func `whole streams give what zlib gives`() {
    var numbers = Numbers(state: 1)
    for round in 0..<120 {
      let bytes = content(round % 4, numbers.next(below: round % 3 == 0 ? 60 : 60_000), &numbers)
      let stream = deflated(
        bytes, level: Int32(numbers.next(below: 10)), bits: Int32(9 + numbers.next(below: 7)),
        strategy: Int32(numbers.next(below: 5)), flushes: round % 5 == 0)
      let (piece, row) = (1 + numbers.next(below: 9000), 1 + numbers.next(below: 13_000))
      let result = inflated(stream, bits: 0, piece: piece, row: row, isChecked: round % 2 == 0)
      #expect(result == Result(output: bytes, status: Z_STREAM_END), "round \(round)")
      #expect(inflated(stream, bits: 15, piece: piece, row: row) == result, "round \(round)")
    }
  }

  @Test(arguments: [1, 2, 5, 8192])
  func `a stream that is cut anywhere does not end`(piece: Int) {
    var numbers = Numbers(state: 2)
    let stream = deflated(content(1, 100, &numbers))
    for count in 1..<stream.count {
      let cut = Array(stream.prefix(count))
      let result = inflated(cut, bits: 0, piece: piece, row: 7)
      let wanted = inflated(cut, bits: 15)
      #expect(result.status != Z_STREAM_END && result.message == nil, "\(count)")
      // Of the last two values, it waits for both.
      #expect(wanted.output.starts(with: result.output), "\(count)")
      #expect(wanted.output.count - result.output.count <= 2, "\(count)")
    }
  }

  @Test func `what comes before damage is handed out, and then it is refused`() {
    var numbers = Numbers(state: 3)
    for round in 0..<120 {
      let bytes = content(round % 4, 1 + numbers.next(below: 30_000), &numbers)
      var stream = deflated(bytes, flushes: round % 5 == 0)
      stream[2 + numbers.next(below: stream.count - 2)] ^= UInt8(1 << numbers.next(below: 8))
      let row = 1 + numbers.next(below: 13_000)
      let (ours, theirs) = (
        inflated(stream, bits: 0, row: row), inflated(stream, bits: 15, row: row)
      )
      #expect(ours.status == theirs.status, "round \(round)")
      let common = min(ours.output.count, theirs.output.count)
      #expect(ours.output.prefix(common) == theirs.output.prefix(common), "round \(round)")
      if ours.status == Z_STREAM_END { #expect(ours == theirs, "round \(round)") }
    }
  }

  @Test func `a wrong header and a wrong checksum have the messages of zlib`() {
    let stream = deflated(Array("hello".utf8))
    for header: [UInt8] in [
      [0x78, 0x9d], [0x79, 0x9b], [0x88, 0x98], [0x78, 0xbb], [0x00, 0x00],
    ] {
      let wrong = header + stream.dropFirst(2)
      let result = inflated(wrong, bits: 0)
      #expect(result.status != Z_OK && result.status != Z_STREAM_END, "\(header)")
      #expect(result == inflated(wrong, bits: 15), "\(header)")
    }
    var wrong = stream
    wrong[stream.count - 1] ^= 1
    let result = inflated(wrong, bits: 0)
    #expect(result.message == "incorrect data check")
    #expect(result == inflated(wrong, bits: 15))
    let unchecked = inflated(wrong, bits: 0, isChecked: false)
    #expect(unchecked == Result(output: Array("hello".utf8), status: Z_STREAM_END))
  }

  @Test func `what follows a stream is left`() {
    let stream = deflated(Array("hello".utf8))
    for bits: Int32 in [0, 15] {
      var (input, output) = (stream + [1, 2, 3], [UInt8](repeating: 0, count: 10))
      var from = z_stream()
      #expect(czlib_start(&from, bits) == Z_OK)
      defer { inflateEnd(&from) }
      for turn in 0..<2 {
        input.withUnsafeMutableBufferPointer { input in
          output.withUnsafeMutableBufferPointer { output in
            (from.next_in, from.avail_in) = (input.baseAddress, UInt32(input.count))
            (from.next_out, from.avail_out) = (output.baseAddress, UInt32(output.count))
            #expect(inflate(&from, Z_SYNC_FLUSH) == Z_STREAM_END)
            #expect(from.avail_in == 3 && from.avail_out == 5)
            #expect(from.total_in == stream.count && from.total_out == 5)
          }
        }
        #expect((turn == 0 ? inflateReset(&from) : inflateReset2(&from, 15)) == Z_OK)
      }
      // It now belongs to zlib.
      #expect(inflateCodesUsed(&from) != UInt.max)
    }
  }

  /// libpng finds these functions in the program before those of libz.so.1.
  @Test func `the program exports what it defines in place of zlib`() throws {
    let folder = try ImageFolder()
    let child = try Child(
      script: "nm -D --defined-only '\(builtProgram("oprun-steps"))' >'\(folder.path("names"))'")
    #expect(child.wait() == 0)
    let names = try folder.text("names").split(separator: "\n").map { $0.split(separator: " ")[2] }
    let wanted = [
      "inflate", "inflateEnd", "inflateInit2_", "inflateReset", "inflateReset2", "inflateValidate",
    ]
    #expect(wanted.filter { !names.contains(Substring($0)) } == [])
  }
}

// Compressed contents as they arrive over a connection: in pieces of any length, with and without a
// frame.

import Foundation
import TestSupport
import Testing

@testable import oprun_steps

/// What comes out of `bytes` in pieces of `length`, and how it ended.
private func decoded(
  _ bytes: [UInt8], _ encoding: String, inPiecesOf length: Int
) throws -> (content: [UInt8], outcome: ContentDecoder.Outcome, isAtEnd: Bool) {
  let decoder = try #require(ContentDecoder(encoding))
  var content: [UInt8] = []
  for start in stride(from: 0, to: bytes.count, by: length) {
    let outcome = bytes[start..<min(start + length, bytes.count)].withUnsafeBytes { piece in
      decoder.decode(piece) {
        content += $0; return true
      }
    }
    guard outcome == .taken else { return (content, outcome, decoder.isAtEnd) }
  }
  return (content, .taken, decoder.isAtEnd)
}

@Suite(.blocking) struct ContentDecoderTests {
  private static let bare: [UInt8] = [0xcb, 0x48, 0xcd, 0xc9, 0xc9, 7, 0]
  private static let framed: [UInt8] = [0x78, 0x9c] + bare + [6, 0x2c, 2, 0x15]
  private static let gzip: [UInt8] =
    [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3] + bare + [0x86, 0xa6, 0x10, 0x36, 5, 0, 0, 0]

  @Test(arguments: [1, 2, 3, 5, 100])
  func `it does not matter in which pieces a content comes`(length: Int) throws {
    let hello = Array("hello".utf8)
    let all = [
      (Self.gzip, "gzip"), (Self.gzip, "X-GZIP"), (Self.framed, "deflate"), (Self.bare, "deflate"),
    ]
    for (bytes, encoding) in all {
      #expect(
        try decoded(bytes, encoding, inPiecesOf: length) == (hello, .taken, true), "\(encoding)")
      for count in 0..<bytes.count {
        let cut = try decoded(Array(bytes.prefix(count)), encoding, inPiecesOf: length)
        #expect(cut.outcome == .taken && !cut.isAtEnd, "\(encoding), \(count)")
      }
    }
    let twice = try decoded(Self.gzip + Self.gzip, "gzip", inPiecesOf: length)
    #expect(twice == (hello + hello, .taken, true))
    let more = try decoded(Self.framed + [0], "deflate", inPiecesOf: length)
    #expect(more == (hello, .damaged, true))
  }

  @Test func `all of a content comes out, however much it grows`() throws {
    // 200,000 zeros.
    let packed = try #require(
      Data(base64Encoded: "7cExAQAAAMKg9U9tBn+g" + String(repeating: "A", count: 257) + "IDXAA=="))
    for length in [1, 50, packed.count] {
      let end = try decoded(Array(packed), "deflate", inPiecesOf: length)
      #expect(end == ([UInt8](repeating: 0, count: 200_000), .taken, true), "\(length)")
    }
  }

  @Test func `a byte that was changed is noticed`() throws {
    for index in [0, 1, 10, 17, 21] {
      var bytes = Self.gzip
      bytes[index] ^= 0xff
      #expect(try decoded(bytes, "gzip", inPiecesOf: 100).outcome == .damaged, "\(index)")
    }
  }

  @Test func `what does not want more is asked no more`() throws {
    let decoder = try #require(ContentDecoder("gzip"))
    #expect(Self.gzip.withUnsafeBytes { decoder.decode($0) { _ in false } } == .refused)
  }

  @Test(arguments: ["br", "zstd", "gzip, gzip", "", "identity"])
  func `other encodings are not known`(name: String) {
    #expect(ContentDecoder(name) == nil)
  }
}

/// Takes lines as libcurl passes them on.
private func head(_ lines: String...) -> ResponseHead {
  var head = ResponseHead()
  for line in ["HTTP/1.1 200 OK"] + lines {
    _ = Array("\(line)\r\n".utf8).withUnsafeBytes { head.take($0) }
  }
  return head
}

@Suite(.blocking) struct ResponseHeadTests {
  @Test func `a length is a number that all agree on`() {
    let lengths: [(ResponseHead, Int?, String?)] = [
      (head(), nil, nil), (head("Content-Length: 5"), 5, nil),
      (head("Content-Length: 5", "content-length:  5 "), 5, nil),
      (head("Content-Length: 5, 5"), 5, nil),
      (head("Content-Length: 9223372036854775807"), .max, nil),
      (head("Content-Length: 9223372036854775808"), nil, "9223372036854775808"),
      (head("Content-Length: 5", "Content-Length: 6"), nil, "5, 6"),
      (head("Content-Length: 5,"), nil, "5,"), (head("Content-Length: +5"), nil, "+5"),
      (head("Content-Length: 0x5"), nil, "0x5"), (head("Content-Length: ٥"), nil, "٥"),
    ]
    for (head, length, fault) in lengths {
      #expect(head.contentLength == length)
      #expect(head.invalidLength == fault)
    }
  }

  @Test func `a transfer can be packed, as a content can`() {
    let encodings: [(ResponseHead, String?)] = [
      (head(), nil), (head("Content-Encoding: Identity"), nil),
      (head("Content-Encoding: identity, GZIP"), "gzip"),
      (head("Transfer-Encoding: chunked"), nil), (head("Transfer-Encoding: gzip, chunked"), "gzip"),
      (head("Transfer-Encoding: gzip", "Transfer-Encoding: chunked"), "gzip"),
      (head("Content-Encoding: br", "Transfer-Encoding: gzip, chunked"), "br, gzip"),
    ]
    for (head, encoding) in encodings { #expect(head.encoding == encoding) }
  }

  @Test func `an end of its own goes before a length`() {
    let chunked = head("Transfer-Encoding: gzip, Chunked", "Content-Length: x")
    #expect(chunked.isChunked)
    #expect(chunked.contentLength == nil)
    #expect(chunked.invalidLength == nil)
    let plain = head("Transfer-Encoding: identity", "Content-Length: 5")
    #expect(!plain.isChunked)
    #expect(plain.contentLength == 5)
  }
}

// A log keeps all of the output, or its head and tail, and costs nothing when there is none.

import Diagnostics
import Foundation
import RunFiles
import TestSupport
import Testing

@testable import Execution

@Suite(.blocking) struct `A log` {
  private let folder = TemporaryRun()
  private var path: String { folder.path(of: "step.1.log") }

  /// Writes the pieces to a pipe, one after the other, and returns what the log then holds.
  private func log(
    of pieces: [[UInt8]], limit: Int
  ) throws -> (content: [UInt8]?, byteCount: Int, readable: [Int]) {
    let pipe = try OutputPipe(token: 0)
    var log = Log(name: "step.1.log", in: folder.directory, limit: limit)
    var readable: [Int] = []
    for piece in pieces {
      #expect(write(pipe.output, piece, piece.count) == piece.count)
      while case .moved = try log.absorb(from: pipe.input) {}
      readable.append(log.readableByteCount)
    }
    let size = try log.finish()
    let content = FileManager.default.contents(atPath: path).map { Array($0) }
    try? FileManager.default.removeItem(atPath: path)
    #expect(content?.count ?? 0 == size)
    return (content, log.byteCount, readable)
  }

  /// Bytes that show their original position.
  private func pattern(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 11) }
  }

  @Test func `holds every byte as it came`() throws {
    let bytes = Array("a\0b\u{1b}\n".utf8) + [0xff, 0xfe] + pattern(40_000)
    let seen = try log(of: [Array(bytes[..<3]), Array(bytes[3...])], limit: 1 << 20)
    #expect(seen.content == bytes)
    #expect(seen.readable == [3, bytes.count])
  }

  @Test func `of a silent command is not made`() throws {
    #expect(try log(of: [[]], limit: 10).content == nil)
  }

  @Test func `may have no limit at all`() throws {
    let seen = try log(of: [pattern(1000)], limit: .max)
    #expect(seen.content == pattern(1000))
  }

  @Test func `just beyond its limit drops nothing`() throws {
    let bytes = pattern(60_000)
    let seen = try log(of: [bytes], limit: 50_000)
    #expect(seen.content == bytes)
    #expect(seen.readable == [50_000], "what lies behind the head may still be overwritten")
  }

  @Test func `far beyond its limit keeps head and tail and says what is missing`() throws {
    let pieces = (0..<80).map { pattern(40_000 + $0) }
    let all = Array(pieces.joined())
    let seen = try log(of: pieces, limit: 100_000)
    let dropped = all.count - 100_000 - Log.tailSize
    let marker = "\n[oprun: \(dropped) bytes of output dropped here, see log_limit]\n"
    #expect(
      seen.content == all[..<100_000] + Array(marker.utf8) + all[(all.count - Log.tailSize)...])
    #expect(seen.byteCount == all.count)
  }

  /// A log of 1000 bytes, and what follows them, to which pieces of 50 kB are written.
  private func fill(
    _ count: Int, _ each: (Int, Data) throws -> Void
  ) throws -> (log: Data, size: Int, all: Data) {
    let pipe = try OutputPipe(token: 0)
    var log = Log(name: "step.1.log", in: folder.directory, limit: 1000)
    let filling = pattern(50_000)
    var all = Data()
    for number in 1...count {
      let piece = Array("\(number)\n".utf8) + filling
      all += piece
      #expect(write(pipe.output, piece, piece.count) == piece.count)
      while case .moved = try log.absorb(from: pipe.input) {}
      try each(number, all)
    }
    let size = try log.finish()
    return (try Data(contentsOf: URL(filePath: path)), size, all)
  }

  private func marker(_ count: Int) -> Data {
    Data("\n[oprun: \(count) bytes of output dropped here, see log_limit]\n".utf8)
  }

  @Test func `is in order at any time`() throws {
    var seen = 0
    let (log, size, all) = try fill(400) { number, all in
      guard number.isMultiple(of: 19) else { return }
      let content = try Data(contentsOf: URL(filePath: path))
      #expect(content.prefix(1000) == all.prefix(1000))
      #expect(content.count < 1100 + Log.longestTail)
      if content.count == all.count {
        #expect(content == all)
        return
      }
      let kept = content.count - 1000 - marker(all.count - content.count).count
      #expect(kept >= Log.tailSize && content.suffix(kept) == all.suffix(kept))
      #expect(content.dropFirst(1000).dropLast(kept) == marker(all.count - 1000 - kept))
      seen += 1
    }
    #expect(seen > 5, "the probe must see what was dropped")
    let missing = marker(all.count - 1000 - Log.tailSize)
    #expect(log == all.prefix(1000) + missing + all.suffix(Log.tailSize))
    #expect(log.count == size)
  }

  private func growing(_ file: LogFile) -> GrowingLog {
    GrowingLog(file, named: "step.1.log", in: folder.directory, isLive: true)
  }

  /// What is read of such a log after every so many pieces, and at its end.
  private func followed(every interval: Int, of count: Int) throws -> (seen: Data, all: Data) {
    var cursor = LogCursor()
    var seen = Data()
    func follow() throws {
      let file = try #require(folder.directory.log("step.1.log"))
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      while true {
        let count = buffer.withUnsafeMutableBytes { bytes in
          cursor.read(growing(file), into: bytes)
        }
        if count == 0 { return }
        seen += buffer[..<count]
        cursor.advance(by: count)
      }
    }
    let all = try fill(count) { number, _ in
      if number.isMultiple(of: interval) { try follow() }
    }.all
    try follow()
    return (seen, all)
  }

  @Test func `is followed while its middle is dropped`() throws {
    let (seen, all) = try followed(every: 17, of: 405)
    #expect(seen == all)
  }

  @Test func `has a marker for whoever follows it too slowly`() throws {
    let (seen, all) = try followed(every: 250, of: 405)
    let missing = marker(all.count - 1000 - Log.tailSize)
    #expect(seen.prefix(1000) == all.prefix(1000) && seen.count < all.count)
    #expect(seen.suffix(Log.tailSize) == all.suffix(Log.tailSize))
    #expect(seen.dropLast(Log.tailSize).suffix(missing.count) == missing)
  }

  @Test func `is read up to where it ended, also if that is dropped`() throws {
    var cursor = LogCursor()
    var isBounded = false
    let all = try fill(405) { number, _ in
      guard number == 50 else { return }
      let file = try #require(folder.directory.log("step.1.log"))
      cursor.stopAtEnd(of: growing(file))
      isBounded = true
    }.all
    let file = try #require(folder.directory.log("step.1.log"))
    var seen = Data()
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = buffer.withUnsafeMutableBytes { bytes in
        cursor.read(growing(file), into: bytes)
      }
      if count == 0 { break }
      seen += buffer[..<count]
      cursor.advance(by: count)
    }
    #expect(isBounded)
    #expect(seen == all.prefix(1000) + marker(all.count - 1000 - Log.tailSize))
  }

  @Test func `that cannot be written says so once and goes on reading`() throws {
    let pipe = try OutputPipe(token: 0)
    try FileManager.default.removeItem(atPath: folder.directory.path)
    var log = Log(name: "step.1.log", in: folder.directory, limit: 100)
    #expect(write(pipe.output, "abc", 3) == 3)
    #expect(throws: SystemError("cannot write '\(path)'", errno: ENOENT)) {
      _ = try log.absorb(from: pipe.input)
    }
    while case .moved = try log.absorb(from: pipe.input) {}
    #expect(log.byteCount == 3)
    #expect(try log.finish() == 0)
  }

  @Test func `never follows a link that somebody planted`() throws {
    let target = path + ".target"
    try Data("precious".utf8).write(to: URL(filePath: target))
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
    let pipe = try OutputPipe(token: 0)
    var log = Log(name: "step.1.log", in: folder.directory, limit: 100)
    #expect(write(pipe.output, "abc", 3) == 3)
    _ = try log.absorb(from: pipe.input)
    #expect(FileManager.default.contents(atPath: path) == Data("abc".utf8))
    #expect(FileManager.default.contents(atPath: target) == Data("precious".utf8))
  }
}

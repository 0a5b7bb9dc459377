// A log of a run with secrets contains none, however they were split, and its size is correct.

import Foundation
import Masking
import TestSupport
import Testing

@testable import Execution

@Suite(.blocking) struct `A masked log` {
  private let folder = TemporaryRun()
  private var path: String { folder.path(of: "step.1.log") }
  private let masker = Masker(secrets: [Array("correct horse".utf8), Array("horse battery".utf8)])

  /// Writes the pieces to a pipe, one after the other, and returns what the log then holds.
  private func log(
    of pieces: [String], limit: Int = 1 << 20
  ) throws -> (content: String?, byteCount: Int, readable: [Int]) {
    let pipe = try OutputPipe(token: 0)
    var log = Log(name: "step.1.log", in: folder.directory, limit: limit, masker: masker)
    var readable: [Int] = []
    for piece in pieces {
      #expect(write(pipe.output, piece, piece.utf8.count) == piece.utf8.count)
      while case .moved = try log.absorb(from: pipe.input) {}
      readable.append(log.readableByteCount)
    }
    let size = try log.finish()
    let content = FileManager.default.contents(atPath: path)
    try? FileManager.default.removeItem(atPath: path)
    #expect(content?.count ?? 0 == size)
    #expect(log.readByteCount == pieces.reduce(0) { $0 + $1.utf8.count })
    return (content.map { String(decoding: $0, as: UTF8.self) }, log.byteCount, readable)
  }

  @Test func `holds no secret that came in two pieces, and shows at once what is none`() throws {
    let seen = try log(of: ["a correct ho", "rse bat", "tery b correct", "\n"])
    #expect(seen.content == "a *** b correct\n")
    #expect(seen.readable == [2, 2, 8, 16])
    #expect(seen.byteCount == 16)
  }

  @Test func `ends with the beginning of a secret that did not come`() throws {
    #expect(try log(of: ["correct"]).content == "correct")
    #expect(try log(of: ["correct horse batter"]).content == "*** batter")
  }

  @Test func `of a silent command is not made`() throws {
    #expect(try log(of: [""]).content == nil)
  }

  @Test func `beyond its limit keeps head and tail of what is masked`() throws {
    let pieces = Array(
      repeating: String(repeating: "0123 correct horse\n", count: 1000), count: 200)
    let all = Array(String(repeating: "0123 ***\n", count: 200_000).utf8)
    let seen = try log(of: pieces, limit: 1000)
    let dropped = all.count - 1000 - Log.tailSize
    let marker = "\n[oprun: \(dropped) bytes of output dropped here, see log_limit]\n"
    let wanted = all[..<1000] + Array(marker.utf8) + all[(all.count - Log.tailSize)...]
    #expect(seen.content == String(decoding: wanted, as: UTF8.self))
    #expect(seen.byteCount == all.count)
  }
}

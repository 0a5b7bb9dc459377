// The lock of a pipeline, and who has had it.

import Foundation
import Testing

@testable import RunFiles

@Suite struct `The lock of a pipeline` {
  private let folder: StateFolder

  init() throws {
    let place = FileManager.default.temporaryDirectory.appending(path: "state-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    folder = StateFolder(
      owning: open(place.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), path: place.path)
  }

  @Test func `knows who had it last, until the next one says its name`() throws {
    func take(_ body: (StateLock) throws -> Void) throws {
      let lock = try StateLock(of: "p.yml", in: folder)
      #expect(lock.take())
      #expect(lock.holder == nil)
      try body(lock)
    }
    try take { lock in
      #expect(lock.lastHolder == nil)
      lock.say(holder: "20260402-101502-k3")
      let other = try StateLock(of: "p.yml", in: folder)
      #expect(!other.take())
      #expect(other.holder == "20260402-101502-k3")
    }
    // Who does not say its name, because it does not begin, changes nothing.
    for _ in 0..<2 { try take { #expect($0.lastHolder == "20260402-101502-k3") } }
    try take { $0.say(holder: "20260402-101503-x") }
    try take { #expect($0.lastHolder == "20260402-101503-x") }
  }
}

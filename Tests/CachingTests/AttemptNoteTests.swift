// What attempts leave that do not succeed, as the notes in the cache tell it to those that come after them.

import Foundation
import Plans
import RunFiles
import Testing

@testable import Caching

struct `What is noted of an attempt` {
  private let folder: TemporaryFolder
  private let cache: StepCache

  init() throws {
    folder = try TemporaryFolder()
    folder.write("", to: "st/empty")
    let path = folder.path + "/st"
    let state = StateFolder(owning: open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), path: path)
    var options = CacheOptions()
    options.workspace = folder.path
    cache = StepCache(try CacheFolder.make(in: state), options)
  }

  /// The step as a run begins with it.
  private func lookup(_ outputs: [String] = ["out"]) -> CacheLookup {
    var settings = CacheSettings()
    settings.outputs = outputs
    let lookup = CacheLookup(
      "s", name: .none, settings, directory: folder.path, StepDescription(), record: nil)
    lookup.take(inputs: [])
    return lookup
  }

  /// The path of the note; nil if there is none.
  private var note: String? {
    let left = folder.path + "/st/cache/left"
    return try? FileManager.default.contentsOfDirectory(atPath: left).first.map { "\(left)/\($0)" }
  }

  private var hasOutput: Bool { FileManager.default.fileExists(atPath: folder.path + "/out") }

  /// Begins an attempt; returns the files of which nobody knows whose they are.
  private func begin(_ lookup: CacheLookup) throws -> [String] {
    try cache.attemptBegins(lookup)
    return lookup.doubtful.map(\.path)
  }

  @Test func `says, wherever it is cut off, that nobody knows whose the files are`() throws {
    folder.write("there before", to: "out")
    #expect(try begin(lookup()) == [])
    let note = try #require(note)
    let whole = try Data(contentsOf: URL(fileURLWithPath: note))
    for count in 0..<whole.count {
      try whole.prefix(count).write(to: URL(fileURLWithPath: note))
      #expect(try begin(lookup()) == ["out"], "\(count) bytes")
      try Data(count: count).write(to: URL(fileURLWithPath: note))
      #expect(try begin(lookup()) == ["out"], "\(count) zeros")
    }
    #expect(hasOutput)
    try whole.write(to: URL(fileURLWithPath: note))
    #expect(try begin(lookup()) == [])
  }

  @Test func `is written over in place when an attempt fails, at any moment of which it is safe`()
    throws
  {
    let first = lookup()
    #expect(try begin(first) == [])
    let note = try #require(note)
    let url = URL(fileURLWithPath: note)
    let (atBeginning, number) = (try Data(contentsOf: url), try identity(of: note))
    folder.write("half", to: "out")
    cache.attemptEnded(first, isSuccess: false)
    let atEnd = try Data(contentsOf: url)
    #expect(try identity(of: note) == number && atEnd.count <= atBeginning.count)
    for count in 0...atEnd.count {
      try (atEnd.prefix(count) + atBeginning.dropFirst(count)).write(to: url)
      let doubtful = try begin(lookup())
      #expect(doubtful == ["out"] || doubtful == [] && !hasOutput, "\(count) bytes")
    }
    #expect(!hasOutput)
  }

  @Test func `lets what is in a directory be removed as well`() throws {
    let lookup = lookup(["sub/deep/out"])
    #expect(try begin(lookup) == [])
    folder.write("half", to: "sub/deep/out")
    cache.attemptEnded(lookup, isSuccess: false)
    #expect(try begin(lookup) == [])
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/sub/deep/out"))
  }

  private func identity(of path: String) throws -> UInt64 {
    UInt64(try FileEntry.status(of: path, in: AT_FDCWD).get().st_ino)
  }

  @Test func `lets the next attempt remove what the last one has left`() throws {
    let first = lookup()
    #expect(try begin(first) == [])
    folder.write("half", to: "out")
    cache.attemptEnded(first, isSuccess: false)
    #expect(hasOutput)
    let second = lookup()
    #expect(try begin(second) == [] && !hasOutput)
    folder.write("whole", to: "out")
    cache.attemptEnded(second, isSuccess: true)
    #expect(hasOutput && note == nil)
  }

  @Test func `is not missed where it cannot be written, since what is left is removed at once`()
    throws
  {
    folder.write("no directory", to: "st/cache/left")
    folder.write("mine", to: "foreign")
    let lookup = lookup(["out", "foreign"])
    #expect(throws: CacheFailure.self) { try cache.attemptBegins(lookup) }
    folder.write("half", to: "out")
    folder.write("mine, and more", to: "foreign")
    cache.attemptEnded(lookup, isSuccess: false)
    #expect(!hasOutput && FileManager.default.fileExists(atPath: folder.path + "/foreign"))
  }

  @Test func `counts for a job of an earlier run that this one has taken over`() throws {
    folder.write("there before", to: "out")
    let first = lookup()
    #expect(try begin(first) == [])
    folder.write("half", to: "out")
    cache.attemptEnded(first, isSuccess: false)
    let killed = lookup()
    #expect(try begin(killed) == ["out"])
    let taken = lookup()
    cache.attemptEnded(taken, isSuccess: true)
    #expect(taken.doubtful.map(\.path) == ["out"] && note != nil)
    try Data().write(to: URL(fileURLWithPath: try #require(note)))
    let takenAfterFault = lookup()
    cache.attemptEnded(takenAfterFault, isSuccess: true)
    #expect(takenAfterFault.doubtful.map(\.path) == ["out"] && note != nil)
  }

  @Test func `keeps apart what an attempt removes that begins again from what was there before`()
    throws
  {
    folder.write("there before", to: "foreign")
    let first = lookup(["out", "foreign"])
    #expect(try begin(first) == [] && cache.replaceableOutputs(of: first) == ["out"])
    let taken = lookup(["out", "foreign"])
    #expect(cache.replaceableOutputs(of: taken) == ["out"])
    folder.write("half", to: "out")
    folder.write("half", to: "foreign")
    removeLeftovers(["out", "none"], in: folder.path)
    #expect(!hasOutput)
    folder.write("whole", to: "out")
    first.hasBegunAgain = true
    cache.attemptEnded(first, isSuccess: true)
    #expect(first.doubtful.map(\.path) == ["foreign"])
    #expect(try begin(first) == ["foreign"] && !first.hasBegunAgain)
  }
}

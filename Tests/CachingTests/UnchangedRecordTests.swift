// A record that is compared where it lies says that nothing has changed only if nothing has.

import Expressions
import Foundation
import Plans
import RunFiles
import Testing

@testable import Caching

/// A folder with a file for `in`, one for `out`, and the record of a step that copies one to the other.
private final class CopiedFile {
  let folder = FileManager.default.temporaryDirectory.path + "/unchanged-\(UUID().uuidString)"
  var record = StepRecord()

  init() throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for name in ["in", "out"] {
      try "text\n".write(toFile: path(name), atomically: false, encoding: .utf8)
    }
    record.inputs = [try entry("in"), FileEntry("none", .absent)]
    record.outputs = [try entry("out")]
    record.parts = description().parts
    record.day = 7
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  func path(_ name: String) -> String { "\(folder)/\(name)" }

  private func entry(_ name: String) throws -> FileEntry {
    var entry = FileEntry(name, .file)
    entry.stamp = FileStamp(try FileEntry.status(of: path(name), in: AT_FDCWD).get())
    return entry
  }

  func description(_ command: String = "cp in out") -> StepDescription {
    var settings = CacheSettings()
    settings.inputs = ["in", "none"]
    settings.outputs = ["out"]
    let action = Action.script(ScriptText(command))
    let run = DescribedRun(
      environment: ["LANG": "C", "CC": "cc"], version: "1", masker: nil, canConfine: true)
    var description = StepDescription()
    description.describe(
      ReadyStep(action, StepSettings(workingDirectory: folder)), action, settings, in: run)
    return description
  }

  var bytes: [UInt8] {
    var writer = ByteWriter()
    record.write(to: &writer)
    return writer.bytes
  }

  func isUnchanged(_ bytes: [UInt8], _ command: String = "cp in out", day: Int = 7) -> Bool {
    bytes.withUnsafeBytes {
      UnchangedRecord($0, description(command), in: folder, on: day) != nil
    }
  }
}

struct UnchangedRecordTests {
  @Test func `a description has the parts of the step, in their order`() throws {
    let copied = try CopiedFile()
    #expect(
      copied.record.parts == [
        KeyPart(.format, "", "6"), KeyPart(.command, "", "cp in out"),
        KeyPart(.shell, "", StepSettings().shell.joined(separator: " ")),
        KeyPart(.directory, "", copied.folder), KeyPart(.variable, "LANG", "C"),
        KeyPart(.declaration, "inputs", "in none"), KeyPart(.declaration, "outputs", "out"),
      ])
  }

  @Test func `nothing has changed`() throws {
    let copied = try CopiedFile()
    #expect(copied.isUnchanged(copied.bytes))
  }

  @Test(arguments: ["in", "out"]) func `a file has another content`(name: String) throws {
    let copied = try CopiedFile()
    try "texts\n".write(toFile: copied.path(name), atomically: false, encoding: .utf8)
    #expect(!copied.isUnchanged(copied.bytes))
  }

  @Test(arguments: ["in", "out"]) func `a file is gone`(name: String) throws {
    let copied = try CopiedFile()
    try FileManager.default.removeItem(atPath: copied.path(name))
    #expect(!copied.isUnchanged(copied.bytes))
  }

  @Test func `a file that was absent is there`() throws {
    let copied = try CopiedFile()
    try "".write(toFile: copied.path("none"), atomically: false, encoding: .utf8)
    #expect(!copied.isUnchanged(copied.bytes))
  }

  @Test func `the mode of a file is another one`() throws {
    let copied = try CopiedFile()
    chmod(copied.path("in"), 0o755)
    #expect(!copied.isUnchanged(copied.bytes))
  }

  @Test func `the command is another one, or the day`() throws {
    let copied = try CopiedFile()
    #expect(!copied.isUnchanged(copied.bytes, "cp in ou2"))
    #expect(!copied.isUnchanged(copied.bytes, "cp in outs"))
    #expect(!copied.isUnchanged(copied.bytes, day: 8))
  }

  @Test func `a stamp that is not trusted is not that of the file`() throws {
    let copied = try CopiedFile()
    copied.record.inputs[0].stamp.distrust()
    #expect(!copied.isUnchanged(copied.bytes))
  }

  @Test func `a record that is cut is refused, and one that is damaged does no harm`() throws {
    let copied = try CopiedFile()
    let bytes = copied.bytes
    for index in bytes.indices {
      #expect(!copied.isUnchanged(Array(bytes[..<index])), "the first \(index)")
      for mask: UInt8 in [0x01, 0x80, 0xff] {
        var damaged = bytes
        damaged[index] ^= mask
        _ = copied.isUnchanged(damaged)
      }
    }
  }

  @Test func `a path that is too long for the kernel is not looked for`() throws {
    let copied = try CopiedFile()
    copied.record.inputs = [FileEntry(String(repeating: "a/", count: 3000), .absent)]
    #expect(!copied.isUnchanged(copied.bytes))
  }
}

struct CacheIndexTests {
  @Test func `what others have replaced is left out, and nothing else`() throws {
    let copied = try CopiedFile()
    let state = StateFolder(
      owning: open(copied.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), path: copied.folder)
    let cache = try CacheFolder.make(in: state)
    let steps = (0..<1000).map { CacheDigest(of: "step \($0)") }
    var sizes: [Int] = []
    for round in 1...4 {
      var index = CacheIndex(cache)
      for step in steps {
        copied.record.day = round
        index.add(copied.record, of: step)
      }
      try index.flush(to: cache)
      index.compact(in: cache)
      let written = CacheIndex(cache)
      #expect(steps.allSatisfy { written.record(of: $0)?.day == round })
      sizes.append(cache.read("index")?.count ?? 0)
    }
    // The index is left alone while it is small.
    #expect(sizes[0] < 1 << 20)
    #expect(sizes[3] < sizes[0] * 4)
    #expect(sizes.max().map { $0 <= max(1 << 20, sizes[0] * 2) } == true)
  }

  @Test func `a run that adds little leaves to others what others have replaced`() throws {
    let copied = try CopiedFile()
    let state = StateFolder(
      owning: open(copied.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), path: copied.folder)
    let cache = try CacheFolder.make(in: state)
    let steps = (0..<4000).map { CacheDigest(of: "step \($0)") }
    func add(_ steps: ArraySlice<CacheDigest>, to index: inout CacheIndex) throws {
      for step in steps { index.add(copied.record, of: step) }
      try index.flush(to: cache)
    }
    var index = CacheIndex(cache)
    try add(steps[...], to: &index)
    let size = try #require(cache.read("index")?.count)
    #expect(size > 1 << 20)
    var changed = CacheIndex(cache)
    for _ in 1...2 {
      var other = CacheIndex(cache)
      try add(steps[...], to: &other)
    }
    try add(steps[..<1], to: &changed)
    changed.compact(in: cache)
    #expect(cache.read("index")?.count == size * 3 + size / steps.count)
    CacheIndex(cache).compact(in: cache)
    #expect(cache.read("index")?.count == size)
  }
}

// What a command has left is kept; what somebody writes after it has ended is not.

import Foundation
import RunFiles
import Testing

@testable import Caching

final class `What is kept of outputs` {
  private let path: String
  private let state: StateFolder

  init() throws {
    let folder = FileManager.default.temporaryDirectory.path + "/kept-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    path = try #require(realpath(folder, nil).map { String(cString: $0) })
    state = StateFolder(owning: open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), path: path)
    try "made".write(toFile: path + "/out", atomically: false, encoding: .utf8)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The files of the result, or why there is none.
  private func kept(end: Int, after upstream: [UpstreamCheck.Part] = []) throws -> String {
    var work = CacheWork(try CacheFolder.make(in: state))
    let job = KeepJob(
      directory: path, inputs: [], outputs: ["out"], known: [], log: nil, end: end,
      upstream: UpstreamCheck(workspace: path, parts: upstream))
    switch work.perform(.keep(job)) {
    case .kept(_, let files, _, _): return files.map(\.path).joined(separator: " ")
    case .fault(let fault): return fault.message
    case .inspected, .tool, .restored, .transferred: return "something else"
    }
  }

  private var written: Int {
    get throws { FileStamp(try FileEntry.status(of: path + "/out", in: AT_FDCWD).get()).changed }
  }

  @Test func `what is there when the command ends is kept`() throws {
    #expect(try kept(end: written) == "out")
  }

  @Test func `what is written after that is not`() throws {
    #expect(
      try kept(end: written - 1)
        == "output 'out' was written or replaced after the command had ended")
  }

  /// The step before, which has made `before`, as its record has it: the file was written a moment before.
  private func partBefore(size: Int) throws -> UpstreamCheck.Part {
    var entry = FileEntry("before", .file)
    entry.stamp = FileStamp(try FileEntry.status(of: path + "/before", in: AT_FDCWD).get())
    entry.stamp.size = size
    entry.stamp.distrust()
    var writer = ByteWriter()
    writer.add([entry]) { $1.write(to: &$0) }
    return UpstreamCheck.Part(step: "first", directory: path, entries: writer.bytes)
  }

  @Test func `a file of the step before that somebody is truncating has changed`() throws {
    try "".write(toFile: path + "/before", atomically: false, encoding: .utf8)
    #expect(try kept(end: written, after: [partBefore(size: 0)]) == "out")
    // Its times are still those of before.
    #expect(
      try kept(end: written, after: [partBefore(size: 2)])
        == "'\(path)/before', an output of step 'first', changed before this step had ended")
  }

  @Test func `what the step before made has to be known`() throws {
    let unknown = UpstreamCheck.Part(step: "first", directory: "", entries: [])
    #expect(
      try kept(end: written, after: [unknown])
        == "the files that step 'first' made are not known any more")
  }

  @Test func `the clock of a file system that is ahead says nothing`() throws {
    var stamp = FileStamp()
    stamp.changed = FileStamp.exactNow + 1_000_000_000
    #expect(!stamp.isOfChange(after: 0))
  }
}

// What goes from the cache when it is too much: what was not used for longest, with the contents that nothing else has.

import Foundation
import RunFiles
import Testing

@testable import Caching

struct `A cache that is looked through` {
  private let path = FileManager.default.temporaryDirectory.path + "/sweep-\(UUID().uuidString)"
  private let state: StateFolder
  private let shared = [UInt8](repeating: 1, count: 1000)

  init() throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    state = StateFolder(owning: open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), path: path)
    let folder = try CacheFolder.make(in: state)
    // The two older ones share a content; each has one of its own.
    for (number, age) in [("old", 300), ("middle", 200), ("new", 100)].enumerated() {
      let own = [UInt8](repeating: UInt8(number + 2), count: 1000)
      var result = StoredResult()
      result.step = age.0
      for content in number < 2 ? [shared, own] : [own] {
        var file = FileEntry("out-\(content[0])", .file)
        file.digest = digest(of: content)
        try folder.write(content, to: "cas/\(file.digest.path)")
        result.files.append(file)
      }
      try folder.write(result, of: CacheDigest(of: age.0))
      let date = Date(timeIntervalSinceNow: -Double(age.1))
      try FileManager.default.setAttributes(
        [.modificationDate: date],
        ofItemAtPath: "\(path)/cache/ac/\(CacheDigest(of: age.0).path)")
    }
  }

  private func digest(of content: [UInt8]) -> CacheDigest {
    var builder = DigestBuilder()
    content.withUnsafeBytes { builder.addRaw($0) }
    return builder.finish()
  }

  private var left: [String] {
    get throws {
      let folder = try CacheFolder.open(in: state)
      return ["old", "middle", "new"].filter { folder.result(of: CacheDigest(of: $0)) != nil }
    }
  }

  private func contentCount() -> Int {
    FileManager.default.enumerator(atPath: "\(path)/cache/cas")?
      .count { ($0 as? String)?.utf8.count ?? 0 > 3 } ?? 0
  }

  private func sweepOnce(size: Int, isDryRun: Bool = false) throws -> SweptCache? {
    var limits = CacheLimits()
    limits.size = size
    return try CacheFolder.sweep(state, limits, isDryRun: isDryRun)
  }

  /// A process that another test has just started has the lock of the last sweep until it runs its program.
  private func sweep(size: Int, isDryRun: Bool = false) throws -> SweptCache {
    while true {
      if let swept = try sweepOnce(size: size, isDryRun: isDryRun) { return swept }
      usleep(1000)
    }
  }

  @Test(arguments: [
    (4000, [String](), 0), (3999, ["old"], 1000), (3000, ["old"], 1000),
    (2999, ["old", "middle"], 3000), (999, ["old", "middle", "new"], 4000),
  ])
  func `loses what was not used for longest`(size: Int, lost: [String], bytes: Int) throws {
    defer { try? FileManager.default.removeItem(atPath: path) }
    var expected = SweptCache()
    (expected.results, expected.bytes) = (lost.count, bytes)
    #expect(try sweep(size: size, isDryRun: true) == expected)
    #expect(try left == ["old", "middle", "new"])
    #expect(try sweep(size: size) == expected)
    #expect(try left == ["old", "middle", "new"].filter { !lost.contains($0) })
    #expect(contentCount() == 4 - bytes / 1000)
    #expect(try sweep(size: size) == SweptCache())
  }

  @Test func `loses nothing while a run uses it`() throws {
    defer { try? FileManager.default.removeItem(atPath: path) }
    let run = try CacheFolder.open(in: state)
    run.lockShared()
    #expect(try sweepOnce(size: 0) == nil)
    #expect(contentCount() == 4)
    withExtendedLifetime(run) {}
  }

  @Test func `loses the one that was used before the one that is used now`() throws {
    defer { try? FileManager.default.removeItem(atPath: path) }
    try CacheFolder.open(in: state).touch(CacheDigest(of: "old"))
    #expect(try sweep(size: 3000).results == 1)
    #expect(try left == ["old", "new"])
  }
}

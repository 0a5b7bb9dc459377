// The guarantees of the cache: its contents are correct, it is never too large, and nothing in use
// is removed.

import Foundation
import TestSupport
import Testing

@testable import oprun_steps

/// A cache in its own folder.
private final class CacheBench {
  let workspace: Workspace
  let folder: DownloadCacheFolder
  let cache: DownloadCache

  init(_ limits: DownloadCacheLimits = DownloadCacheLimits(), in workspace: Workspace? = nil) throws
  {
    let workspace = try workspace ?? Workspace()
    self.workspace = workspace
    folder = try DownloadCacheFolder(workspace.path("cache"))
    cache = try DownloadCache(folder, limits) { _ in }
  }

  func key(_ name: String) -> Digest { SHA256.hash("key " + name) }

  /// Adds a content, as a download does.
  @discardableResult
  func keep(_ content: String, as name: String) throws -> CachedDownload? {
    let part = try PartFile.open(at: folder.part(key(name)), mode: 0o600)
    try part.restart()
    try Array(content.utf8).withUnsafeBytes { try part.append($0) }
    let record = CacheRecord(
      digest: part.digest(), size: part.size, confirmed: calendarTime(), isKept: true)
    let object = try cache.keep(part, as: record, for: key(name))
    if object == nil { part.discard() }
    return object
  }

  /// What is in the cache under a name.
  func content(_ name: String) -> String? {
    guard let object = cache.record(key(name)).flatMap({ cache.object(of: $0) }) else { return nil }
    return try? String(contentsOfFile: object.path, encoding: .utf8)
  }

  /// Lets time pass for a record: use times are those of its file.
  func age(_ name: String, by seconds: Int) {
    let time = timespec(tv_sec: calendarTime() - seconds, tv_nsec: 0)
    utimensat(AT_FDCWD, folder.record(key(name)), [time, time], 0)
  }
}

@Suite(.blocking) struct CacheTests {
  @Test func `what was put in comes out, in another process, too`() throws {
    let bench = try CacheBench()
    try bench.keep("hello", as: "a")
    #expect(bench.content("a") == "hello")
    #expect(bench.content("b") == nil)
    #expect(try CacheBench(in: bench.workspace).content("a") == "hello")
  }

  @Test func `numbers that nobody can have written are damaged, and no reason to stop`() throws {
    let server = try LoopbackServer { _, connection in
      connection.answer("200 OK", ["ETag: \"v1\""], "hello")
    }
    let workspace = try Workspace()
    let words = ["download", "--url=\(server.url)/x", "--to=x", "--allow-private", "--cache"]
    #expect(try workspace.run(words: words + ["--max-age=1h"]).status == 0)
    try workspace.write("9223372036854775807\n", to: "cache/usage")
    let more = words.map { $0.replacing("/x", with: "/y") }
    #expect(try workspace.run(words: more).status == 0)
    let records = workspace.path("cache/records")
    for name in try FileManager.default.subpathsOfDirectory(atPath: records)
    where name.contains("/") {
      let text = workspace.content("cache/records/\(name)")
      let changed = text.replacing(/confirmed \d+/, with: "confirmed -9223372036854775808")
      try workspace.write(changed, to: "cache/records/\(name)")
    }
    let end = try workspace.run(words: words + ["--max-age=1h"])
    #expect(end.status == 0)
    #expect(end.errors.hasPrefix("a record of the cache was damaged"), "\(end.errors)")
  }

  @Test func `a content that two keys have is there once`() throws {
    let bench = try CacheBench()
    try bench.keep("hello", as: "a")
    try bench.keep("hello", as: "b")
    let statistics = try bench.cache.statistics()
    #expect(statistics.objectCount == 1 && statistics.recordCount == 2)
    #expect(statistics.byteCount == 5)
  }

  @Test func `the first content is counted once`() throws {
    let bench = try CacheBench()
    try bench.keep("hello", as: "a")
    #expect(bench.cache.usage == 5)
  }

  @Test func `the number of bytes is written over, unless its file has a second name`() throws {
    let bench = try CacheBench()
    try bench.keep("hello", as: "a")
    let first = FileIdentity(readAt: bench.folder.usage)
    try bench.keep("hello, again", as: "b")
    #expect(bench.cache.usage == 17)
    #expect(FileIdentity(readAt: bench.folder.usage) == first)
    let copy = bench.workspace.path("copy")
    #expect(link(bench.folder.usage, copy) == 0)
    try bench.keep("hello for the third time", as: "c")
    #expect(bench.cache.usage == 41)
    #expect(Files.text(of: copy)?.trimmed == "17")
    for damaged in ["", "17", "none of the digits that are wanted", "-"] {
      try damaged.write(toFile: bench.folder.usage, atomically: false, encoding: .utf8)
      bench.cache.setUsage(41)
      #expect(bench.cache.usage == 41)
    }
  }

  @Test func `a damaged content is noticed, removed, and not used`() throws {
    let bench = try CacheBench()
    let path = try #require(try bench.keep("hello", as: "a")).path
    try "hellO".write(toFile: path, atomically: false, encoding: .utf8)
    let warnings = Warnings()
    let other = try DownloadCache(bench.folder, DownloadCacheLimits()) { warnings.append($0) }
    let record = try #require(other.record(bench.key("a")))
    #expect(other.object(of: record) == nil)
    #expect(other.object(of: record) == nil)
    #expect(
      warnings.all == ["a content of the cache was damaged and is recreated: \(quote(path))"])
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test(arguments: ["", "oprun cache 1\n", "garbage\u{0}", String(repeating: "x", count: 2 << 20)])
  func `a damaged record is as none`(text: String) throws {
    let bench = try CacheBench()
    try bench.keep("hello", as: "a")
    try text.write(
      toFile: bench.folder.record(bench.key("a")), atomically: false, encoding: .utf8)
    #expect(try CacheBench(in: bench.workspace).content("a") == nil)
  }

  @Test func `the least recently used goes when there is no room`() throws {
    let bench = try CacheBench(DownloadCacheLimits(size: 100))
    for (index, name) in ["a", "b", "c"].enumerated() {
      try bench.keep(String(repeating: name, count: 30), as: name)
      bench.age(name, by: 100 - index)
    }
    #expect(bench.content("a") != nil)  // and so it is the last to go
    try bench.keep(String(repeating: "d", count: 30), as: "d")
    #expect(["a", "b", "c", "d"].map { bench.content($0) != nil } == [true, false, true, true])
    #expect(try bench.cache.statistics().byteCount <= 100)
  }

  @Test func `the limit holds at every moment`() throws {
    let bench = try CacheBench(DownloadCacheLimits(size: 1000))
    for index in 0..<200 {
      try bench.keep("\(index) " + String(repeating: "x", count: index % 97), as: "\(index)")
      #expect(try bench.cache.statistics().byteCount <= 1000)
    }
    #expect(bench.content("199") != nil)
  }

  @Test func `what is used does not go, and what finds no room is not kept`() throws {
    let bench = try CacheBench(DownloadCacheLimits(size: 50))
    let used = try bench.keep(String(repeating: "a", count: 40), as: "a")
    bench.age("a", by: 1000)
    #expect(try bench.keep(String(repeating: "b", count: 40), as: "b") == nil)
    #expect(bench.content("a") != nil)
    withExtendedLifetime(used) {}
    #expect(try bench.keep(String(repeating: "c", count: 51), as: "c") == nil)
  }

  @Test func `once it is not used any more it can go`() throws {
    let bench = try CacheBench(DownloadCacheLimits(size: 50))
    try bench.keep(String(repeating: "a", count: 40), as: "a")
    #expect(try bench.keep(String(repeating: "b", count: 40), as: "b") != nil)
    #expect(bench.content("a") == nil)
  }

  @Test func `what was not used for long goes`() throws {
    let bench = try CacheBench(DownloadCacheLimits(age: 3600))
    try bench.keep("old", as: "old")
    try bench.keep("new", as: "new")
    bench.age("old", by: 3601)
    try bench.cache.sweep()
    #expect(bench.content("old") == nil)
    #expect(bench.content("new") == "new")
  }

  @Test func `what a crash has left without a record goes`() throws {
    let bench = try CacheBench()
    try bench.keep("hello", as: "a")
    Files.remove(bench.folder.record(bench.key("a")))
    // A process that another test has just forked holds our locks, too, until it loads its program.
    for _ in 0..<1000 where try bench.cache.statistics().objectCount > 0 {
      try bench.cache.sweep()
      sched_yield()
    }
    #expect(try bench.cache.statistics().objectCount == 0)
  }

  @Test func `a folder that others can write to is refused`() throws {
    let workspace = try Workspace()
    let path = workspace.path("shared")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    chmod(path, 0o777)
    #expect(throws: (any Error).self) { try DownloadCacheFolder(path) }
    symlink(workspace.path("."), workspace.path("link"))
    #expect(throws: (any Error).self) { try DownloadCacheFolder(workspace.path("link")) }
  }

  @Test func `nobody else can read it, whatever the mask`() throws {
    let bench = try CacheBench()
    try bench.keep("hello", as: "a")
    let all = FileManager.default.enumerator(atPath: bench.folder.path)?.allObjects as? [String]
    for name in try #require(all) {
      var status = stat()
      stat(bench.folder.path + "/" + name, &status)
      #expect(status.st_mode & 0o077 == 0, "\(name)")
    }
  }

  @Test func `the same URL is fetched once, whoever asks at the same moment`() throws {
    let server = try LoopbackServer { _, connection in
      usleep(50_000)
      connection.answer("200 OK", ["ETag: \"v1\""], "hello")
    }
    let bench = try CacheBench()
    let source = try #require(Source(server.url + "/x"))
    let found = Warnings()
    let folder = bench.folder
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      // Each with a cache of its own, as processes have.
      guard let cache = try? DownloadCache(folder, DownloadCacheLimits(), warn: { _ in }),
        let downloader = try? Self.downloader(cache),
        let acquired = try? downloader.acquire(source, in: cache)
      else { return }
      found.append((try? String(contentsOfFile: acquired.path, encoding: .utf8)) ?? "nothing")
    }
    #expect(found.all == [String](repeating: "hello", count: 8))
    #expect(server.requests.count == 1)
  }

  @Test func `what another has fetched meanwhile is not asked about`() throws {
    let server = try LoopbackServer { _, connection in
      connection.answer("200 OK", ["ETag: \"v1\""], "hello")
    }
    let bench = try CacheBench()
    let source = try #require(Source(server.url + "/x"))
    let folder = bench.folder
    var owner = try CacheTurn(folder.turn(source.key), limit: 0) { _ in }
    try #require(owner != nil)
    let found = Warnings()
    let threads = (0..<8).map { number in
      Thread {
        // Each with a cache of its own, as processes have; half of them want a file.
        guard let cache = try? DownloadCache(folder, DownloadCacheLimits(), warn: { _ in }),
          let downloader = try? Self.downloader(cache, maxAge: 0),
          let acquired = try? number % 2 == 0
            ? downloader.acquire(source, in: cache)
            : downloader.download(
              source, to: folder.path + "-\(number)", keepsInCache: true)
        else { return found.append("nothing") }
        found.append((try? String(contentsOfFile: acquired.path, encoding: .utf8)) ?? "nothing")
      }
    }
    for thread in threads { thread.start() }
    while openCount(of: folder.turn(source.key)) + found.all.count < 9 { usleep(1000) }
    owner = nil
    while found.all.count < 8 { usleep(1000) }
    #expect(found.all == [String](repeating: "hello", count: 8))
    #expect(server.requests.count == 1)
  }

  @Test func `who waits for another's turn is told of, and waits no longer than the limit`() throws
  {
    let workspace = try Workspace()
    let path = workspace.path("turn")
    let owner = try #require(try CacheTurn(path, limit: 0) { _ in })
    let told = Warnings()
    let limit: Int64 = 20_000_000
    #expect(try CacheTurn(path, patience: limit / 2, limit: limit) { told.append($0) } == nil)
    try "4242\n".write(toFile: path, atomically: false, encoding: .utf8)
    for patience in [0, Int64.max] {
      #expect(try CacheTurn(path, patience: patience, limit: limit) { told.append($0) } == nil)
    }
    #expect(told.all == ["another download of this run", "process 4242"])
    withExtendedLifetime(owner) {}
  }

  @Test func `a turn that ends is had at once`() throws {
    let workspace = try Workspace()
    let path = workspace.path("turn")
    var owner = try CacheTurn(path, limit: 0) { _ in }
    let next = try CacheTurn(path, patience: 0, limit: .max) { _ in owner = nil }
    #expect(next != nil)
    #expect(owner == nil)
  }

  @Test func `a download that never gets its turn goes on without it`() throws {
    let server = try LoopbackServer { _, connection in connection.answer("200 OK", [], "hello") }
    let workspace = try Workspace()
    let url = server.url + "/x"
    let folder = try DownloadCacheFolder(workspace.path("cache"))
    let key = try #require(Source(url)).key
    let owner = try #require(try CacheTurn(folder.turn(key), limit: 0) { _ in })
    let end = try workspace.run(
      "download", "--url=\(url)", "--to=x", "--cache", "--allow-private", "--timeout=700ms")
    #expect(end.errors == "")
    #expect(workspace.content("x") == "hello")
    withExtendedLifetime(owner) {}
  }

  /// How often this process has a file open.
  private func openCount(of path: String) -> Int {
    let name = URL(filePath: path).resolvingSymlinksInPath().path
    let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return numbers.count { number in
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)"))
        == name
    }
  }

  private static func downloader(_ cache: DownloadCache, maxAge: Int = 60) throws -> Downloader {
    var settings = TransferSettings()
    settings.policy.allowsPrivate = true
    let loop = try #require(TransferLoop(keeping: 4))
    let fetcher = Fetcher(loop: loop, settings: settings, meter: Meter())
    return Downloader(fetcher: fetcher, cache: cache, maxAge: maxAge)
  }

  @Test func `it can be looked at and emptied`() throws {
    let bench = try CacheBench()
    try bench.keep("hello", as: "a")
    try bench.keep("hello, world", as: "b")
    let workspace = bench.workspace
    #expect(try workspace.run("cache", "stat").output == "cache: 2 contents of 17 B, 2 records\n")
    #expect(
      try workspace.run("cache", "clear").output == "removed 2 contents of 17 B, 2 records\n")
    #expect(
      try workspace.run("cache", "stat", "--json").output == """
        {"path":"cache","contents":0,"bytes":0,"records":0,"oldest_use":null}

        """)
    #expect(try workspace.run("cache", "sweep").status == 2)
    #expect(
      try workspace.run("cache", "stat", "all").errors == """
        oprun-steps: 'cache' wants 'stat' or 'clear', found 'stat' 'all'
        try 'oprun-steps cache --help'

        """)
  }

  @Test func `a cache that is not there is not made to be looked at`() throws {
    let workspace = try Workspace()
    let stat = try workspace.run("cache", "stat", "--cache-dir=none/here")
    #expect(stat.output == "none/here: 0 contents of 0 B, 0 records\n")
    let clear = try workspace.run("cache", "clear", "--cache-dir=none/here")
    #expect(clear.output == "removed 0 contents of 0 B, 0 records\n")
    #expect(!workspace.exists("none"))
  }
}

/// The messages in the order in which they came.
private final class Warnings: @unchecked Sendable {  // under a lock
  private let lock = NSLock()
  private var texts: [String] = []

  func append(_ text: String) { lock.withLock { texts.append(text) } }
  var all: [String] { lock.withLock { texts } }
}

/// A path as in a message: at most 80 characters.
private func quote(_ path: String) -> String {
  path.count > 80 ? "'\(path.prefix(80))…'" : "'\(path)'"
}
